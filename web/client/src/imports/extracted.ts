/** The trajectories that an importer extracts from a file, before they are split at gaps. */

import type { LatLng } from "../geometry.js";
import type { TrackPoint } from "./fixes.js";

export interface Extracted {
  readonly trajectories: readonly (readonly TrackPoint[])[];
  /** The number of entries that could not be read. */
  readonly leftOut: number;
}

export function untimed({ lat, lng }: LatLng): TrackPoint {
  return { lat, lng, momentUs: null, localUs: null };
}

/** One trajectory. If any point has a time, points without a time are left out. */
export function oneTrajectory(points: readonly (TrackPoint | null)[]): Extracted {
  const valid = points.filter((point) => point !== null);
  const timed = valid.filter(({ momentUs }) => momentUs !== null);
  const used = timed.length ? timed : valid;
  return { trajectories: used.length ? [used] : [], leftOut: points.length - used.length };
}

export function combined(parts: readonly Extracted[]): Extracted {
  return {
    trajectories: parts.flatMap(({ trajectories }) => trajectories),
    leftOut: parts.reduce((sum, { leftOut }) => sum + leftOut, 0),
  };
}
