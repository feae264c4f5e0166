/**
 * KML: tracks (`gx:Track`), and placemarks of points and lines with a time.
 *
 * Restates `nomadp.formats.kml`. Every track is a trajectory of its own; placemarks with a time make
 * one more. Lines without any time are trajectories only where the whole file has no time.
 */

import type { LatLng } from "../geometry.js";
import { type Fix, fixAt, type Instant, instant, ordered, place, spread } from "./fixes.js";
import { type Found, untimed } from "./found.js";
import type { Chunks } from "./source.js";
import { XmlStream } from "./xml_stream.js";

const COORDINATES = ["Point", "LineString"];
const TIMES: Record<string, readonly string[]> = {
  when: ["Track", "TimeStamp"],
  begin: ["TimeSpan"],
  end: ["TimeSpan"],
};

export async function kmlTrajectories(chunks: Chunks, zone: string | null): Promise<Found> {
  const found = new Kml(zone);
  for await (const _ of found.feed(chunks));
  const trajectories = [];
  let leftOut = found.leftOut;
  for (const fixes of [...found.tracks.map(trackFixes), found.timed]) {
    const known = fixes.filter((fix) => fix !== null);
    leftOut += fixes.length - known.length;
    if (known.length) trajectories.push(ordered(known));
  }
  if (trajectories.length) return { trajectories, leftOut: leftOut + found.lines.length };
  return { trajectories: found.lines.map((line) => line.map(untimed)), leftOut };
}

/** Times and places, which come apart and belong together by their order. */
interface Track {
  readonly times: (Instant | null)[];
  readonly places: (LatLng | null)[];
}

function trackFixes({ times, places }: Track): (Fix | null)[] {
  if (times.length !== places.length) return [null]; // whose time is whose, nobody can say
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
      this.tracks.at(-1)!.places.push(position(words(text)));
    } else if (name === "coordinates" && COORDINATES.includes(parent)) {
      this.#mark.shapes.push([parent, words(text).map((each) => position(each.split(",")))]);
    } else if (name === "Placemark") {
      this.#finish();
    }
  }

  #finish(): void {
    const { when, begin, end, shapes } = this.#mark;
    const first = when ?? begin;
    for (const [kind, places] of shapes) {
      const line = places.filter((where) => where !== null);
      if (first !== null) {
        // A point of a span of time is a visit: there when it begins and when it ends.
        const twice = kind === "Point" && end !== null;
        this.timed.push(...spread(first, end, twice ? [...places, ...places] : places));
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

function words(text: string): string[] {
  return text.trim() === "" ? [] : text.trim().split(/\s+/);
}

/** Longitude before latitude, and perhaps a height. */
function position(texts: readonly string[]): LatLng | null {
  return texts.length === 2 || texts.length === 3 ? place(texts[1], texts[0]) : null;
}
