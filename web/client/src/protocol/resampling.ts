/** Resampling of a trajectory to the public length of its task. */

import { DomainError } from "../errors.js";

/**
 * Points at evenly spaced positions, with both ends; a short trajectory repeats its last point.
 *
 * Position k in a longer trajectory of n points is (k (n - 1)) / (length - 1), rounded half up in
 * integer arithmetic, so that every device picks the same points. Length 1 picks the first point.
 */
export function resampled<Point>(points: readonly Point[], length: number): Point[] {
  const count = points.length;
  if (count < 1)
    throw new DomainError("a trajectory must have at least one point, got none", {
      code: "empty_trajectories",
    });
  if (count <= length) {
    return Array.from({ length }, (_, k) => points[Math.min(k, count - 1)]!);
  }
  const steps = Math.max(1, length - 1);
  return Array.from(
    { length },
    (_, k) => points[Math.floor((2 * k * (count - 1) + steps) / (2 * steps))]!,
  );
}
