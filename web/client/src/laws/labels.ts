/**
 * The common part of the frequency oracles' laws: a report supports the true label more often.
 *
 * Restates `nomadp.laws.labels`. Outputs that support the true label have the weight `heavy`, all
 * others `light`. A draw has two stages and always takes the same number of words: the first word
 * decides whether the report supports the true label, the others pick one such output.
 */

import { BudgetError, DomainError, OutOfRange } from "../errors.js";
import { Fraction } from "../fraction.js";
import type { Word } from "../randomness.js";
import { checkShare, heaviest, type Law, UNIT, WORDS } from "./law.js";

export const LABELS_MAX = 2 ** 24;
/**
 * Each level must get at least this many of the 2^64 first words. Rounding its probability to
 * whole words then changes the probability by a factor of at most 1 + 2^-32.
 */
const LEVEL_WORDS_MIN = 1n << 32n;
/** The largest sum of the ranges of the further words: each is uniform up to range / 2^64. */
export const STEPS_MAX = 2 ** 30;

/** How many outputs support the true label and how many do not, up to a common factor. */
export interface Levels {
  readonly inside: bigint;
  readonly outside: bigint;
}

/** A law with two probabilities over outputs, each of which supports some of `size` labels. */
export abstract class LabelLaw implements Law<number, readonly number[]> {
  /** The weight of an output that supports the true label. */
  readonly heavy: bigint;
  /** The weight of any other output. */
  readonly light = UNIT;
  abstract readonly wordCount: number;
  /** How many numbers a report contains. */
  abstract readonly entries: number;
  /** How many values each number may take. */
  abstract readonly entrySize: number;
  #insideWords: bigint | undefined;

  constructor(
    /** The number of labels. A secret is one of them. */
    readonly size: number,
    readonly share: Fraction,
  ) {
    checkShare(share);
    if (!Number.isSafeInteger(size) || size < 1 || size > LABELS_MAX) {
      throw new DomainError(
        `a frequency oracle must have from 1 to ${LABELS_MAX} labels, got ${size}; use larger zones`,
        { code: "label_count_out_of_range", labels: size, most: LABELS_MAX },
      );
    }
    this.heavy = heaviest(UNIT, share);
  }

  abstract get levels(): Levels;

  /** The share of the outputs supporting one label that also support another given label. */
  abstract get together(): Fraction;

  /** The report that `wordCount` words select. */
  protected abstract drawn(label: number, words: readonly bigint[]): number[];

  /** Whether the law can output these numbers. */
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

  /** The probability that a report supports the true label. */
  get trueChance(): Fraction {
    const { inside, outside } = this.levels;
    return new Fraction(inside * this.heavy, inside * this.heavy + outside * this.light);
  }

  /** The probability that a report supports a given other label; 0 if there is none. */
  get otherChance(): Fraction {
    const [zero, one] = [new Fraction(0), new Fraction(1)];
    if (this.size === 1) return zero;
    const { inside, outside } = this.levels;
    // By total probability over whether the report supports the true label, which has chance p.
    const p = this.trueChance;
    const ifInside = this.together;
    const ifOutside = outside
      ? new Fraction(inside, outside).times(one.minus(this.together))
      : zero;
    return p.times(ifInside).plus(one.minus(p).times(ifOutside));
  }

  /**
   * The variance of the unbiased estimates of all shares, added up, times the number of reports.
   * It is the same whatever the true shares are.
   */
  get variance(): Fraction {
    const [p, q, one] = [this.trueChance, this.otherChance, new Fraction(1)];
    const gap = p.minus(q);
    if (gap.numerator === 0n) {
      throw new BudgetError(
        "the share of a frequency oracle must be at least 2^-23, so that the true label has a " +
          `larger integer weight than any other, got share=${this.share}; use a larger epsilon`,
        { code: "share_too_small", share: this.share.toNumber() },
      );
    }
    const atZero = new Fraction(this.size).times(q).times(one.minus(q));
    return atZero.plus(one.minus(p).minus(q).times(gap)).over(gap.times(gap));
  }

  get bound(): Fraction {
    return new Fraction(this.heavy, this.light);
  }

  /** Whether this first word of a draw makes the report support the true label. */
  protected isInside(first: bigint): boolean {
    return first < this.insideWords;
  }

  /** How many of the 2^64 first words make the report support the true label. */
  private get insideWords(): bigint {
    this.#insideWords ??= this.trueChance.times(new Fraction(WORDS)).ceil();
    return this.#insideWords;
  }

  /** Throw if words are too coarse; `steps` has the sum of the ranges of each level's words. */
  protected checkSteps(...steps: number[]): void {
    const levelWords = [this.insideWords, WORDS - this.insideWords].filter((words) => words);
    if (levelWords.some((words) => words < LEVEL_WORDS_MIN) || Math.max(...steps) > STEPS_MAX) {
      throw new BudgetError(
        `64-bit words must resolve the probabilities of a draw, got ${this.size} labels at ` +
          `epsilon ${this.share}; use a smaller epsilon or larger zones`,
        { code: "word_precision_exceeded", labels: this.size },
      );
    }
  }
}
