/**
 * Detects the kind of a file from its content, because file names are translated or wrong.
 *
 * Reads only the beginning of the file, or a JSON object up to the first name that identifies it.
 * Skipped values are not parsed. Restates `nomadp.formats.detection`.
 */

import { headerOf, knownColumns } from "./csv.js";
import { loose, member } from "./fixes.js";
import { JsonStream } from "./json_stream.js";
import { ImportRefused } from "./refused.js";
import { headOf, type Source, startsWith } from "./source.js";
import { rootOf } from "./xml_stream.js";

export type ImportKind =
  | "timeline"
  | "records"
  | "month"
  | "overland"
  | "owntracks"
  | "recorded"
  | "geojson"
  | "gpx"
  | "kml"
  | "csv";

const RECORDED = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}[^\t\n]{0,8}\t[^\t\n]{1,40}\t/;
const SEGMENT = ["startTime", "endTime", "visit", "activity", "timelinePath", "timelineMemory"];
const RECORD = ["latitudeE7", "timestampMs", "deviceTag"];
const ELEMENTS_MAX = 1000;
const KIND_OF_MEMBER: Readonly<Record<string, ImportKind>> = {
  semanticSegments: "timeline",
  rawSignals: "timeline",
  timelineObjects: "month",
  features: "geojson",
  _type: "owntracks",
};

/** The kind of a file; null if unknown. Throws for known kinds that cannot be imported. */
export async function detected(source: Source): Promise<ImportKind | null> {
  const head = await headOf(source);
  if (startsWith(head.subarray(8), 0x2e, 0x46, 0x49, 0x54)) throw new ImportRefused("fit");
  const text = new TextDecoder("utf-8").decode(head).trimStart();
  if (RECORDED.test(text)) return "recorded";
  if (text.startsWith("{") || text.startsWith("[")) {
    const stream = new JsonStream(source.chunks());
    try {
      return await jsonKind(stream);
    } finally {
      await stream.close();
    }
  }
  // XML in UTF-16 begins with a byte order mark. One of its bytes alone may begin an image.
  const isWide = startsWith(head, 0xfe, 0xff) || startsWith(head, 0xff, 0xfe);
  if (text.startsWith("<") || isWide) return xmlKind(source);
  const { names } = headerOf(text.split(/\r?\n/, 1)[0]!);
  return knownColumns(names) === null ? null : "csv";
}

async function xmlKind(source: Source): Promise<ImportKind> {
  const root = await rootOf(source.chunks());
  if (root === "gpx" || root === "kml") return root;
  const known = root === "TrainingCenterDatabase" ? "tcx" : "unknown-xml";
  throw new ImportRefused(root === "html" ? "web-page" : known);
}

async function jsonKind(stream: JsonStream): Promise<ImportKind> {
  if ((await stream.peek()) === "[") return arrayKind(stream);
  for await (const name of stream.members()) {
    if (Object.hasOwn(KIND_OF_MEMBER, name)) return KIND_OF_MEMBER[name]!;
    if (name === "timelineEdits") throw new ImportRefused("timeline-edits");
    if (name === "type" && (await stream.peek()) === '"') {
      const kind = await stream.value();
      if (kind === "FeatureCollection" || kind === "Feature") return "geojson";
    } else if (name === "locations" && (await stream.peek()) === "[") {
      return locationsKind(stream);
    } else {
      await stream.skip();
    }
  }
  throw new ImportRefused("unknown-json");
}

async function arrayKind(stream: JsonStream): Promise<ImportKind> {
  for await (const element of stream.elements()) {
    const members = loose(element);
    if (members !== null && "_type" in members) return "owntracks";
    if (members !== null && SEGMENT.some((name) => name in members)) return "timeline";
    throw new ImportRefused("unknown-json");
  }
  return "timeline"; // an empty array
}

/** Reads several elements, because the first ones may lack the members that identify the kind. */
async function locationsKind(stream: JsonStream): Promise<ImportKind> {
  let count = 0;
  for await (const element of stream.elements()) {
    const members = loose(element);
    if (member(members, "type") === "Feature") return "overland";
    if (members !== null && RECORD.some((name) => name in members)) return "records";
    count += 1;
    if (count > ELEMENTS_MAX) break;
  }
  if (count === 0) return "records"; // an empty array
  throw new ImportRefused("unknown-json");
}
