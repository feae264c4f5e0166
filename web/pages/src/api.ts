/** The analysts' API of the collector. */
import { meaning } from "./replies";

export interface Progress {
  task_id: string;
  purpose: string;
  mechanism: string;
  epsilon: string;
  start: number;
  end: number;
  time_precision: number;
  min_batch_size: number;
  closed: boolean;
  reports: number;
  by_epoch: Record<string, number>;
  counters: Record<string, number>;
}

/** The privacy guarantee of a task, as the collector states it. */
export interface Guarantee {
  asks: string;
  from: string;
  until: string;
  guaranteed: string;
  odds_at_most: string;
  times_at_most: string;
  odds_in_all_at_most: string;
  posterior_bounds: Record<string, string>;
  adds_up: string;
  not_covered: string[];
  seen: string[];
}

export type Position = [number, number];

interface Mark {
  row: number;
  name: string;
}

/** A drawn answer, as made by src/nomadp/answers/drawing.py. */
export interface Drawn {
  title: string;
  summary: string;
  filter: string;
  facts: [string, string][];
  caption: string;
  head: { name: string; number: boolean }[];
  rows: { row: number; cells: string[] }[];
  edges?: number[];
  /** Whether the marks have confidence intervals. */
  has_intervals?: boolean;
  outlines?: Position[][];
  areas?: (Mark & { step: string; rings: Position[][] })[];
  dots?: (Mark & { step: string; size: number; at: Position })[];
  curves?: (Mark & { sure: string; less: boolean; width: number; line: Position[] })[];
  labels?: { name: string; at: Position }[];
  tracks?: (Mark & { line: Position[]; radius_km?: number[] })[];
}

export interface Answer {
  kind: string;
  columns: Record<string, (string | number | boolean | null)[]>;
  about: Record<string, unknown> & {
    reports?: number;
    significance?: { significant?: number };
    /** The reason, if there are neither intervals nor significance. */
    no_intervals?: string;
  };
  drawn: Drawn;
}

export type Result =
  | { status: "done"; answer: Answer }
  | { status: "refused"; detail: string }
  | { status: "too_few"; missing: number };

export type Query = Record<string, string>;

/** A request that failed. */
export class Refused extends Error {
  constructor(readonly status: number) {
    super(meaning(status, MISSING));
  }
}

const MISSING = [
  "The collector no longer has this",
  "Load the page again to see what it has.",
] as const;
const JOB_PATIENCE_MS = 15 * 60_000;
/** The first pause between polls of a job. Each further pause is twice as long. */
const FIRST_PAUSE_MS = 250;

export class Collector {
  /** The address of the basemap, if there is one; known once `tasks` has returned. */
  basemap: string | null = null;

  constructor(private readonly token: string) {}

  async tasks(): Promise<Progress[]> {
    const reply = await this.get<{ tasks: Progress[]; basemap: string | null }>("/tasks");
    this.basemap = reply.basemap;
    return reply.tasks;
  }

  progress(task: string): Promise<Progress> {
    return this.get(`/tasks/${task}/progress`);
  }

  guarantee(task: string): Promise<Guarantee> {
    return this.get(`/tasks/${task}/promise`);
  }

  /** The public locations: longitude and latitude. */
  async locations(task: string): Promise<Position[]> {
    const text = await (await this.request("GET", `/tasks/${task}/locations`)).text();
    return placesOf(text);
  }

  /** The job of a query. Equal queries have the same job. */
  async job(task: string, query: Query): Promise<string> {
    const reply = await this.request("POST", `/tasks/${task}/collection_jobs`, { query });
    return ((await reply.json()) as { job: string }).job;
  }

  async forget(task: string, job: string): Promise<void> {
    await this.request("DELETE", `/tasks/${task}/collection_jobs/${job}`);
  }

  /** Wait for the result of a job; undefined if it is no longer wanted or takes too long. */
  async result(
    task: string,
    job: string,
    isWanted: () => boolean,
  ): Promise<Result | undefined> {
    const until = Date.now() + JOB_PATIENCE_MS;
    let pauseMs = FIRST_PAUSE_MS;
    while (isWanted() && Date.now() < until) {
      const reply = await this.request("GET", `/tasks/${task}/collection_jobs/${job}`);
      if (reply.status !== 202) {
        return (await reply.json()) as Result;
      }
      await sleep(Math.min(pauseMs, 1000 * Number(reply.headers.get("retry-after") ?? 1)));
      pauseMs *= 2;
    }
    return undefined;
  }

  private async get<T>(path: string): Promise<T> {
    return (await (await this.request("GET", path)).json()) as T;
  }

  private async request(method: string, path: string, content?: unknown): Promise<Response> {
    const headers: Record<string, string> = { authorization: `Bearer ${this.token}` };
    const init: RequestInit = { method, headers, credentials: "omit" };
    if (content !== undefined) {
      headers["content-type"] = "application/json";
      init.body = JSON.stringify(content);
    }
    let reply: Response;
    try {
      reply = await fetch(path, init);
    } catch {
      throw new Refused(0);
    }
    if (!reply.ok) throw new Refused(reply.status);
    return reply;
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** The positions in a file of `location_id,lat,lng`; a quoted id may contain commas. */
export function placesOf(text: string): Position[] {
  return text
    .trim()
    .split(/\r?\n/)
    .slice(1)
    .map((line) => {
      const parts = line.split(",");
      return [Number(parts.at(-1)), Number(parts.at(-2))] satisfies Position;
    })
    .filter(([lng, lat]) => Number.isFinite(lng) && Number.isFinite(lat));
}
