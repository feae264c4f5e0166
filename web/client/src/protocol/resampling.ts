/** A trajectory of any length brought to the one public length of its task. */

import { DomainError } from "../errors.js";

/**
 * Evenly spaced positions along the way, both ends kept; a short one repeats its last.
 *
 * Position k of a longer trajectory of n points is (k (n - 1)) / (length - 1), rounded with halves
 * upwards, in whole numbers: every device picks the same. Of length 1, the first.
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
