/**
 * What a file is, by what is in it: names are localised, changed and wrong.
 *
 * Only its beginning is looked at, or as much of a JSON object as stands before a telling name.
 * What is passed over on the way is not parsed. Restates `nomadp.formats.detection`.
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
const LOOKED_AT = 1000;
const TELLING: Readonly<Record<string, ImportKind>> = {
  semanticSegments: "timeline",
  rawSignals: "timeline",
  timelineObjects: "month",
  features: "geojson",
  _type: "owntracks",
};

/** The kind of a file; null of what has no signature; refused if it is known not to be read. */
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
  // XML in UTF-16 says so in its first two bytes; one of them alone may begin a picture.
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
    if (Object.hasOwn(TELLING, name)) return TELLING[name]!;
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
    const found = loose(element);
    if (found !== null && "_type" in found) return "owntracks";
    if (found !== null && SEGMENT.some((name) => name in found)) return "timeline";
    throw new ImportRefused("unknown-json");
  }
  return "timeline"; // an empty one
}

/** The first entries may lack what others have. */
async function locationsKind(stream: JsonStream): Promise<ImportKind> {
  let count = 0;
  for await (const element of stream.elements()) {
    const found = loose(element);
    if (member(found, "type") === "Feature") return "overland";
    if (found !== null && RECORD.some((name) => name in found)) return "records";
    count += 1;
    if (count > LOOKED_AT) break;
  }
  if (count === 0) return "records"; // an empty one
  throw new ImportRefused("unknown-json");
}
