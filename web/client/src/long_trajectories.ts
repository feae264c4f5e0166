/** Long trajectories through a public number of control points, and back: post-processing. */

import type { Fraction } from "./fraction.js";
import { roundHalfEven } from "./geometry.js";
import type { LocationSet } from "./locations.js";

const WHOLE = 8;
const FEWER = 4;
const FEWER_FROM = 6n;

/** Of up to 8 points all; of more, 8 below epsilon 6 and 4 from there on. */
export function controlCount(epsilon: Fraction, length: number): number {
  const large = epsilon.numerator >= FEWER_FROM * epsilon.denominator;
  return length > WHOLE && large ? FEWER : Math.min(length, WHOLE);
}

/** Which positions of a trajectory are its control points: all, or `count` of them. */
export function controlPositions(length: number, count: number): number[] {
  const some = Math.min(length, count);
  const step = some > 1 ? (length - 1) / (some - 1) : 0;
  return Array.from({ length: some }, (_, k) =>
    k && k === some - 1 ? length - 1 : roundHalfEven(k * step),
  );
}

/** A location for every position, from those of the control points. */
export function interpolated(
  locations: LocationSet,
  control: ArrayLike<number>,
  length: number,
): number[] {
  const at = controlPositions(length, control.length);
  return Array.from({ length }, (_, position) => {
    const k = at.findIndex((each) => each >= position);
    if (at[k] === position) return control[k]!;
    const share = (at[k]! - position) / (at[k]! - at[k - 1]!);
    return between(locations, control[k]!, control[k - 1]!, share);
  });
}

/** The location nearest to the point that lies this share of the way along. */
function between(locations: LocationSet, start: number, end: number, share: number): number {
  const [from, to] = [locations.at(start), locations.at(end)];
  const turn = to.lng - from.lng;
  const lng = from.lng + share * (turn - 360 * roundHalfEven(turn / 360));
  return locations.nearest({
    lat: from.lat + share * (to.lat - from.lat),
    lng: lng - 360 * roundHalfEven(lng / 360),
  });
}
