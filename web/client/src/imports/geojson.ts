/**
 * GeoJSON (RFC 7946): a LineString is a trajectory; all Points with times are one history.
 *
 * The times of a line are in its property `times` or `coordTimes`, or in the fourth number of its
 * positions, in seconds since 1970. The time of a Point is in `datetime`, `timestamp` or `time`.
 */

import {
  type Fix,
  fixAt,
  type Instant,
  instant,
  listed,
  member,
  ordered,
  place,
  since1970,
  type TrackPoint,
} from "./fixes.js";
import { type Extracted, oneTrajectory, combined, untimed } from "./extracted.js";
import type { JsonStream } from "./json_stream.js";

const SECOND_US = 1_000_000;
const TIMES = ["times", "coordTimes"];
const TIME = ["datetime", "timestamp", "time"];

export async function geojsonTrajectories(
  stream: JsonStream,
  zone: string | null,
): Promise<Extracted> {
  const features = new Features(zone);
  const single: Record<string, unknown> = {};
  let isCollection = false;
  for await (const name of stream.members()) {
    if (name === "features") {
      isCollection = true;
      for await (const feature of stream.elements()) features.add(feature);
    } else if (name === "geometry" || name === "properties") {
      single[name] = await stream.value();
    } else {
      await stream.skip();
    }
  }
  if (!isCollection) features.add(single);
  return features.all();
}

class Features {
  readonly #lines: Extracted[] = [];
  readonly #fixes: Fix[] = [];
  #leftOut = 0;

  constructor(readonly zone: string | null) {}

  add(feature: unknown): void {
    const geometry = member(feature, "geometry");
    const properties = member(feature, "properties");
    const positions = listed(member(geometry, "coordinates"));
    const kind = member(geometry, "type");
    if (kind === "LineString") this.#line(positions, properties);
    else if (kind === "Point") this.#point(positions, properties);
    else this.#leftOut += 1;
  }

  all(): Extracted {
    const history = this.#fixes.length ? [ordered(this.#fixes)] : [];
    return combined([...this.#lines, { trajectories: history, leftOut: this.#leftOut }]);
  }

  #line(positions: readonly unknown[], properties: unknown): void {
    const times = TIMES.map((name) => member(properties, name)).find(Array.isArray);
    const fits = times === undefined || times.length === positions.length;
    const points = positions.map((position, k): TrackPoint | null => {
      const [lng, lat, , seconds] = listed(position);
      const where = place(lat, lng);
      const at = times === undefined ? since1970(seconds, SECOND_US) : this.#at(times[k]);
      return where && (fixAt(fits ? at : null, where) ?? untimed(where));
    });
    this.#lines.push(oneTrajectory(points));
  }

  #point([lng, lat]: readonly unknown[], properties: unknown): void {
    const where = place(lat, lng);
    const time = TIME.map((name) => member(properties, name)).find(
      (value) => value !== undefined,
    );
    const fix = fixAt(this.#at(time), where);
    if (fix !== null) this.#fixes.push(fix);
    else if (where !== null && time === undefined) {
      this.#lines.push({ trajectories: [[untimed(where)]], leftOut: 0 });
    } else this.#leftOut += 1;
  }

  #at(value: unknown): Instant | null {
    return typeof value === "number" ? since1970(value, SECOND_US) : instant(value, this.zone);
  }
}
