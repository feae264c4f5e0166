/** Tables with columns for latitude and longitude, and optionally for time and trajectory. */

import {
  type Fix,
  fixAt,
  type Instant,
  instant,
  number,
  ordered,
  place,
  since1970,
  type TrackPoint,
} from "./fixes.js";
import { type Extracted, oneTrajectory, combined, untimed } from "./extracted.js";
import { lines } from "./lines.js";
import { ImportRefused } from "./refused.js";
import type { Chunks } from "./source.js";

/** The names of the columns of a table. */
export interface CsvColumns {
  readonly lat: string;
  readonly lng: string;
  readonly time?: string;
  /** Rows with the same value are one trajectory; without this column, all rows are one history. */
  readonly trajectory?: string;
}

const KNOWN = {
  lat: ["lat", "latitude"],
  lng: ["lng", "lon", "long", "longitude"],
  time: ["time", "datetime", "timestamp", "date_time", "utc", "tst"],
  trajectory: ["tid", "trajectory_id", "trip", "trip_id", "track", "track_id", "segment"],
};
const SEPARATORS = [",", ";", "\t"];
/** Numbers below this are seconds since 1970 (until the year 5138), others are milliseconds. */
const SECONDS_BELOW = 1e11;

/** The columns of a header, recognised by name; null if it has no coordinates. */
export function knownColumns(header: readonly string[]): CsvColumns | null {
  const find = (names: readonly string[]) =>
    names.flatMap((name) => header.filter((field) => field.trim().toLowerCase() === name))[0];
  const [lat, lng] = [find(KNOWN.lat), find(KNOWN.lng)];
  const [time, trajectory] = [find(KNOWN.time), find(KNOWN.trajectory)];
  if (lat === undefined || lng === undefined) return null;
  return {
    lat,
    lng,
    ...(time !== undefined && { time }),
    ...(trajectory !== undefined && { trajectory }),
  };
}

/** The names in the first line of a table, and their separator. */
export function headerOf(line: string): { names: string[]; separator: string } {
  const separator = SEPARATORS.reduce((best, mark) =>
    line.split(mark).length > line.split(best).length ? mark : best,
  );
  return { names: fieldsOf(line, separator) ?? [], separator };
}

export async function csvTrajectories(
  chunks: Chunks,
  zone: string | null,
  chosen?: CsvColumns,
): Promise<Extracted> {
  const trajectories = new Map<string, (TrackPoint | null)[]>();
  let read: ((fields: readonly string[]) => void) | undefined;
  let separator = ",";
  for await (const row of wholeRows(lines(chunks))) {
    if (read === undefined) {
      const header = headerOf(row);
      separator = header.separator;
      read = rowReader(header.names, trajectories, zone, chosen);
    } else if (row.trim() !== "") {
      read(fieldsOf(row, separator) ?? []);
    }
  }
  return combined(
    [...trajectories.values()].map((points) => {
      const { trajectories: valid, leftOut } = oneTrajectory(points);
      const [only] = valid;
      const isTimed = only !== undefined && only[0]!.momentUs !== null;
      return { trajectories: isTimed ? [ordered(only as readonly Fix[])] : valid, leftOut };
    }),
  );
}

function rowReader(
  names: readonly string[],
  trajectories: Map<string, (TrackPoint | null)[]>,
  zone: string | null,
  chosen?: CsvColumns,
): (fields: readonly string[]) => void {
  const columns = chosen ?? knownColumns(names);
  const at = (name?: string) => (name === undefined ? -1 : names.indexOf(name));
  const [lat, lng, time, trajectory] = [
    columns?.lat,
    columns?.lng,
    columns?.time,
    columns?.trajectory,
  ].map(at) as [number, number, number, number];
  if (lat < 0 || lng < 0) throw new ImportRefused("unknown");
  return (fields) => {
    const where = place(fields[lat]?.trim(), fields[lng]?.trim());
    const point = where && (fixAt(moment(fields[time]?.trim(), zone), where) ?? untimed(where));
    const key = fields[trajectory] ?? "";
    trajectories.set(key, trajectories.get(key) ?? []);
    trajectories.get(key)!.push(point);
  };
}

function moment(text: string | undefined, zone: string | null): Instant | null {
  const count = number(text);
  if (count === null) return instant(text, zone);
  return since1970(count, Math.abs(count) < SECONDS_BELOW ? 1e6 : 1e3);
}

/** Joins lines to rows: a field in quotes may contain line breaks. */
async function* wholeRows(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let row = "";
  let isOpen = false;
  for await (const line of lines) {
    row = isOpen ? `${row}\n${line}` : line;
    if (line.split('"').length % 2 === 0) isOpen = !isOpen;
    // An unclosed quote swallows the rest of the file, which is then ignored, not refused.
    if (isOpen && row.length > 1 << 20) return;
    if (!isOpen) yield row;
  }
  if (isOpen) yield row;
}

function fieldsOf(row: string, separator: string): string[] | null {
  if (!row.includes('"')) return row.split(separator);
  const field = new RegExp(`(?:"((?:[^"]|"")*)"|([^"${separator}]*))(${separator}|$)`, "y");
  const fields: string[] = [];
  for (;;) {
    const next = field.exec(row);
    if (next === null) return null;
    fields.push(next[1] === undefined ? next[2]! : next[1].replaceAll('""', '"'));
    if (next[3] === "") return fields;
  }
}
