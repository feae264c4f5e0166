/** Exact rationals: budgets, probabilities and bounds are never floats. */

import { InvalidArgument } from "./errors.js";

function gcd(a: bigint, b: bigint): bigint {
  while (b) [a, b] = [b, a % b];
  return a < 0n ? -a : a;
}

/** A rational number in lowest terms, with a positive denominator. */
export class Fraction {
  readonly numerator: bigint;
  readonly denominator: bigint;

  constructor(numerator: bigint | number, denominator: bigint | number = 1n) {
    const [top, bottom] = [BigInt(numerator), BigInt(denominator)];
    if (bottom === 0n)
      throw new InvalidArgument("a fraction must not be divided by zero", {
        code: "division_by_zero",
      });
    const common = gcd(top, bottom) * (bottom < 0n ? -1n : 1n);
    this.numerator = top / common;
    this.denominator = bottom / common;
    Object.freeze(this);
  }

  plus(other: Fraction): Fraction {
    const { numerator: a, denominator: b } = this;
    const { numerator: c, denominator: d } = other;
    return new Fraction(a * d + c * b, b * d);
  }

  minus(other: Fraction): Fraction {
    return this.plus(new Fraction(-other.numerator, other.denominator));
  }

  times(other: Fraction): Fraction {
    return new Fraction(this.numerator * other.numerator, this.denominator * other.denominator);
  }

  over(other: Fraction): Fraction {
    return new Fraction(this.numerator * other.denominator, this.denominator * other.numerator);
  }

  /** Negative if this is below the other, 0 if they are equal, positive if this is above. */
  compare(other: Fraction): number {
    const difference = this.numerator * other.denominator - other.numerator * this.denominator;
    return difference < 0n ? -1 : Number(difference > 0n);
  }

  floor(): bigint {
    const whole = this.numerator / this.denominator;
    return this.numerator < whole * this.denominator ? whole - 1n : whole;
  }

  ceil(): bigint {
    return -new Fraction(-this.numerator, this.denominator).floor();
  }

  /** The nearest float, for display and estimates only. */
  toNumber(): number {
    return Number(this.numerator) / Number(this.denominator);
  }

  /** The same text as in Python: `4`, `1/2`. */
  toString(): string {
    const isWhole = this.denominator === 1n;
    return isWhole ? `${this.numerator}` : `${this.numerator}/${this.denominator}`;
  }
}
