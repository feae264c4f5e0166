/**
 * Subset selection: some of all labels are reported, the true one likelier among them.
 *
 * Restates `nomadp.laws.selection` (Ye and Barg 2018).
 */

import { Fraction } from "../fraction.js";
import { checkWhole, heaviest, highProduct, UNIT } from "./law.js";
import { LabelLaw, type Levels } from "./labels.js";

/** Every set of `count` of `size` labels, heavier if it holds the secret one; ascending. */
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
    const outside = added(Math.max(1, others - count + 1), Math.max(1, others));
    this.checkSteps(added(others - count + 2, others), outside);
  }

  get levels(): Levels {
    return { inside: BigInt(this.count), outside: BigInt(this.size - this.count) };
  }

  get together(): Fraction {
    return new Fraction(this.count - 1, Math.max(1, this.size - 1));
  }

  /**
   * Floyd's way to a uniform set of the others: the k-th word is among the first so many, and
   * a label that was picked before stands for the last of them.
   */
  protected drawn(label: number, words: readonly bigint[]): number[] {
    const inside = this.isInside(words[0]!);
    const picks = this.count - Number(inside);
    const chosen = new Set<number>();
    for (let k = 0; k < picks; k += 1) {
      const last = this.size - 1 - picks + k;
      const number = Number(highProduct(words[1 + k]!, BigInt(last + 1)));
      const picked = without(label, number);
      chosen.add(chosen.has(picked) ? without(label, last) : picked);
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

/** How many labels to report for the least variance, in whole numbers alone. */
export function bestCount(size: number, share: Fraction): number {
  if (size === 1) return 1;
  const heavy = heaviest(UNIT, share);
  const least = Number((BigInt(size) * UNIT) / (heavy + UNIT));
  const near = [least, least + 1].map((w) => Math.min(Math.max(1, w), size - 1));
  const [low, high] = [near[0]!, near[1]!];
  const variance = (w: number) => {
    const total = BigInt(w) * heavy + BigInt(size - w) * UNIT;
    return new Fraction(total * total, BigInt(w) * BigInt(size - w));
  };
  return variance(high).compare(variance(low)) < 0 ? high : low;
}

/** The label of a number that counts all but the true one. */
function without(truth: number, number: number): number {
  return number + Number(number >= truth);
}

/** first + ... + last; 0 if there is none. */
function added(first: number, last: number): number {
  return last < first ? 0 : ((first + last) * (last - first + 1)) / 2;
}
