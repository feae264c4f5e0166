/** Reads an export beside the page, and keeps what it read: the page gets what it shows. */
import { haversineKm } from "nomadp-client";
import {
  byDay,
  hourOfWeek,
  type ImportOptions,
  ImportRefused,
  readTrajectories,
  SPLIT_HOURS,
  splitAtGaps,
  type TrackPoint,
} from "nomadp-client/imports";

type Track = readonly TrackPoint[];

/** What is shown of a journey before it is chosen. */
export interface Summary {
  readonly key: number;
  /** As its clock named it, or empty. */
  readonly date: string;
  readonly begins: string;
  readonly ends: string;
  readonly points: number;
  readonly km: number;
  /** Its way, in a box from 0 to 1. */
  readonly shape: readonly (readonly [number, number])[];
}

export interface Read {
  readonly kind: string;
  readonly leftOut: number;
  /** The gap that begins a new journey; null where the file itself has journeys. */
  readonly hours: number | null;
  readonly journeys: readonly Summary[];
}

export interface Chosen {
  readonly points: readonly { lat: number; lng: number }[];
  readonly hour: number | null;
}

export type Ask =
  | { ask: "read"; file: Blob; options: Omit<ImportOptions, "onProgress" | "splitHours"> }
  | { ask: "split"; hours: number }
  | { ask: "points"; key: number }
  | { ask: "forget"; keys: number[] };

export type Reply =
  | { progress: number }
  | { answer: unknown }
  | { refused: { code: string; message: string } }
  | { failed: true };

/** Journeys already: see `ImportOptions.splitHours`. */
const WHOLE = ["gpx", "geojson"];
const SHAPE_POINTS = 32;

let histories: Track[] = [];
let about = { kind: "", leftOut: 0 };
let journeys = new Map<number, Track>();
let next = 0;

async function read({ file, options }: Ask & { ask: "read" }): Promise<Read> {
  const progress = (bytes: number, size: number) =>
    tell({ progress: size ? Math.min(1, bytes / size) : 1 });
  const found = await readTrajectories(file, {
    ...options,
    splitHours: Infinity,
    onProgress: throttled(progress),
  });
  histories = [...found.trajectories];
  about = { kind: found.kind, leftOut: found.leftOut };
  return split(WHOLE.includes(found.kind) ? null : SPLIT_HOURS);
}

function split(hours: number | null): Read {
  const tracks = histories.flatMap((each) =>
    hours === null || each.length === 0 ? [each] : splitAtGaps(each, hours),
  );
  const ordered = byDay(tracks).flatMap((day) =>
    day.trajectories.map((track) => [day.date, track] as const),
  );
  journeys = new Map();
  const summaries = ordered.map(([date, track]) => {
    const key = next++;
    journeys.set(key, track);
    return summary(key, date, track);
  });
  return { ...about, hours, journeys: summaries };
}

function summary(key: number, date: string, track: Track): Summary {
  let km = 0;
  for (let k = 1; k < track.length; k += 1) km += haversineKm(track[k - 1]!, track[k]!);
  const clock = (point: TrackPoint | undefined) =>
    point?.localUs == null ? "" : new Date(point.localUs / 1000).toISOString().slice(11, 16);
  const [begins, ends] = [clock(track[0]), clock(track.at(-1))];
  return { key, date, begins, ends, points: track.length, km, shape: shapeOf(track) };
}

/** Drawn to scale: a degree of longitude is as wide as it is there. */
function shapeOf(track: Track): [number, number][] {
  const step = Math.max(1, (track.length - 1) / (SHAPE_POINTS - 1));
  const some = Array.from(
    { length: Math.min(track.length, SHAPE_POINTS) },
    (_, k) => track[Math.round(k * step)]!,
  );
  const shrink = Math.cos(((some[0]?.lat ?? 0) * Math.PI) / 180);
  const flat = some.map(({ lat, lng }) => [lng * shrink, -lat] as const);
  const low = [0, 1].map((axis) => Math.min(...flat.map((each) => each[axis]!)));
  const high = [0, 1].map((axis) => Math.max(...flat.map((each) => each[axis]!)));
  const size = Math.max(high[0]! - low[0]!, high[1]! - low[1]!) || 1;
  return flat.map(([x, y]) => [
    0.5 + (x - (low[0]! + high[0]!) / 2) / size,
    0.5 + (y - (low[1]! + high[1]!) / 2) / size,
  ]);
}

function points(key: number): Chosen {
  const track = journeys.get(key) ?? [];
  return { points: track.map(({ lat, lng }) => ({ lat, lng })), hour: hourOfWeek(track) };
}

/** Deleted here, too: also from the history that it would be split from again. */
function forget(keys: readonly number[]): null {
  for (const key of keys) {
    const gone = new Set(journeys.get(key));
    journeys.delete(key);
    histories = histories.map((each) =>
      each.some((point) => gone.has(point)) ? each.filter((point) => !gone.has(point)) : each,
    );
  }
  histories = histories.filter((each) => each.length);
  return null;
}

function throttled(told: (bytes: number, size: number) => void): typeof told {
  let last = 0;
  return (bytes, size) => {
    if (performance.now() - last < 60) return;
    last = performance.now();
    told(bytes, size);
  };
}

function tell(reply: Reply): void {
  postMessage(reply);
}

async function answered(asked: Ask): Promise<unknown> {
  if (asked.ask === "read") return read(asked);
  if (asked.ask === "split") return split(asked.hours);
  return asked.ask === "points" ? points(asked.key) : forget(asked.keys);
}

addEventListener("message", ({ data }: MessageEvent<Ask>) => {
  answered(data).then(
    (answer) => tell({ answer }),
    (error: unknown) =>
      // What is no refusal of ours may quote the file.
      tell(
        error instanceof ImportRefused
          ? { refused: { code: error.code, message: error.message } }
          : { failed: true },
      ),
  );
});
