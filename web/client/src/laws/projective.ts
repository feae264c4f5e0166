/**
 * Projective geometry response: a report is one number, however many labels there are.
 *
 * Restates `nomadp.laws.projective` (Feldman, Nelson, Nguyen and Talwar 2022). Outputs are the
 * points of a projective space over the integers modulo a prime q. A point u supports the label
 * with the digits x1, x2, ... in base q if u0 + x1 u1 + x2 u2 + ... = 0.
 */

import { BudgetError, InvalidArgument } from "../errors.js";
import { Fraction } from "../fraction.js";
import { heaviest, highProduct, UNIT } from "./law.js";
import { LabelLaw, type Levels } from "./labels.js";

/** Reports a point of the projective space with `dimensions` coordinates modulo the prime `order`. */
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
    const hasRoom = dimensions >= 2 && this.#q ** BigInt(dimensions - 1) >= BigInt(size);
    if (!hasRoom || !isPrime(order)) {
      throw new InvalidArgument(
        `a projective space must have a prime order and room for ${size} labels, got ` +
          `order=${order} and dimensions=${dimensions}`,
        { code: "projective_space_unsuitable", size, order, dimensions },
      );
    }
    const points = this.#points(dimensions);
    if (points > BigInt(Number.MAX_SAFE_INTEGER)) {
      throw new BudgetError(
        `a projective space must have fewer than 2^53 points, got ${points}; use the space that ` +
          "bestSpace returns",
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
   * A point that supports the label: one word picks u1, u2, ... as a point of the space with one
   * coordinate less, and the equation gives u0. A point that does not: each of u1, u2, ... takes a
   * word, and u0 makes the left side of the equation 1.
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
    const isPoint = Number.isSafeInteger(point) && point >= 0 && point < this.entrySize;
    return report.length === 1 && isPoint;
  }

  supports(report: readonly number[], label: number): boolean {
    const point = this.coordinates(BigInt(report[0]!), this.dimensions);
    let sum = point[0]!;
    this.digits(label).forEach((digit, k) => (sum += digit * point[k + 1]!));
    return sum % this.#q === 0n;
  }

  /** The digits of a label in base q, the highest digit first. */
  digits(label: number): bigint[] {
    const digits: bigint[] = [];
    let rest = BigInt(label);
    for (let k = 1; k < this.dimensions; k += 1) {
      digits.unshift(rest % this.#q);
      rest /= this.#q;
    }
    return digits;
  }

  /**
   * The point with this number. Its first non-zero coordinate is 1. Points are ordered by how many
   * coordinates follow that 1, and then by these coordinates as a number in base q.
   */
  coordinates(number: bigint, dimensions: number): bigint[] {
    let free = 0;
    while (number >= this.#points(free + 1)) free += 1;
    const point = new Array<bigint>(dimensions).fill(0n);
    point[dimensions - 1 - free] = 1n;
    let rest = number - this.#points(free);
    for (let k = 0; k < free; k += 1) {
      point[dimensions - 1 - k] = rest % this.#q;
      rest /= this.#q;
    }
    return point;
  }

  /** The number of points of a projective space: (q^d - 1) / (q - 1). */
  #points(dimensions: number): bigint {
    return (this.#q ** BigInt(dimensions) - 1n) / (this.#q - 1n);
  }

  /** The inverse of `coordinates`, for any multiple of a point's coordinates. */
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
 * The space with the smallest variance among a few candidates. Their orders are the primes next to
 * e^share + 1 and, for every number of coordinates, the smallest prime with room for the labels.
 */
export function bestSpace(size: number, share: Fraction): ProjectiveResponse {
  const ideal = Number((heaviest(UNIT, share) + UNIT) / UNIT);
  const orders = new Set([prime(ideal, 1), prime(ideal, -1)]);
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

/** The smallest number from 2 on whose power is at least `size`. */
function root(size: number, power: number): number {
  let base = Math.max(2, Math.floor(size ** (1 / power)) - 1);
  while (base ** power < size) base += 1;
  return base;
}

/** The first prime from `start` on, in steps of 1 or -1. */
function prime(start: number, step: number): number {
  let candidate = start;
  while (!isPrime(candidate)) candidate += step;
  return candidate;
}

function isPrime(number: number): boolean {
  if (!Number.isSafeInteger(number) || number < 2) return false;
  for (let k = 2; k * k <= number; k += 1) if (number % k === 0) return false;
  return true;
}

/** The inverse modulo a prime: value^(prime - 2), by Fermat's little theorem. */
function inverse(value: bigint, prime: bigint): bigint {
  let [product, square, power] = [1n, modulo(value, prime), prime - 2n];
  for (; power; power >>= 1n) {
    if (power & 1n) product = (product * square) % prime;
    square = (square * square) % prime;
  }
  return product % prime;
}

function modulo(value: bigint, base: bigint): bigint {
  const rest = value % base;
  return rest < 0n ? rest + base : rest;
}
