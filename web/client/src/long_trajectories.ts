/**
 * Long trajectories: reduced to a public number of control points, and interpolated afterwards.
 *
 * Interpolation reads only the report, so it is post-processing and costs no epsilon.
 */

import type { Fraction } from "./fraction.js";
import { roundHalfEven } from "./geometry.js";
import type { LocationSet } from "./locations.js";

const ALL_UP_TO = 8;
const FEWER_POINTS = 4;
const FEWER_FROM = 6n;

/** How many control points to use: all up to 8; of more, 8 below epsilon 6 and 4 from 6 on. */
export function controlCount(epsilon: Fraction, length: number): number {
  const isLarge = epsilon.numerator >= FEWER_FROM * epsilon.denominator;
  return length > ALL_UP_TO && isLarge ? FEWER_POINTS : Math.min(length, ALL_UP_TO);
}

/** The positions of the control points: all, or `count` evenly spaced ones with both ends. */
export function controlPositions(length: number, count: number): number[] {
  const points = Math.min(length, count);
  const step = points > 1 ? (length - 1) / (points - 1) : 0;
  return Array.from({ length: points }, (_, k) =>
    k && k === points - 1 ? length - 1 : roundHalfEven(k * step),
  );
}

/** A location for every position, interpolated between the control points. */
export function interpolated(
  locations: LocationSet,
  control: ArrayLike<number>,
  length: number,
): number[] {
  const positions = controlPositions(length, control.length);
  return Array.from({ length }, (_, position) => {
    const k = positions.findIndex((controlPosition) => controlPosition >= position);
    if (positions[k] === position) return control[k]!;
    const share = (positions[k]! - position) / (positions[k]! - positions[k - 1]!);
    return between(locations, control[k]!, control[k - 1]!, share);
  });
}

/** The location nearest to the point at this share of the way from start to end. */
function between(locations: LocationSet, start: number, end: number, share: number): number {
  const [from, to] = [locations.at(start), locations.at(end)];
  // The shorter way around: the turn is between -180 and 180 degrees.
  const turn = to.lng - from.lng;
  const lng = from.lng + share * (turn - 360 * roundHalfEven(turn / 360));
  return locations.nearest({
    lat: from.lat + share * (to.lat - from.lat),
    lng: lng - 360 * roundHalfEven(lng / 360),
  });
}
