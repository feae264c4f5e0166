/** The worker that reads files and keeps their content. The page only gets what it shows. */
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

/** What the page shows of a journey before it is chosen. */
export interface Summary {
  readonly key: number;
  /** The local date, or empty. */
  readonly date: string;
  readonly begins: string;
  readonly ends: string;
  readonly points: number;
  readonly km: number;
  /** Its shape, scaled into a box from 0 to 1. */
  readonly shape: readonly (readonly [number, number])[];
}

export interface Read {
  readonly kind: string;
  readonly leftOut: number;
  /** The gap that begins a new journey; null if the file itself has journeys. */
  readonly hours: number | null;
  readonly journeys: readonly Summary[];
}

export interface Chosen {
  readonly points: readonly { lat: number; lng: number }[];
  readonly hour: number | null;
}

export type Command =
  | { command: "read"; file: Blob; options: Omit<ImportOptions, "onProgress" | "splitHours"> }
  | { command: "split"; hours: number }
  | { command: "points"; key: number }
  | { command: "forget"; keys: number[] };

export type Reply =
  | { progress: number }
  | { answer: unknown }
  | { refused: { code: string; message: string } }
  | { failed: true };

/** Kinds of files that contain journeys; see `ImportOptions.splitHours`. */
const ALREADY_SPLIT = ["gpx", "geojson"];
const SHAPE_POINTS = 32;

let histories: Track[] = [];
let about = { kind: "", leftOut: 0 };
let journeys = new Map<number, Track>();
let next = 0;

async function read({ file, options }: Command & { command: "read" }): Promise<Read> {
  const progress = (bytes: number, size: number) =>
    send({ progress: size ? Math.min(1, bytes / size) : 1 });
  const imported = await readTrajectories(file, {
    ...options,
    splitHours: Infinity,
    onProgress: throttled(progress),
  });
  histories = [...imported.trajectories];
  about = { kind: imported.kind, leftOut: imported.leftOut };
  return split(ALREADY_SPLIT.includes(imported.kind) ? null : SPLIT_HOURS);
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

/** The shape of a track, to scale: degrees of longitude are shortened by the cosine of latitude. */
function shapeOf(track: Track): [number, number][] {
  const step = Math.max(1, (track.length - 1) / (SHAPE_POINTS - 1));
  const sampled = Array.from(
    { length: Math.min(track.length, SHAPE_POINTS) },
    (_, k) => track[Math.round(k * step)]!,
  );
  const shrink = Math.cos(((sampled[0]?.lat ?? 0) * Math.PI) / 180);
  const projected = sampled.map(({ lat, lng }) => [lng * shrink, -lat] as const);
  const low = [0, 1].map((axis) => Math.min(...projected.map((each) => each[axis]!)));
  const high = [0, 1].map((axis) => Math.max(...projected.map((each) => each[axis]!)));
  const size = Math.max(high[0]! - low[0]!, high[1]! - low[1]!) || 1;
  return projected.map(([x, y]) => [
    0.5 + (x - (low[0]! + high[0]!) / 2) / size,
    0.5 + (y - (low[1]! + high[1]!) / 2) / size,
  ]);
}

function points(key: number): Chosen {
  const track = journeys.get(key) ?? [];
  return { points: track.map(({ lat, lng }) => ({ lat, lng })), hour: hourOfWeek(track) };
}

/** Delete journeys, also from the histories that would be split again. */
function forget(keys: readonly number[]): null {
  for (const key of keys) {
    const deleted = new Set(journeys.get(key));
    journeys.delete(key);
    histories = histories.map((each) =>
      each.some((point) => deleted.has(point))
        ? each.filter((point) => !deleted.has(point))
        : each,
    );
  }
  histories = histories.filter((each) => each.length);
  return null;
}

function throttled(report: (bytes: number, size: number) => void): typeof report {
  let last = 0;
  return (bytes, size) => {
    if (performance.now() - last < 60) return;
    last = performance.now();
    report(bytes, size);
  };
}

function send(reply: Reply): void {
  postMessage(reply);
}

async function run(command: Command): Promise<unknown> {
  if (command.command === "read") return read(command);
  if (command.command === "split") return split(command.hours);
  return command.command === "points" ? points(command.key) : forget(command.keys);
}

addEventListener("message", ({ data }: MessageEvent<Command>) => {
  run(data).then(
    (answer) => send({ answer }),
    (error: unknown) =>
      // The messages of other errors may quote the file.
      send(
        error instanceof ImportRefused
          ? { refused: { code: error.code, message: error.message } }
          : { failed: true },
      ),
  );
});
