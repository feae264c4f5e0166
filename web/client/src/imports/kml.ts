/**
 * KML: tracks (`gx:Track`), and placemarks of points and lines with a time.
 *
 * Restates `nomadp.formats.kml`. Every track is a trajectory; all placemarks with a time form one
 * more. Lines without a time are only used if the whole file has no time.
 */

import type { LatLng } from "../geometry.js";
import { type Fix, fixAt, type Instant, instant, ordered, place, spread } from "./fixes.js";
import { type Extracted, untimed } from "./extracted.js";
import type { Chunks } from "./source.js";
import { XmlStream } from "./xml_stream.js";

const COORDINATES = ["Point", "LineString"];
const TIMES: Record<string, readonly string[]> = {
  when: ["Track", "TimeStamp"],
  begin: ["TimeSpan"],
  end: ["TimeSpan"],
};

export async function kmlTrajectories(chunks: Chunks, zone: string | null): Promise<Extracted> {
  const kml = new Kml(zone);
  for await (const _ of kml.feed(chunks));
  const trajectories = [];
  let leftOut = kml.leftOut;
  for (const fixes of [...kml.tracks.map(trackFixes), kml.timed]) {
    const valid = fixes.filter((fix) => fix !== null);
    leftOut += fixes.length - valid.length;
    if (valid.length) trajectories.push(ordered(valid));
  }
  if (trajectories.length) return { trajectories, leftOut: leftOut + kml.lines.length };
  return { trajectories: kml.lines.map((line) => line.map(untimed)), leftOut };
}

/** Times and places of a track, which are separate lists in the same order. */
interface Track {
  readonly times: (Instant | null)[];
  readonly places: (LatLng | null)[];
}

function trackFixes({ times, places }: Track): (Fix | null)[] {
  if (times.length !== places.length) return [null]; // times cannot be matched to places
  return times.map((at, k) => fixAt(at, places[k]!));
}

interface Placemark {
  when: Instant | null;
  begin: Instant | null;
  end: Instant | null;
  readonly shapes: [string, (LatLng | null)[]][];
}

class Kml extends XmlStream {
  readonly tracks: Track[] = [];
  readonly timed: (Fix | null)[] = [];
  readonly lines: LatLng[][] = [];
  leftOut = 0;
  #mark = placemark();

  constructor(readonly zone: string | null) {
    super();
  }

  protected override start(name: string): boolean {
    const parent = this.open.at(-1) ?? "";
    if (name === "Placemark") this.#mark = placemark();
    else if (name === "Track") this.tracks.push({ times: [], places: [] });
    return (
      (Object.hasOwn(TIMES, name) && TIMES[name]!.includes(parent)) ||
      (name === "coordinates" && COORDINATES.includes(parent)) ||
      (name === "coord" && parent === "Track")
    );
  }

  protected override end(name: string, text: string): void {
    const parent = this.open.at(-1) ?? "";
    if (Object.hasOwn(TIMES, name) && TIMES[name]!.includes(parent)) {
      const at = instant(text.trim(), this.zone);
      if (parent === "Track") this.tracks.at(-1)!.times.push(at);
      else this.#mark[name as "when" | "begin" | "end"] = at;
    } else if (name === "coord" && parent === "Track") {
      this.tracks.at(-1)!.places.push(position(fields(text)));
    } else if (name === "coordinates" && COORDINATES.includes(parent)) {
      this.#mark.shapes.push([parent, fields(text).map((field) => position(field.split(",")))]);
    } else if (name === "Placemark") {
      this.#finish();
    }
  }

  #finish(): void {
    const { when, begin, end, shapes } = this.#mark;
    const start = when ?? begin;
    for (const [kind, places] of shapes) {
      const line = places.filter((where) => where !== null);
      if (start !== null) {
        // A point with a time span is a visit: one fix at its begin and one at its end.
        const isVisit = kind === "Point" && end !== null;
        this.timed.push(...spread(start, end, isVisit ? [...places, ...places] : places));
      } else if (kind === "LineString" && line.length) {
        this.lines.push(line);
      } else {
        this.leftOut += 1;
      }
    }
  }
}

function placemark(): Placemark {
  return { when: null, begin: null, end: null, shapes: [] };
}

function fields(text: string): string[] {
  return text.trim() === "" ? [] : text.trim().split(/\s+/);
}

/** Longitude, latitude and optionally altitude. */
function position(texts: readonly string[]): LatLng | null {
  return texts.length === 2 || texts.length === 3 ? place(texts[1], texts[0]) : null;
}
