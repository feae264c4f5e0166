/**
 * ATLAS: report the number of a journey that is probably near the true one.
 *
 * The whole journey is one secret and gets all of epsilon: a two-level response over a public
 * book of few journeys, which the device is handed. A bad book costs utility, never privacy.
 */

import { DomainError, InvalidArgument } from "./errors.js";
import type { Fraction } from "./fraction.js";
import { checkWhole } from "./laws/law.js";
import { Subset } from "./laws/subset.js";
import { type LocationSet, sha256Hex } from "./locations.js";
import { controlCount, controlPositions, interpolated } from "./long_journeys.js";
import {
  checkedEpsilon,
  type Choose,
  type Journey,
  type Mechanism,
  type Released,
} from "./mechanism.js";

/** Journeys in a book at most. */
export const SIZE_MOST = 1024;
export const LENGTH_MOST = 2 ** 20;

/** A public book of journeys of one length; a report is the number of one of them. */
export class Book {
  readonly length: number;
  readonly #journeys: readonly Int32Array[];

  constructor(
    readonly locations: LocationSet,
    journeys: readonly Journey[],
    /** How many of them count as near to a journey. */
    readonly nearCount: number,
  ) {
    const size = journeys.length;
    this.length = journeys[0]?.length ?? 0;
    const inside = (index: number) =>
      Number.isSafeInteger(index) && index >= 0 && index < locations.size;
    const rows = journeys.map((journey) => Array.from(journey));
    const fits = (row: number[]) => row.length === this.length && row.every(inside);
    if (size < 1 || size > SIZE_MOST || this.length < 1 || !rows.every(fits)) {
      throw new DomainError(
        `a book must hold from 1 to ${SIZE_MOST} journeys of one length in the public set of ` +
          `${locations.size} locations, got ${size} journeys`,
        { code: "codebook_invalid", size: locations.size, codewords: size },
      );
    }
    const distinct = new Set(rows.map(String)).size === size;
    if (!distinct || !Number.isSafeInteger(nearCount) || nearCount < 1 || nearCount > size) {
      throw new DomainError(
        "a book must hold journeys, all different, and from one to all of them count as near, " +
          `got ${nearCount} near of ${size} journeys`,
        { code: "codewords_invalid", nearCount, codewords: size },
      );
    }
    this.#journeys = rows.map((row) => Int32Array.from(row));
  }

  get size(): number {
    return this.#journeys.length;
  }

  /** The journey of this number. */
  journey(number: number): number[] {
    checkWhole("the number of a journey", number, 0, this.size - 1, "codeword_out_of_range");
    return [...this.#journeys[number]!];
  }

  /** Summed distances of all journeys to another one. */
  distancesKm(journey: Journey): Float64Array {
    if (journey.length !== this.length) {
      throw new InvalidArgument(`a journey must have the length of the book, ${this.length}`, {
        code: "length_mismatch",
        length: this.length,
      });
    }
    const total = new Float64Array(this.size);
    for (let k = 0; k < this.length; k += 1) {
      const place = journey[k]!;
      for (let row = 0; row < this.size; row += 1) {
        total[row]! += this.locations.distanceKm(place, this.#journeys[row]![k]!);
      }
    }
    return total;
  }
}

/** The law of a report: heavier for the journeys of a book nearest to the secret. */
export class CodewordResponse extends Subset<Journey> {
  constructor(
    readonly book: Book,
    nearCount: number,
    share: Fraction,
  ) {
    super(book.size, nearCount, share, (journey) => book.distancesKm(journey));
  }
}

export interface WholeJourneyOptions {
  readonly epsilon: string | number | Fraction;
  readonly locations: LocationSet;
  /** One for each length, of those that are reported. */
  readonly books: readonly Book[];
  /** Journeys that count as near; by default what the book says. */
  readonly nearCount?: number;
  /** Longer journeys are reported through so many; by default as `controlCount` says. */
  readonly controlPoints?: number;
}

/** ATLAS: one draw for the whole journey. */
export class Atlas implements Mechanism {
  readonly name = "atlas";
  readonly version = 3;
  readonly timed = false;
  readonly epsilon: Fraction;
  readonly locations: LocationSet;
  readonly #nearCount: number | undefined;
  readonly #controlPoints: number | undefined;
  readonly #laws = new Map<number, CodewordResponse>();

  constructor({ epsilon, locations, books, nearCount, controlPoints }: WholeJourneyOptions) {
    this.epsilon = checkedEpsilon(epsilon);
    this.locations = locations;
    if (nearCount !== undefined)
      checkWhole("nearCount", nearCount, 1, SIZE_MOST, "parameter_out_of_range");
    if (controlPoints !== undefined)
      checkWhole("controlPoints", controlPoints, 2, 256, "parameter_out_of_range");
    this.#nearCount = nearCount;
    this.#controlPoints = controlPoints;
    for (const book of books) {
      const isOurs = book.locations === locations;
      if (!isOurs || this.#laws.has(book.length)) {
        throw new DomainError(
          "there must be one book for each length, each over the mechanism's own locations",
          {
            code: isOurs ? "codebook_length_repeated" : "codebook_of_other_locations",
            length: book.length,
          },
        );
      }
      const near = Math.min(this.#nearCount ?? book.nearCount, book.size);
      this.#laws.set(book.length, new CodewordResponse(book, near, this.epsilon));
    }
  }

  /** Through how many of its points a journey of this length is reported. */
  pointsSeen(length: number): number {
    return Math.min(length, this.#controlPoints ?? controlCount(this.epsilon, length));
  }

  /** The law of the report of a journey of this length; refused if there is no book for it. */
  channel(length: number): CodewordResponse {
    checkWhole("length", length, 1, LENGTH_MOST, "length_out_of_range");
    const seen = this.pointsSeen(length);
    const law = this.#laws.get(seen);
    if (law === undefined) {
      throw new DomainError(
        `there must be a book of journeys of length ${seen}, there are those of ` +
          `${[...this.#laws.keys()].join(", ")}`,
        { code: "codebook_length_missing", length: seen, lengths: [...this.#laws.keys()] },
      );
    }
    return law;
  }

  wordCount(length: number): number {
    return this.channel(length).wordCount;
  }

  perturb(journey: Journey, choose: Choose): Released {
    this.locations.checkJourney(journey);
    const length = journey.length;
    const law = this.channel(length);
    const seen = controlPositions(length, law.book.length).map((k) => journey[k]!);
    const number = choose("journey", law, seen);
    const values = interpolated(this.locations, law.book.journey(number), length);
    return { values, number };
  }
}

/** The hash of all that decides the law of books: what a task pins. Shortest first. */
export async function booksSha256(
  locations: LocationSet,
  epsilon: Fraction,
  books: readonly Book[],
): Promise<string> {
  const said = `nomadp atlas 2\n${await locations.sha256()}\n${epsilon}\n`;
  const parts = [new TextEncoder().encode(said)];
  for (const book of books) {
    const shape = new DataView(new ArrayBuffer(24));
    [book.size, book.length, book.nearCount].forEach((fact, k) =>
      shape.setBigInt64(8 * k, BigInt(fact), true),
    );
    const table = new DataView(new ArrayBuffer(4 * book.size * book.length));
    for (let row = 0; row < book.size; row += 1) {
      book
        .journey(row)
        .forEach((place, k) => table.setInt32(4 * (row * book.length + k), place, true));
    }
    parts.push(new Uint8Array(shape.buffer), new Uint8Array(table.buffer));
  }
  return sha256Hex(parts);
}
