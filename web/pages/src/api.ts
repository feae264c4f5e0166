/** What the collector is asked, and what it says. */
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

/** As src/nomadp/answers/drawing.py makes it. */
export interface Drawn {
  title: string;
  summary: string;
  filter: string;
  facts: [string, string][];
  caption: string;
  head: { name: string; number: boolean }[];
  rows: { row: number; cells: string[] }[];
  edges?: number[];
  /** Whether how certain each mark is, is known. */
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
    /** Why neither intervals nor significance are known. */
    no_intervals?: string;
  };
  drawn: Drawn;
}

export type Result =
  | { status: "done"; answer: Answer }
  | { status: "refused"; detail: string }
  | { status: "too_few"; missing: number };

export type Query = Record<string, string>;

/** A request that was answered by something else than what was asked for. */
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
/** What is quick is asked for again soon, and then ever less often. */
const FIRST_PAUSE_MS = 250;

export class Collector {
  /** Where its basemap is, if it has one; known once it was asked for its tasks. */
  basemap: string | null = null;

  constructor(private readonly token: string) {}

  async tasks(): Promise<Progress[]> {
    const said = await this.get<{ tasks: Progress[]; basemap: string | null }>("/tasks");
    this.basemap = said.basemap;
    return said.tasks;
  }

  progress(task: string): Promise<Progress> {
    return this.get(`/tasks/${task}/progress`);
  }

  guarantee(task: string): Promise<Guarantee> {
    return this.get(`/tasks/${task}/promise`);
  }

  /** The public locations: longitude and latitude. */
  async locations(task: string): Promise<Position[]> {
    const text = await (await this.fetched("GET", `/tasks/${task}/locations`)).text();
    return placesOf(text);
  }

  /** The job of a question: the same question is the same job. */
  async job(task: string, query: Query): Promise<string> {
    const reply = await this.fetched("POST", `/tasks/${task}/collection_jobs`, { query });
    return ((await reply.json()) as { job: string }).job;
  }

  async forget(task: string, job: string): Promise<void> {
    await this.fetched("DELETE", `/tasks/${task}/collection_jobs/${job}`);
  }

  /** What it found, waited for. */
  async result(
    task: string,
    job: string,
    isWanted: () => boolean,
  ): Promise<Result | undefined> {
    const until = Date.now() + JOB_PATIENCE_MS;
    let pauseMs = FIRST_PAUSE_MS;
    while (isWanted() && Date.now() < until) {
      const reply = await this.fetched("GET", `/tasks/${task}/collection_jobs/${job}`);
      if (reply.status !== 202) {
        return (await reply.json()) as Result;
      }
      await waited(Math.min(pauseMs, 1000 * Number(reply.headers.get("retry-after") ?? 1)));
      pauseMs *= 2;
    }
    return undefined;
  }

  private async get<T>(path: string): Promise<T> {
    return (await (await this.fetched("GET", path)).json()) as T;
  }

  private async fetched(method: string, path: string, content?: unknown): Promise<Response> {
    const headers: Record<string, string> = { authorization: `Bearer ${this.token}` };
    const asked: RequestInit = { method, headers, credentials: "omit" };
    if (content !== undefined) {
      headers["content-type"] = "application/json";
      asked.body = JSON.stringify(content);
    }
    let reply: Response;
    try {
      reply = await fetch(path, asked);
    } catch {
      throw new Refused(0);
    }
    if (!reply.ok) throw new Refused(reply.status);
    return reply;
  }
}

export function waited(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}

/** Of a location file, `location_id,lat,lng`; an id in quotes may hold commas. */
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
