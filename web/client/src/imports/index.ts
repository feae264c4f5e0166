/**
 * Reads the location histories that people can export, on their own device.
 *
 * The kind of a file is detected from its content, also inside zip and gzip. Files are streamed,
 * and can be read in a worker. Entries that cannot be read are counted. Errors never quote a file.
 */

import { type CsvColumns, csvTrajectories } from "./csv.js";
import { detected, type ImportKind } from "./detection.js";
import { type Entries, type Fix, ordered, type TrackPoint } from "./fixes.js";
import { type Extracted, combined } from "./extracted.js";
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

/** Errors of one file that make the whole archive unreadable. */
const FATAL = ["bomb", "damaged-archive", "locked-archive"];
/** Kinds whose trajectories are only split if `splitHours` is given. */
const ALREADY_SPLIT: readonly ImportKind[] = ["gpx", "geojson"];

/** The options of `readTrajectories`. */
export interface ImportOptions {
  /** Split at gaps longer than this (default: 3; no splitting for GPX and GeoJSON). */
  readonly splitHours?: number;
  /** Also read the raw signals of a Google Timeline. */
  readonly rawSignals?: boolean;
  /** The time zone of times without an offset, such as Europe/Berlin. */
  readonly timeZone?: string;
  /** The columns of a table, if their names are not recognised. */
  readonly columns?: CsvColumns;
  /** Called with the number of bytes read and the size of the file; some bytes are read twice. */
  readonly onProgress?: (bytes: number, size: number) => void;
}

/** What a file contains. */
export interface Imported {
  readonly kind: ImportKind | "zip";
  readonly trajectories: readonly (readonly TrackPoint[])[];
  /** The number of entries that could not be read. */
  readonly leftOut: number;
}

/**
 * Read the trajectories of a file. There is at least one; it is empty if the file has no points.
 *
 * Only the format of a file can make it throw, never its values: otherwise a missing report would
 * reveal something about them.
 *
 * @throws ImportRefused if the format of the file is unknown, unsupported or damaged.
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
    const extracted = await readArchive(await zippedFiles(file, progress), options);
    return { kind: "zip", ...atLeastOne(extracted) };
  }
  const unpacked = await gunzipped(source);
  const kind = (await detected(unpacked)) ?? (options.columns && "csv");
  if (kind === undefined) throw new ImportRefused("unknown");
  return { kind, ...atLeastOne(await readKind(unpacked, kind, options)) };
}

/** A file without points yields one empty trajectory, so that it can be reported like any other. */
function atLeastOne({ trajectories, leftOut }: Extracted): Extracted {
  const filled = trajectories.filter((trajectory) => trajectory.length);
  return { trajectories: filled.length ? filled : [[]], leftOut };
}

/** Read the files of an archive whose kind is known, and skip the others. */
async function readArchive(
  files: readonly Source[],
  options: ImportOptions,
): Promise<Extracted> {
  const readable: [Source, ImportKind][] = [];
  const refusals: ImportRefused[] = [];
  for (const file of files) {
    try {
      const source = await gunzipped(file);
      const kind = await detected(source);
      // A CSV file has no signature, so it may be something other than a history.
      if (kind !== null && kind !== "csv") readable.push([source, kind]);
    } catch (error) {
      if (!(error instanceof ImportRefused) || FATAL.includes(error.reason)) throw error;
      refusals.push(error);
    }
  }
  if (readable.length === 0) {
    throw files.length === 1 && refusals[0] ? refusals[0] : new ImportRefused("empty-archive");
  }
  // In an archive with Records.json, the monthly files contain the same trajectories again.
  const hasRecords = readable.some(([, kind]) => kind === "records");
  const parts: Extracted[] = [];
  for (const [source, kind] of readable) {
    if (!hasRecords || kind !== "month") parts.push(await readKind(source, kind, options));
  }
  return combined(parts);
}

async function readKind(
  source: Source,
  kind: ImportKind,
  options: ImportOptions,
): Promise<Extracted> {
  const { trajectories, leftOut } = await trajectoriesOf(source, kind, options).catch(
    withoutPlaces,
  );
  const hours = options.splitHours ?? (ALREADY_SPLIT.includes(kind) ? undefined : SPLIT_HOURS);
  const split = (points: readonly TrackPoint[]) =>
    hours === undefined ? [points] : splitAtGaps(points, hours);
  return { trajectories: trajectories.flatMap(split), leftOut };
}

/** Treat a file with an overlong entry as one without points: the length depends on its values. */
function withoutPlaces(error: unknown): Extracted {
  if (error instanceof ImportRefused && error.reason === "too-large") {
    return { trajectories: [], leftOut: 1 };
  }
  throw error;
}

async function trajectoriesOf(
  source: Source,
  kind: ImportKind,
  options: ImportOptions,
): Promise<Extracted> {
  const { timeZone: zone = null, rawSignals = false, columns } = options;
  const chunks = source.chunks();
  if (kind === "kml") return kmlTrajectories(chunks, zone);
  if (kind === "gpx") return gpxTrajectories(chunks, zone);
  if (kind === "csv") return csvTrajectories(chunks, zone, columns);
  if (kind === "recorded") return history(recordedFixes(chunks));
  const stream = new JsonStream(chunks);
  const readers = {
    timeline: () => history(timelineFixes(stream, zone, rawSignals)),
    records: () => history(recordFixes(stream, zone)),
    month: () => history(monthFixes(stream, zone)),
    overland: () => history(overlandFixes(stream, zone)),
    owntracks: () => history(ownTracksFixes(stream)),
    geojson: () => geojsonTrajectories(stream, zone),
  };
  const extracted = await readers[kind]();
  if (await stream.peek()) throw new ImportRefused("not-json"); // text after the end
  return extracted;
}

/** One history, sorted by time, and the number of entries that were left out. */
async function history(entries: Entries): Promise<Extracted> {
  const fixes: Fix[] = [];
  let leftOut = 0;
  for await (const fix of entries) {
    if (fix === null) leftOut += 1;
    else fixes.push(fix);
  }
  return { trajectories: fixes.length ? [ordered(fixes)] : [], leftOut };
}
