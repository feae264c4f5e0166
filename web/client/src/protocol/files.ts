/**
 * The public files beside a task: locations, and an atlas or zones.
 *
 * The hashes in a task are of what is in them, not of how it is written.
 */

import { Codebook, codebooksSha256 } from "../atlas.js";
import { asEpsilon } from "../budget.js";
import { TaskRefused } from "../errors.js";
import type { Fraction } from "../fraction.js";
import { type Location, LocationSet, sha256Hex } from "../locations.js";
import { Zones } from "../zones.js";
import { type Json, type JsonObject, parseObject, utf8 } from "./canonical.js";
import { FILE_BYTES_MAX, CODEWORDS_MAX, LENGTH_MAX, LOCATIONS_MAX } from "./ceilings.js";

const HEADER = "location_id,lat,lng";
const ATLAS_FORMAT = "nomadp atlas 2";
const ZONES_FORMAT = "nomadp zones 1";
const ATLAS = ["epsilon", "format", "journeys", "locations_sha256", "near_count", "recipe"];
const ZONES = ["format", "locations_sha256", "names", "of", "rule"];
const DEGREES = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$/;
/** One field of CSV and what ends it; no quote stands inside of a field without. */
const FIELD = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y;

/** An atlas, and the epsilon that it was made for. */
export interface AtlasFile {
  readonly book: Codebook;
  readonly epsilon: Fraction;
  readonly recipe: string;
  readonly sha256: string;
}

/** Zones, and the rule that made them. */
export interface ZonesFile {
  readonly zones: Zones;
  readonly rule: string;
  readonly sha256: string;
}

/** CSV with the columns location_id, lat and lng, in the order of the set. */
export function parseLocations(content: Uint8Array): LocationSet {
  checkSize(content, "locations");
  const rows = csvRows(utf8(content, "locations", "locations_malformed"));
  const header = rows?.shift();
  // A name of the header may be quoted, and then hold a comma: it is compared with its length.
  const isKnown = header?.length === 3 && String(header) === HEADER;
  if (rows == null || !isKnown || rows.some((row) => row.length !== 3)) {
    throw noLocations();
  }
  if (rows.length > LOCATIONS_MAX) {
    throw new TaskRefused(
      `a task must have at most ${LOCATIONS_MAX} locations, got ${rows.length}`,
      { code: "too_many_locations", limit: LOCATIONS_MAX, locations: rows.length },
    );
  }
  return new LocationSet(rows.map(location));
}

function location([id, lat, lng]: string[]): Location {
  if (!DEGREES.test(lat!) || !DEGREES.test(lng!)) throw noLocations();
  return { id: id!, lat: Number(lat), lng: Number(lng) };
}

/** RFC 4180, lines ended by LF or CRLF; null if it is not. */
function csvRows(text: string): string[][] | null {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < text.length || row.length) {
    FIELD.lastIndex = at;
    const found = FIELD.exec(text);
    if (found === null) return null;
    at = FIELD.lastIndex;
    row.push(found[1] === undefined ? found[2]! : found[1].replaceAll('""', '"'));
    if (found[3] !== ",") {
      rows.push(row);
      row = [];
    }
  }
  return rows;
}

/** One atlas, of the task's one length. */
export async function parseAtlas(
  content: Uint8Array,
  locations: LocationSet,
): Promise<AtlasFile> {
  const said = object(content, "an atlas", ATLAS, ["size"]);
  const trajectories = checkedTrajectories(said["journeys"]!);
  const { format, recipe, epsilon, locations_sha256: of, near_count: near, size = 0 } = said;
  const texts = [format, recipe, epsilon, of].every((text) => typeof text === "string");
  const isWritten = texts && isIndex(near);
  if (!isWritten || !isIndex(size) || format !== ATLAS_FORMAT) {
    throw new TaskRefused(`an atlas must be of the format ${ATLAS_FORMAT}, and is not`, {
      code: isWritten ? "codebook_format_unknown" : "codebook_malformed",
      format: ATLAS_FORMAT,
    });
  }
  if (of !== (await locations.sha256())) {
    throw new TaskRefused("an atlas must be of the locations beside it, and is of others", {
      code: "task_file_hash_mismatch",
    });
  }
  const book = new Codebook(locations, trajectories, near);
  const made = asEpsilon(epsilon as string);
  if (String(made) !== epsilon) {
    throw new TaskRefused(`the epsilon of an atlas must be written as ${made}, and is not`, {
      code: "codebook_epsilon_not_canonical",
      epsilon: String(made),
    });
  }
  const sha256 = await codebooksSha256(locations, made, [book]);
  return { book, epsilon: made, recipe: recipe as string, sha256 };
}

function checkedTrajectories(trajectories: Json): number[][] {
  const rows = Array.isArray(trajectories) ? trajectories : [];
  const length = Array.isArray(rows[0]) ? rows[0].length : 0;
  const fits = (row: Json) => Array.isArray(row) && row.length === length && row.every(isIndex);
  if (rows.length < 1 || rows.length > CODEWORDS_MAX || length < 1 || length > LENGTH_MAX) {
    throw new TaskRefused(
      `an atlas must hold 1 to ${CODEWORDS_MAX} trajectories of 1 to ${LENGTH_MAX} locations`,
      { code: "codebook_malformed", limit: CODEWORDS_MAX },
    );
  }
  if (!rows.every(fits)) {
    throw new TaskRefused(
      "trajectories of an atlas must be of one length and of locations, counted from 0",
      { code: "codebook_malformed", limit: LENGTH_MAX },
    );
  }
  return rows as number[][];
}

/** In which zone each location is. */
export async function parseZones(
  content: Uint8Array,
  locations: LocationSet,
): Promise<ZonesFile> {
  const said = object(content, "zones", ZONES);
  const { names, of, rule } = said;
  const locationsSha256 = await locations.sha256();
  if (said["format"] !== ZONES_FORMAT || said["locations_sha256"] !== locationsSha256) {
    throw new TaskRefused(
      `zones must be of the format ${ZONES_FORMAT} and of these locations`,
      { code: "zones_mismatch", format: ZONES_FORMAT },
    );
  }
  const named = Array.isArray(names) && names.every((name) => typeof name === "string");
  if (typeof rule !== "string" || !named || !Array.isArray(of) || !of.every(isIndex)) {
    throw new TaskRefused("zones must have names, and a number for each location", {
      code: "zones_malformed",
    });
  }
  const zones = new Zones(locations, of as number[], names as string[]);
  return { zones, rule, sha256: await zonesSha256(zones, locationsSha256) };
}

/** The hash of a partition: the location set, each location's zone, each zone's name. */
async function zonesSha256(zones: Zones, locationsSha256: string): Promise<string> {
  const text = new TextEncoder();
  const parts = [text.encode(`nomadp-zones-1\n${locationsSha256}\n${zones.size}\n`)];
  for (const name of zones.names) {
    const encoded = text.encode(name);
    parts.push(text.encode(`${encoded.length}:`), encoded);
  }
  const size = zones.locations.size;
  const of = new DataView(new ArrayBuffer(8 * size));
  for (let k = 0; k < size; k += 1) of.setBigInt64(8 * k, BigInt(zones.of(k)), true);
  parts.push(new Uint8Array(of.buffer));
  return sha256Hex(parts);
}

function object(
  content: Uint8Array,
  what: string,
  fields: string[],
  optional: string[] = [],
): JsonObject {
  checkSize(content, what);
  const said = parseObject(content, what, FILE_BYTES_MAX);
  const names = Object.keys(said);
  const known = [...fields, ...optional];
  if (!fields.every((name) => name in said) || !names.every((name) => known.includes(name))) {
    throw new TaskRefused(`${what} must have ${fields.join(", ")} and nothing else`, {
      code: "fields_mismatch",
      file: fileOf(what),
    });
  }
  return said;
}

function checkSize(content: Uint8Array, what: string): void {
  if (content.length > FILE_BYTES_MAX) {
    throw new TaskRefused(`${what} must have at most ${FILE_BYTES_MAX} bytes`, {
      code: "task_file_too_large",
      file: fileOf(what),
      limit: FILE_BYTES_MAX,
    });
  }
}

/** By the name that it has behind the task's address. */
function fileOf(what: string): string {
  return what.replace(/^an /, "");
}

function isIndex(value: Json | undefined): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < 2 ** 31;
}

function noLocations(): TaskRefused {
  return new TaskRefused(`locations must be CSV with the columns ${HEADER}`, {
    code: "locations_malformed",
    columns: HEADER.split(","),
  });
}
