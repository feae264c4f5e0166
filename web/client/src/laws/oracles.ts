/** The law of a frequency oracle: subset selection while its reports are small. */

import type { Fraction } from "../fraction.js";
import { type LabelLaw, STEPS_MAX } from "./labels.js";
import { bestSpace } from "./projective.js";
import { bestCount, SubsetSelection } from "./selection.js";

export const REPORT_BYTES_MAX = 2048;

/**
 * Subset selection, if a set fits into 2 KB, as one bit for each label or as a list, and 64-bit
 * words are fine enough to draw it. Otherwise projective response.
 */
export function labelLaw(size: number, share: Fraction): LabelLaw {
  const count = bestCount(size, share);
  const listed = count * (size <= 2 ** 16 ? 2 : 3);
  const isSmall = Math.min(Math.ceil(size / 8), listed) <= REPORT_BYTES_MAX;
  return isSmall && size * count <= STEPS_MAX
    ? new SubsetSelection(size, count, share)
    : bestSpace(size, share);
}
