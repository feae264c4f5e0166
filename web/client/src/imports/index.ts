/**
 * What people can export of their own trajectories, read on their own device.
 *
 * Known by content, never by name, also inside zip and gzip; streamed, and fit for a worker. An
 * entry that cannot be understood is left out and counted. No refusal quotes a file.
 */

import { type CsvColumns, csvTrajectories } from "./csv.js";
import { detected, type ImportKind } from "./detection.js";
import { type Entries, type Fix, ordered, type TrackPoint } from "./fixes.js";
import { type Found, together } from "./found.js";
import { geojsonTrajectories } from "./geojson.js";
import { gpxTrajectories } from "./gpx.js";
import { SPLIT_HOURS, splitAtGaps } from "./trajectories.js";
import { JsonStream } from "./json_stream.js";
import { kmlTrajectories } from "./kml.js";
import { monthFixes, recordFixes } from "./records.js";
import { ImportRefused } from "./refused.js";
import { blobSource, gunzipped, headOf, type Source, startsWith } from "./source.js";
import { timelineFixes } from "./timeline.js";
import { overlandFixes, ownTracksFixes, recordedFixes } from "./trackers.js";
import { zippedFiles } from "./zip.js";

export type { CsvColumns, ImportKind, TrackPoint };
export { ImportRefused, type ImportReason } from "./refused.js";
export { byDay, type Day, hourOfWeek, SPLIT_HOURS, splitAtGaps } from "./trajectories.js";

/** Of a file inside an archive, what is not passed over. */
const FATAL = ["bomb", "damaged-archive", "locked-archive"];
/** Files that are trajectories already: they are split only if that is asked for. */
const WHOLE: readonly ImportKind[] = ["gpx", "geojson"];

export interface ImportOptions {
  /** Hours: a longer gap begins a new trajectory. Default: 3; GPX and GeoJSON: none. */
  readonly splitHours?: number;
  /** Read the raw signals of a Timeline, too. */
  readonly rawSignals?: boolean;
  /** Where the clock stood of times that name no zone, such as Europe/Berlin. */
  readonly timeZone?: string;
  /** Of a table whose columns are not known by their names. */
  readonly columns?: CsvColumns;
  /** Told how many bytes of the file were read, of its size; some are read twice. */
  readonly onProgress?: (bytes: number, size: number) => void;
}

export interface Imported {
  readonly kind: ImportKind | "zip";
  readonly trajectories: readonly (readonly TrackPoint[])[];
  /** How many entries were not understood. */
  readonly leftOut: number;
}

/**
 * The trajectories of a file that somebody chose: one at least, which has no point where the file has
 * no place. A file is refused for its form alone.
 *
 * @throws ImportRefused
 */
export async function readTrajectories(
  file: Blob,
  options: ImportOptions = {},
): Promise<Imported> {
  const { onProgress } = options;
  const progress = onProgress && ((bytes: number) => onProgress(bytes, file.size));
  const source = blobSource(file, progress);
  const head = await headOf(source);
  if (startsWith(head, 0x50, 0x4b, 3, 4) || startsWith(head, 0x50, 0x4b, 5, 6)) {
    const found = await archived(await zippedFiles(file, progress), options);
    return { kind: "zip", ...atLeastOne(found) };
  }
  const unpacked = await gunzipped(source);
  const kind = (await detected(unpacked)) ?? (options.columns && "csv");
  if (kind === undefined) throw new ImportRefused("unknown");
  return { kind, ...atLeastOne(await known(unpacked, kind, options)) };
}

/** A file of a known form is never refused for what it says: without any place, it is an empty trajectory. */
function atLeastOne({ trajectories, leftOut }: Found): Found {
  const some = trajectories.filter((trajectory) => trajectory.length);
  return { trajectories: some.length ? some : [[]], leftOut };
}

/** The files of an archive that are read here; others are passed over. */
async function archived(files: readonly Source[], options: ImportOptions): Promise<Found> {
  const found: [Source, ImportKind][] = [];
  const refusals: ImportRefused[] = [];
  for (const file of files) {
    try {
      const source = await gunzipped(file);
      const kind = await detected(source);
      // A table has no signature: whether one is a history, nobody can say who was not asked.
      if (kind !== null && kind !== "csv") found.push([source, kind]);
    } catch (error) {
      if (!(error instanceof ImportRefused) || FATAL.includes(error.reason)) throw error;
      refusals.push(error);
    }
  }
  if (found.length === 0) {
    throw files.length === 1 && refusals[0] ? refusals[0] : new ImportRefused("empty-archive");
  }
  // The months of an archive tell the same trajectories once more.
  const hasRecords = found.some(([, kind]) => kind === "records");
  const parts: Found[] = [];
  for (const [source, kind] of found) {
    if (!hasRecords || kind !== "month") parts.push(await known(source, kind, options));
  }
  return together(parts);
}

async function known(source: Source, kind: ImportKind, options: ImportOptions): Promise<Found> {
  const { trajectories, leftOut } = await trajectoriesOf(source, kind, options).catch(
    withoutPlaces,
  );
  const hours = options.splitHours ?? (WHOLE.includes(kind) ? undefined : SPLIT_HOURS);
  const split = (points: readonly TrackPoint[]) =>
    hours === undefined ? [points] : splitAtGaps(points, hours);
  return { trajectories: trajectories.flatMap(split), leftOut };
}

/** How long an entry is depends on what it says: then there is no place, and no refusal. */
function withoutPlaces(error: unknown): Found {
  if (error instanceof ImportRefused && error.reason === "too-large") {
    return { trajectories: [], leftOut: 1 };
  }
  throw error;
}

async function trajectoriesOf(
  source: Source,
  kind: ImportKind,
  options: ImportOptions,
): Promise<Found> {
  const { timeZone: zone = null, rawSignals = false, columns } = options;
  const chunks = source.chunks();
  if (kind === "kml") return kmlTrajectories(chunks, zone);
  if (kind === "gpx") return gpxTrajectories(chunks, zone);
  if (kind === "csv") return csvTrajectories(chunks, zone, columns);
  if (kind === "recorded") return history(recordedFixes(chunks));
  const stream = new JsonStream(chunks);
  const read = {
    timeline: () => history(timelineFixes(stream, zone, rawSignals)),
    records: () => history(recordFixes(stream, zone)),
    month: () => history(monthFixes(stream, zone)),
    overland: () => history(overlandFixes(stream, zone)),
    owntracks: () => history(ownTracksFixes(stream)),
    geojson: () => geojsonTrajectories(stream, zone),
  };
  const found = await read[kind]();
  if (await stream.peek()) throw new ImportRefused("not-json"); // something follows the end
  return found;
}

/** One history in order of time, and how many entries were left out. */
async function history(entries: Entries): Promise<Found> {
  const fixes: Fix[] = [];
  let leftOut = 0;
  for await (const fix of entries) {
    if (fix === null) leftOut += 1;
    else fixes.push(fix);
  }
  return { trajectories: fixes.length ? [ordered(fixes)] : [], leftOut };
}
