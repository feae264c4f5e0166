/** Epsilon as an exact rational: 0.1 means one tenth. e^epsilon is bounded from below. */

import { BudgetError, InvalidArgument } from "./errors.js";
import { Fraction } from "./fraction.js";

/** The largest epsilon. A larger one exceeds the 64-bit weights, and would protect nobody. */
export const MAX_EPSILON = 20;
/** The smallest epsilon. */
export const MIN_EPSILON = new Fraction(1, 10 ** 6);
/** The smallest cost of a single draw: the safety margin of the laws, 2^-30, must stay below it. */
export const MIN_SHARE = new Fraction(1, 2 ** 28);

const DECIMALS_MAX = 30;
const TEXT_MAX = 80;
const NUMBER = /^[-+]?(?:(\d+)\/(\d+)|(\d+\.?\d*|\.\d+)(?:e([-+]?\d{1,4}))?)$/i;
/** Fixed-point precision of `expLower`: far finer than the safety margin of the laws, 2^-30. */
export const EXP_BITS = 160n;

/**
 * The epsilon of a whole trajectory, exactly: the number 0.1 and the text "0.1" mean one tenth.
 *
 * @throws BudgetError unless it is above 0 and at most 20.
 */
export function asEpsilon(value: string | number | Fraction): Fraction {
  const epsilon = asFraction(value);
  if (
    epsilon === null ||
    epsilon.numerator <= 0n ||
    epsilon.compare(new Fraction(MAX_EPSILON)) > 0
  ) {
    throw new BudgetError(
      `epsilon must be a number above 0 and at most ${MAX_EPSILON}, got epsilon=${shown(value)}`,
      { code: "epsilon_out_of_range", most: MAX_EPSILON },
    );
  }
  if (epsilon.denominator > 10n ** BigInt(DECIMALS_MAX)) {
    throw new BudgetError(
      `epsilon must have at most ${DECIMALS_MAX} decimals, got epsilon=${shown(value)}`,
      { code: "epsilon_too_precise", decimals: DECIMALS_MAX },
    );
  }
  return epsilon;
}

/** The exact number that a decimal or a fraction denotes; null if it is not a number. */
export function asFraction(value: string | number | Fraction): Fraction | null {
  if (value instanceof Fraction) return value;
  if (typeof value !== "string" && typeof value !== "number") return null;
  const text = String(value).trim();
  const match = text.length > TEXT_MAX ? null : NUMBER.exec(text);
  if (match === null) return null;
  const sign = text.startsWith("-") ? -1n : 1n;
  const [, over, under, decimal, exponent] = match;
  if (over !== undefined && under !== undefined) {
    return BigInt(under) === 0n ? null : new Fraction(sign * BigInt(over), BigInt(under));
  }
  const [whole = "", rest = ""] = (decimal ?? "").split(".");
  const shift = Number(exponent ?? 0) - rest.length;
  const digits = sign * BigInt(whole + rest);
  const power = 10n ** BigInt(Math.abs(shift));
  return shift < 0 ? new Fraction(digits, power) : new Fraction(digits * power);
}

/** A rational lower bound of e^x for x >= 0, within a relative 2^-150. */
export function expLower(x: Fraction): Fraction {
  if (x.numerator < 0n)
    throw new InvalidArgument(`expLower needs x >= 0, got x=${x}`, {
      code: "exponent_negative",
    });
  let term = 1n << EXP_BITS;
  let total = term;
  // The exponential series: its terms are positive and each division rounds down, so the sum is
  // a lower bound.
  for (let k = 1n; term; k += 1n) {
    term = (term * x.numerator) / (x.denominator * k);
    total += term;
  }
  return new Fraction(total, 1n << EXP_BITS);
}

function shown(value: unknown): string {
  const text = String(value);
  return text.length <= TEXT_MAX ? text : `${text.slice(0, TEXT_MAX)}...`;
}
