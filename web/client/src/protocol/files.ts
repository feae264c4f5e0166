/**
 * The public files of a task: locations, and a codebook or zones.
 *
 * The hashes in a task are hashes of their content, not of their bytes.
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
/** One CSV field and its separator. A field without quotes contains none. */
const FIELD = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/y;

/** A codebook, and the epsilon that it was built for. */
export interface AtlasFile {
  readonly codebook: Codebook;
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
  // A quoted name may contain a comma, so compare the number of columns, too.
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

/** The rows of CSV (RFC 4180) with line ends LF or CRLF; null if it is malformed. */
function csvRows(text: string): string[][] | null {
  const rows: string[][] = [];
  let row: string[] = [];
  let at = 0;
  while (at < text.length || row.length) {
    FIELD.lastIndex = at;
    const match = FIELD.exec(text);
    if (match === null) return null;
    at = FIELD.lastIndex;
    row.push(match[1] === undefined ? match[2]! : match[1].replaceAll('""', '"'));
    if (match[3] !== ",") {
      rows.push(row);
      row = [];
    }
  }
  return rows;
}

/** Parse and check a codebook. */
export async function parseAtlas(
  content: Uint8Array,
  locations: LocationSet,
): Promise<AtlasFile> {
  const members = object(content, "a codebook", ATLAS, ["size"]);
  const codewords = checkedCodewords(members["journeys"]!);
  const { format, recipe, epsilon, locations_sha256: of, near_count: near, size = 0 } = members;
  const texts = [format, recipe, epsilon, of].every((text) => typeof text === "string");
  const isTyped = texts && isIndex(near);
  if (!isTyped || !isIndex(size) || format !== ATLAS_FORMAT) {
    throw new TaskRefused(
      `a codebook must have the format ${ATLAS_FORMAT}, but does not; update nomadp`,
      {
        code: isTyped ? "codebook_format_unknown" : "codebook_malformed",
        format: ATLAS_FORMAT,
      },
    );
  }
  if (of !== (await locations.sha256())) {
    throw new TaskRefused(
      "a codebook must be for the locations of its task, but is for others",
      {
        code: "task_file_hash_mismatch",
      },
    );
  }
  const codebook = new Codebook(locations, codewords, near);
  const exact = asEpsilon(epsilon as string);
  if (String(exact) !== epsilon) {
    throw new TaskRefused(`the epsilon of a codebook must be written as ${exact}, but is not`, {
      code: "codebook_epsilon_not_canonical",
      epsilon: String(exact),
    });
  }
  const sha256 = await codebooksSha256(locations, exact, [codebook]);
  return { codebook, epsilon: exact, recipe: recipe as string, sha256 };
}

function checkedCodewords(codewords: Json): number[][] {
  const rows = Array.isArray(codewords) ? codewords : [];
  const length = Array.isArray(rows[0]) ? rows[0].length : 0;
  const fits = (row: Json) => Array.isArray(row) && row.length === length && row.every(isIndex);
  if (rows.length < 1 || rows.length > CODEWORDS_MAX || length < 1 || length > LENGTH_MAX) {
    throw new TaskRefused(
      `a codebook must have 1 to ${CODEWORDS_MAX} codewords of 1 to ${LENGTH_MAX} locations`,
      { code: "codebook_malformed", limit: CODEWORDS_MAX },
    );
  }
  if (!rows.every(fits)) {
    throw new TaskRefused(
      "codewords must be lists of location indices, all of the same length, but some are not",
      { code: "codebook_malformed", limit: LENGTH_MAX },
    );
  }
  return rows as number[][];
}

/** Parse and check zones. */
export async function parseZones(
  content: Uint8Array,
  locations: LocationSet,
): Promise<ZonesFile> {
  const members = object(content, "zones", ZONES);
  const { names, of, rule } = members;
  const locationsSha256 = await locations.sha256();
  if (members["format"] !== ZONES_FORMAT || members["locations_sha256"] !== locationsSha256) {
    throw new TaskRefused(
      `zones must have the format ${ZONES_FORMAT} and be for the locations of their task`,
      { code: "zones_mismatch", format: ZONES_FORMAT },
    );
  }
  const hasNames = Array.isArray(names) && names.every((name) => typeof name === "string");
  if (typeof rule !== "string" || !hasNames || !Array.isArray(of) || !of.every(isIndex)) {
    throw new TaskRefused("zones must have names, and an index for each location", {
      code: "zones_malformed",
    });
  }
  const zones = new Zones(locations, of as number[], names as string[]);
  return { zones, rule, sha256: await zonesSha256(zones, locationsSha256) };
}

/** The hash of a partition: the location set, the name of each zone and the zone of each location. */
async function zonesSha256(zones: Zones, locationsSha256: string): Promise<string> {
  const encoder = new TextEncoder();
  const parts = [encoder.encode(`nomadp-zones-1\n${locationsSha256}\n${zones.size}\n`)];
  for (const name of zones.names) {
    const encoded = encoder.encode(name);
    parts.push(encoder.encode(`${encoded.length}:`), encoded);
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
  const members = parseObject(content, what, FILE_BYTES_MAX);
  const names = Object.keys(members);
  const known = [...fields, ...optional];
  if (
    !fields.every((name) => name in members) ||
    !names.every((name) => known.includes(name))
  ) {
    throw new TaskRefused(`${what} must have the members ${fields.join(", ")} and no others`, {
      code: "fields_mismatch",
      file: fileOf(what),
    });
  }
  return members;
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

/** The name of a file in URLs below the task's. */
function fileOf(what: string): string {
  return what === "a codebook" ? "atlas" : what;
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
