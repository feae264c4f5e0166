/**
 * What every law is, and the arithmetic that leaves no gap between proof and program.
 *
 * Restates `nomadp.laws.channel`; tests/vectors holds the answers both must give.
 */

import { expLower, MIN_SHARE } from "../budget.js";
import { BudgetError, InvalidArgument } from "../errors.js";
import type { Fraction } from "../fraction.js";
import type { Word } from "../randomness.js";

/** The smallest weight of most laws: truncating to integers costs less than 2^-24. */
export const UNIT = 1n << 24n;
export const WORDS = 1n << 64n;
const TOTAL_BELOW = 1n << 63n;
/** The laws stay a factor 1 - 2^-30 inside their bound, so equality is never argued. */
const GIVEN_AWAY_BITS = 30n;
/** How often a total may hold the lightest weight; see `nomadp.laws.channel`. */
const ROOM = 1n << 33n;

/** A public randomiser: for every secret, a law over the same outputs. */
export interface Law<Secret, Output> {
  /** What one draw may cost: the logarithm of the largest ratio between two secrets. */
  readonly share: Fraction;
  /** How many words a draw takes, whatever the secret. */
  readonly wordCount: number;
  draw(secret: Secret, word: Word): Output;
}

/** A law drawn by one word, whose outputs are 0, 1, 2, ... below `size`. */
export abstract class Channel<Secret> implements Law<Secret, number> {
  abstract readonly share: Fraction;
  abstract readonly size: number;
  readonly wordCount = 1;

  /** The exact law: a weight for each output. */
  abstract weights(secret: Secret): bigint[];

  /** The first output whose cumulated weights exceed floor(word * total / 2^64). */
  draw(secret: Secret, word: Word): number {
    const weights = this.weights(secret);
    const total = weights.reduce((sum, weight) => sum + weight, 0n);
    const target = highProduct(word(), total);
    let sum = 0n;
    let output = 0;
    // Every weight is looked at, wherever the output is.
    for (const weight of weights) {
      sum += weight;
      output += Number(sum <= target);
    }
    return output;
  }
}

/** floor(word * range / 2^64): a number below `range`. */
export function highProduct(word: bigint, range: bigint): bigint {
  return (word * range) >> 64n;
}

/** The largest integer weight that may stand against `unit` at a cost of `share`. */
export function heaviest(unit: bigint, share: Fraction): bigint {
  const bound = expLower(share);
  const given = (1n << GIVEN_AWAY_BITS) - 1n;
  const weight = (unit * bound.numerator * given) / (bound.denominator << GIVEN_AWAY_BITS);
  return weight > unit ? weight : unit;
}

/** The largest unit up to `UNIT` with which `size` heaviest weights add up in 63 bits. */
export function largestUnit(size: number, share: Fraction): bigint {
  let unit = UNIT;
  while (BigInt(size) * heaviest(unit, share) >= TOTAL_BELOW) unit /= 2n;
  return unit;
}

/** Refuse a share so small that what the laws give away would exceed it. */
export function checkShare(share: Fraction): void {
  if (share.compare(MIN_SHARE) < 0) {
    throw new BudgetError(
      `the share of a draw must be positive and at least 2^-28, got share=${share}`,
      { code: "share_too_small", share: share.toNumber() },
    );
  }
}

/** Refuse weights that 63 bits cannot add up, or that 64-bit words cannot keep apart. */
export function checkWords(lightest: bigint, total: bigint): void {
  if (total >= TOTAL_BELOW || total > ROOM * lightest) {
    throw new BudgetError(
      "the weights of a draw must add up to less than 2^63 and to at most 2^33 times the " +
        `lightest, or 64-bit words cannot keep its share; got ${total} and ${lightest}: use ` +
        "a smaller epsilon, or fewer locations or trajectories",
      { code: "word_precision_exceeded" },
    );
  }
}

/** Refuse what is no whole number from `low` to `high`; it must be public. */
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
