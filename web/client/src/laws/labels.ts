/**
 * What the laws of frequency oracles share: a report supports labels, the true one more often.
 *
 * Restates `nomadp.laws.labels`. Among all outputs, those that support the true label weigh
 * `heavy`, the others `light`. It is drawn in two stages, with a number of words that no secret
 * changes: the first says whether the truth is supported, the others pick one such output.
 */

import { BudgetError, DomainError, OutOfRange } from "../errors.js";
import { Fraction } from "../fraction.js";
import type { Word } from "../randomness.js";
import { checkShare, heaviest, type Law, UNIT, WORDS } from "./law.js";

export const LABELS_MAX = 2 ** 24;
/** Words that each level must own: then rounding to words moves its chance by 2^-32 at most. */
const OWNED = 1n << 32n;
/** What the ranges of all further words may add up to: each is uniform up to range / 2^64. */
export const STEPS_MAX = 2 ** 30;

/** How many outputs support the truth and how many do not, but for a common factor. */
export interface Levels {
  readonly inside: bigint;
  readonly outside: bigint;
}

/** Two levels over outputs, each of which supports some of `size` labels. */
export abstract class LabelLaw implements Law<number, readonly number[]> {
  /** The weight of an output that supports the truth. */
  readonly heavy: bigint;
  /** That of any other. */
  readonly light = UNIT;
  abstract readonly wordCount: number;
  /** Of how many numbers a report is made. */
  abstract readonly entries: number;
  /** How many values each of them may take. */
  abstract readonly entrySize: number;
  #insideWords: bigint | undefined;

  constructor(
    /** How many labels there are: a secret is one of them. */
    readonly size: number,
    readonly share: Fraction,
  ) {
    checkShare(share);
    if (!Number.isSafeInteger(size) || size < 1 || size > LABELS_MAX) {
      throw new DomainError(
        `a question must have from 1 to ${LABELS_MAX} labels, got ${size}; ask about larger zones`,
        { code: "label_count_out_of_range", labels: size, most: LABELS_MAX },
      );
    }
    this.heavy = heaviest(UNIT, share);
  }

  abstract get levels(): Levels;

  /** Of the outputs that support one label, the part that supports another one, too. */
  abstract get together(): Fraction;

  /** A report, from `wordCount` words. */
  protected abstract drawn(label: number, words: readonly bigint[]): number[];

  /** Whether these numbers are a report. */
  abstract possible(report: readonly number[]): boolean;

  /** Whether a report supports a label. */
  abstract supports(report: readonly number[], label: number): boolean;

  draw(secret: number, word: Word): readonly number[] {
    if (!Number.isSafeInteger(secret) || secret < 0 || secret >= this.size) {
      throw new OutOfRange(`input must be in [0, ${this.size}); its value is withheld`, {
        code: "input_out_of_range",
        size: this.size,
      });
    }
    return this.drawn(
      secret,
      Array.from({ length: this.wordCount }, () => word()),
    );
  }

  /** That a report supports the true label. */
  get trueChance(): Fraction {
    const { inside, outside } = this.levels;
    return new Fraction(inside * this.heavy, inside * this.heavy + outside * this.light);
  }

  /** That it supports any one other label; 0 where there is none. */
  get otherChance(): Fraction {
    const [none, one] = [new Fraction(0), new Fraction(1)];
    if (this.size === 1) return none;
    const { inside, outside } = this.levels;
    const apart = one.minus(this.together);
    const rest = outside ? new Fraction(inside, outside).times(apart) : none;
    const p = this.trueChance;
    return p.times(this.together).plus(one.minus(p).times(rest));
  }

  /** Of all unbiased shares together, times the number of reports, whatever the truth. */
  get variance(): Fraction {
    const [p, q, one] = [this.trueChance, this.otherChance, new Fraction(1)];
    const gap = p.minus(q);
    if (gap.numerator === 0n) {
      throw new BudgetError(
        "the share of a frequency oracle must be at least 2^-23, so that in whole numbers the " +
          `truth weighs more than anything else, got share=${this.share}; use a larger epsilon`,
        { code: "share_too_small", share: this.share.toNumber() },
      );
    }
    const each = new Fraction(this.size).times(q).times(one.minus(q));
    return each.plus(one.minus(p).minus(q).times(gap)).over(gap.times(gap));
  }

  get bound(): Fraction {
    return new Fraction(this.heavy, this.light);
  }

  /** Whether the first word of a draw decides that the truth is supported. */
  protected isInside(first: bigint): boolean {
    return first < this.insideWords;
  }

  /** The words below this one, of 2^64, decide that the truth is supported. */
  private get insideWords(): bigint {
    this.#insideWords ??= this.trueChance.times(new Fraction(WORDS)).ceil();
    return this.#insideWords;
  }

  /** Refuse what words cannot keep; of each level, `steps` is what its ranges add up to. */
  protected checkSteps(...steps: number[]): void {
    const owned = [this.insideWords, WORDS - this.insideWords].filter((words) => words);
    if (owned.some((words) => words < OWNED) || Math.max(...steps) > STEPS_MAX) {
      throw new BudgetError(
        `64-bit words must keep the share of a draw, and do not for ${this.size} labels at ` +
          `${this.share}; use a smaller epsilon or larger zones`,
        { code: "word_precision_exceeded", labels: this.size },
      );
    }
  }
}
