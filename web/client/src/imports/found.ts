/** What an importer found, before it is split at gaps. */

import type { LatLng } from "../geometry.js";
import type { TrackPoint } from "./fixes.js";

export interface Found {
  readonly journeys: readonly (readonly TrackPoint[])[];
  /** Entries that were not understood. */
  readonly leftOut: number;
}

export function untimed({ lat, lng }: LatLng): TrackPoint {
  return { lat, lng, momentUs: null, localUs: null };
}

/** One journey, whose points have no time if none has one; else those without are left out. */
export function oneJourney(points: readonly (TrackPoint | null)[]): Found {
  const known = points.filter((point) => point !== null);
  const timed = known.filter(({ momentUs }) => momentUs !== null);
  const kept = timed.length ? timed : known;
  return { journeys: kept.length ? [kept] : [], leftOut: points.length - kept.length };
}

export function together(parts: readonly Found[]): Found {
  return {
    journeys: parts.flatMap(({ journeys }) => journeys),
    leftOut: parts.reduce((sum, { leftOut }) => sum + leftOut, 0),
  };
}
