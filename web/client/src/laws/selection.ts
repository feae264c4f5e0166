/**
 * Subset selection: a report is a set of labels, which is likelier to contain the true one.
 *
 * Restates `nomadp.laws.selection` (Ye and Barg 2018).
 */

import { Fraction } from "../fraction.js";
import { checkWhole, heaviest, highProduct, UNIT } from "./law.js";
import { LabelLaw, type Levels } from "./labels.js";

/** Reports `count` of `size` labels in ascending order; sets with the true label weigh more. */
export class SubsetSelection extends LabelLaw {
  readonly entries: number;
  readonly entrySize: number;
  readonly wordCount: number;

  constructor(
    size: number,
    readonly count: number,
    share: Fraction,
  ) {
    super(size, share);
    checkWhole("count", count, 1, Math.max(1, size - 1), "count_out_of_range");
    this.entries = count;
    this.entrySize = size;
    this.wordCount = 1 + count;
    const others = size - 1;
    const outside = sumOfRange(Math.max(1, others - count + 1), Math.max(1, others));
    this.checkSteps(sumOfRange(others - count + 2, others), outside);
  }

  get levels(): Levels {
    return { inside: BigInt(this.count), outside: BigInt(this.size - this.count) };
  }

  get together(): Fraction {
    return new Fraction(this.count - 1, Math.max(1, this.size - 1));
  }

  /**
   * Floyd's algorithm for a uniform set of the other labels: step k picks one of the labels up to
   * `last`, which grows by one each step. If that label was picked before, it adds `last` instead.
   */
  protected drawn(label: number, words: readonly bigint[]): number[] {
    const inside = this.isInside(words[0]!);
    const picks = this.count - Number(inside);
    const chosen = new Set<number>();
    for (let k = 0; k < picks; k += 1) {
      const last = this.size - 1 - picks + k;
      const index = Number(highProduct(words[1 + k]!, BigInt(last + 1)));
      const picked = otherLabel(label, index);
      chosen.add(chosen.has(picked) ? otherLabel(label, last) : picked);
    }
    if (inside) chosen.add(label);
    return [...chosen].sort((a, b) => a - b);
  }

  possible(report: readonly number[]): boolean {
    return (
      report.length === this.count &&
      report.every(
        (label, k) =>
          Number.isSafeInteger(label) && label > (k ? report[k - 1]! : -1) && label < this.size,
      )
    );
  }

  supports(report: readonly number[], label: number): boolean {
    return report.includes(label);
  }
}

/** The number of labels to report that minimises the variance, in exact arithmetic. */
export function bestCount(size: number, share: Fraction): number {
  if (size === 1) return 1;
  const heavy = heaviest(UNIT, share);
  // The optimum is one of the two whole numbers around size / (e^share + 1) (Ye and Barg 2018).
  const floor = Number((BigInt(size) * UNIT) / (heavy + UNIT));
  const clamped = [floor, floor + 1].map((w) => Math.min(Math.max(1, w), size - 1));
  const [low, high] = [clamped[0]!, clamped[1]!];
  const variance = (w: number) => {
    const total = BigInt(w) * heavy + BigInt(size - w) * UNIT;
    return new Fraction(total * total, BigInt(w) * BigInt(size - w));
  };
  return variance(high).compare(variance(low)) < 0 ? high : low;
}

/** The label at an index among all labels but the true one. */
function otherLabel(truth: number, index: number): number {
  return index + Number(index >= truth);
}

/** first + ... + last; 0 if the range is empty. */
function sumOfRange(first: number, last: number): number {
  return last < first ? 0 : ((first + last) * (last - first + 1)) / 2;
}
