/** What an importer found, before it is split at gaps. */

import type { LatLng } from "../geometry.js";
import type { TrackPoint } from "./fixes.js";

export interface Found {
  readonly trajectories: readonly (readonly TrackPoint[])[];
  /** Entries that were not understood. */
  readonly leftOut: number;
}

export function untimed({ lat, lng }: LatLng): TrackPoint {
  return { lat, lng, momentUs: null, localUs: null };
}

/** One trajectory, whose points have no time if none has one; else those without are left out. */
export function oneTrajectory(points: readonly (TrackPoint | null)[]): Found {
  const known = points.filter((point) => point !== null);
  const timed = known.filter(({ momentUs }) => momentUs !== null);
  const kept = timed.length ? timed : known;
  return { trajectories: kept.length ? [kept] : [], leftOut: points.length - kept.length };
}

export function together(parts: readonly Found[]): Found {
  return {
    trajectories: parts.flatMap(({ trajectories }) => trajectories),
    leftOut: parts.reduce((sum, { leftOut }) => sum + leftOut, 0),
  };
}
