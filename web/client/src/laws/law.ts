/**
 * The interface of a law, and the integer arithmetic with which its privacy loss is proved.
 *
 * Restates `nomadp.laws.channel`; tests/vectors contains the answers that both must give.
 */

import { expLower, MIN_SHARE } from "../budget.js";
import { BudgetError, InvalidArgument } from "../errors.js";
import type { Fraction } from "../fraction.js";
import type { Word } from "../randomness.js";

/** The smallest weight of most laws: rounding down to integers costs less than 2^-24. */
export const UNIT = 1n << 24n;
export const WORDS = 1n << 64n;
const TOTAL_BELOW = 1n << 63n;
/** Ratios of weights stay a factor 1 - 2^-30 below e^share: a margin for rounding to words. */
const MARGIN_BITS = 30n;
/** The largest ratio of the sum of weights to the smallest one; see `nomadp.laws.channel`. */
const TOTAL_RATIO_MAX = 1n << 33n;

/** A randomiser with public parameters: for every secret, a distribution over the same outputs. */
export interface Law<Secret, Output> {
  /** The bound on the privacy loss of a draw: the log of the largest probability ratio. */
  readonly share: Fraction;
  /** The number of words that a draw takes, the same for every secret. */
  readonly wordCount: number;
  draw(secret: Secret, word: Word): Output;
}

/** A law that is drawn with one word; its outputs are 0 to `size` - 1. */
export abstract class Channel<Secret> implements Law<Secret, number> {
  abstract readonly share: Fraction;
  abstract readonly size: number;
  readonly wordCount = 1;

  /** The exact law: an integer weight for each output. */
  abstract weights(secret: Secret): bigint[];

  /** The first output whose cumulative weight exceeds floor(word * total / 2^64). */
  draw(secret: Secret, word: Word): number {
    const weights = this.weights(secret);
    const total = weights.reduce((sum, weight) => sum + weight, 0n);
    const target = highProduct(word(), total);
    let sum = 0n;
    let output = 0;
    // No early exit: the running time must not depend on the output.
    for (const weight of weights) {
      sum += weight;
      output += Number(sum <= target);
    }
    return output;
  }
}

/** floor(word * range / 2^64), which is below `range`. */
export function highProduct(word: bigint, range: bigint): bigint {
  return (word * range) >> 64n;
}

/** The largest integer weight whose ratio to `unit` costs at most `share`. */
export function heaviest(unit: bigint, share: Fraction): bigint {
  const bound = expLower(share);
  const margin = (1n << MARGIN_BITS) - 1n;
  const weight = (unit * bound.numerator * margin) / (bound.denominator << MARGIN_BITS);
  return weight > unit ? weight : unit;
}

/** The largest unit up to `UNIT` for which the sum of `size` heaviest weights fits into 63 bits. */
export function largestUnit(size: number, share: Fraction): bigint {
  let unit = UNIT;
  while (BigInt(size) * heaviest(unit, share) >= TOTAL_BELOW) unit /= 2n;
  return unit;
}

/** Throw if a share is so small that it would not exceed the safety margin of the laws. */
export function checkShare(share: Fraction): void {
  if (share.compare(MIN_SHARE) < 0) {
    throw new BudgetError(
      `the share of a draw must be positive and at least 2^-28, got share=${share}`,
      { code: "share_too_small", share: share.toNumber() },
    );
  }
}

/** Throw if the weights do not add up within 63 bits, or are too fine for 64-bit words. */
export function checkWords(lightest: bigint, total: bigint): void {
  if (total >= TOTAL_BELOW || total > TOTAL_RATIO_MAX * lightest) {
    throw new BudgetError(
      "the weights of a draw must add up to less than 2^63 and to at most 2^33 times the " +
        "smallest weight, so that 64-bit words can resolve them, got a sum of " +
        `${total} and a smallest weight of ${lightest}; use a smaller epsilon, or fewer ` +
        "locations or codewords",
      { code: "word_precision_exceeded" },
    );
  }
}

/** Throw unless a public value is a whole number from `low` to `high`. */
export function checkWhole(
  name: string,
  value: number,
  low: number,
  high: number,
  code: string,
): void {
  if (!Number.isSafeInteger(value) || value < low || value > high) {
    throw new InvalidArgument(
      `${name} must be a whole number from ${low} to ${high}, got ${value}`,
      { code, parameter: name, least: low, most: high },
    );
  }
}
