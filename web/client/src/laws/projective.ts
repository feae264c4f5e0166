/**
 * Projective response: one number for a report, however many labels there are.
 *
 * Restates `nomadp.laws.projective` (Feldman, Nelson, Nguyen and Talwar 2022). Outputs are the
 * points of a projective space over the integers modulo a prime q. Label x, whose digits to the
 * base q are x1, x2, ..., supports the points u with u0 + x1 u1 + x2 u2 + ... = 0.
 */

import { BudgetError, InvalidArgument } from "../errors.js";
import { Fraction } from "../fraction.js";
import { heaviest, highProduct, UNIT } from "./law.js";
import { LabelLaw, type Levels } from "./labels.js";

/** The points of the space with `dimensions` coordinates modulo the prime `order`. */
export class ProjectiveResponse extends LabelLaw {
  readonly entries = 1;
  readonly entrySize: number;
  readonly wordCount: number;
  readonly levels: Levels;
  readonly #q: bigint;

  constructor(
    size: number,
    readonly order: number,
    readonly dimensions: number,
    share: Fraction,
  ) {
    super(size, share);
    this.#q = BigInt(order);
    const room = dimensions >= 2 && this.#q ** BigInt(dimensions - 1) >= BigInt(size);
    if (!room || !isPrime(order)) {
      throw new InvalidArgument(
        `a space for ${size} labels must have a prime order and room for them, got ` +
          `order=${order} and dimensions=${dimensions}`,
        { code: "projective_space_unsuitable", size, order, dimensions },
      );
    }
    const points = this.#points(dimensions);
    if (points > BigInt(Number.MAX_SAFE_INTEGER)) {
      throw new BudgetError(
        `the points of a space must be numbers below 2^53, got ${points} of them; use the ` +
          "space that bestSpace chooses",
        { code: "projective_space_too_large" },
      );
    }
    this.entrySize = Number(points);
    const inside = this.#points(dimensions - 1);
    this.levels = { inside, outside: points - inside };
    this.wordCount = Math.max(2, dimensions);
    this.checkSteps(Number(inside), order * (dimensions - 1));
  }

  get together(): Fraction {
    return new Fraction(this.#points(this.dimensions - 2), this.levels.inside);
  }

  /**
   * Inside, one word picks u1, u2, ... as a point of a smaller space, and u0 follows. Outside,
   * each of them has a word, and u0 is what makes the equation give 1.
   */
  protected drawn(label: number, words: readonly bigint[]): number[] {
    const q = this.#q;
    const inside = this.isInside(words[0]!);
    const tail = inside
      ? this.coordinates(highProduct(words[1]!, this.levels.inside), this.dimensions - 1)
      : words.slice(1, this.dimensions).map((word) => highProduct(word, q));
    let head = inside ? 0n : 1n;
    this.digits(label).forEach((digit, k) => (head -= digit * tail[k]!));
    return [this.#number([modulo(head, q), ...tail])];
  }

  possible(report: readonly number[]): boolean {
    const [point = -1] = report;
    const known = Number.isSafeInteger(point) && point >= 0 && point < this.entrySize;
    return report.length === 1 && known;
  }

  supports(report: readonly number[], label: number): boolean {
    const point = this.coordinates(BigInt(report[0]!), this.dimensions);
    let rest = point[0]!;
    this.digits(label).forEach((digit, k) => (rest += digit * point[k + 1]!));
    return rest % this.#q === 0n;
  }

  /** A label to the base q, the highest digit first. */
  digits(label: number): bigint[] {
    const found: bigint[] = [];
    let rest = BigInt(label);
    for (let k = 1; k < this.dimensions; k += 1) {
      found.unshift(rest % this.#q);
      rest /= this.#q;
    }
    return found;
  }

  /** The point of a number: those with k digits after their 1 follow all that have fewer. */
  coordinates(number: bigint, dimensions: number): bigint[] {
    let free = 0;
    while (number >= this.#points(free + 1)) free += 1;
    const found = new Array<bigint>(dimensions).fill(0n);
    found[dimensions - 1 - free] = 1n;
    let rest = number - this.#points(free);
    for (let k = 0; k < free; k += 1) {
      found[dimensions - 1 - k] = rest % this.#q;
      rest /= this.#q;
    }
    return found;
  }

  #points(dimensions: number): bigint {
    return (this.#q ** BigInt(dimensions) - 1n) / (this.#q - 1n);
  }

  #number(point: readonly bigint[]): number {
    const lead = point.findIndex((coordinate) => coordinate !== 0n);
    const scale = inverse(point[lead]!, this.#q);
    let number = 0n;
    for (const coordinate of point.slice(lead + 1)) {
      number = number * this.#q + ((coordinate * scale) % this.#q);
    }
    return Number(number + this.#points(this.dimensions - 1 - lead));
  }
}

/**
 * The law of the least variance, of few candidates: the primes next to e^share + 1, and for
 * every number of coordinates the smallest that has room.
 */
export function bestSpace(size: number, share: Fraction): ProjectiveResponse {
  const middle = Number((heaviest(UNIT, share) + UNIT) / UNIT);
  const orders = new Set([prime(middle, 1), prime(middle, -1)]);
  const powers = Math.max(1, size.toString(2).length);
  for (let power = 1; power <= powers; power += 1) orders.add(prime(root(size, power), 1));
  const laws = [...orders]
    .sort((a, b) => a - b)
    .map((order) => new ProjectiveResponse(size, order, dimensionsFor(size, order), share));
  return laws.reduce((best, law) => (law.variance.compare(best.variance) < 0 ? law : best));
}

function dimensionsFor(size: number, order: number): number {
  let needed = 2;
  while (order ** (needed - 1) < size) needed += 1;
  return needed;
}

/** The least number, from 2 on, whose power is not below size. */
function root(size: number, power: number): number {
  let found = Math.max(2, Math.floor(size ** (1 / power)) - 1);
  while (found ** power < size) found += 1;
  return found;
}

function prime(start: number, step: number): number {
  let found = start;
  while (!isPrime(found)) found += step;
  return found;
}

function isPrime(number: number): boolean {
  if (!Number.isSafeInteger(number) || number < 2) return false;
  for (let k = 2; k * k <= number; k += 1) if (number % k === 0) return false;
  return true;
}

/** 1 / value modulo the prime: its power prime - 2, by squaring. */
function inverse(value: bigint, prime: bigint): bigint {
  let [found, square, power] = [1n, modulo(value, prime), prime - 2n];
  for (; power; power >>= 1n) {
    if (power & 1n) found = (found * square) % prime;
    square = (square * square) % prime;
  }
  return found % prime;
}

function modulo(value: bigint, base: bigint): bigint {
  const rest = value % base;
  return rest < 0n ? rest + base : rest;
}
