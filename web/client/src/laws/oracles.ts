/** The law of a frequency oracle: the one of least variance whose reports are small. */

import type { Fraction } from "../fraction.js";
import { type LabelLaw, STEPS_MAX } from "./labels.js";
import { bestSpace } from "./projective.js";
import { bestCount, SubsetSelection } from "./selection.js";

export const REPORT_BYTES_MAX = 2048;

/**
 * Over `size` labels: sets of them as long as one fits into 2 KB, as a bit for each label or as
 * a list of its own, and words can pick it; else points of a projective space.
 */
export function labelLaw(size: number, share: Fraction): LabelLaw {
  const count = bestCount(size, share);
  const listed = count * (size <= 2 ** 16 ? 2 : 3);
  const small = Math.min(Math.ceil(size / 8), listed) <= REPORT_BYTES_MAX;
  return small && size * count <= STEPS_MAX
    ? new SubsetSelection(size, count, share)
    : bestSpace(size, share);
}
