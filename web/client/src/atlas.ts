/**
 * ATLAS: report a codeword, a public trajectory that is probably near the true one.
 *
 * The whole trajectory is one secret and gets all of epsilon: a two-level response over a small
 * public codebook. A badly chosen codebook costs utility, never privacy.
 */

import { DomainError, InvalidArgument } from "./errors.js";
import type { Fraction } from "./fraction.js";
import { checkWhole } from "./laws/law.js";
import { Subset } from "./laws/subset.js";
import { type LocationSet, sha256Hex } from "./locations.js";
import { controlCount, controlPositions, interpolated } from "./long_trajectories.js";
import {
  checkedEpsilon,
  type Choose,
  type Trajectory,
  type Mechanism,
  type Released,
} from "./mechanism.js";

/** The largest number of codewords in a codebook. */
export const SIZE_MOST = 1024;
export const LENGTH_MOST = 2 ** 20;

/** The codewords: public trajectories of one length. A report is the index of one of them. */
export class Codebook {
  readonly length: number;
  readonly #codewords: readonly Int32Array[];

  constructor(
    readonly locations: LocationSet,
    codewords: readonly Trajectory[],
    /** How many codewords count as near to a trajectory. */
    readonly nearCount: number,
  ) {
    const size = codewords.length;
    this.length = codewords[0]?.length ?? 0;
    const isKnown = (index: number) =>
      Number.isSafeInteger(index) && index >= 0 && index < locations.size;
    const rows = codewords.map((codeword) => Array.from(codeword));
    const fits = (row: number[]) => row.length === this.length && row.every(isKnown);
    if (size < 1 || size > SIZE_MOST || this.length < 1 || !rows.every(fits)) {
      throw new DomainError(
        `a codebook must have 1 to ${SIZE_MOST} codewords of one length, over the ` +
          `${locations.size} public locations, got ${size} codewords`,
        { code: "codebook_invalid", size: locations.size, codewords: size },
      );
    }
    const distinct = new Set(rows.map(String)).size === size;
    if (!distinct || !Number.isSafeInteger(nearCount) || nearCount < 1 || nearCount > size) {
      throw new DomainError(
        "a codebook must have distinct codewords, and nearCount must be from 1 to their number, " +
          `got nearCount=${nearCount} of ${size}`,
        { code: "codewords_invalid", nearCount, codewords: size },
      );
    }
    this.#codewords = rows.map((row) => Int32Array.from(row));
  }

  get size(): number {
    return this.#codewords.length;
  }

  /** The codeword with this index. */
  codeword(number: number): number[] {
    checkWhole("the index of a codeword", number, 0, this.size - 1, "codeword_out_of_range");
    return [...this.#codewords[number]!];
  }

  /** The distance from each codeword to a trajectory, summed over the points. */
  distancesKm(trajectory: Trajectory): Float64Array {
    if (trajectory.length !== this.length) {
      throw new InvalidArgument(
        `a trajectory must have the length of the codebook, ${this.length}`,
        {
          code: "length_mismatch",
          length: this.length,
        },
      );
    }
    const total = new Float64Array(this.size);
    for (let k = 0; k < this.length; k += 1) {
      const location = trajectory[k]!;
      for (let row = 0; row < this.size; row += 1) {
        total[row]! += this.locations.distanceKm(location, this.#codewords[row]![k]!);
      }
    }
    return total;
  }
}

/** The law of a report: the codewords nearest to the true trajectory have the larger weight. */
export class CodewordResponse extends Subset<Trajectory> {
  constructor(
    readonly codebook: Codebook,
    nearCount: number,
    share: Fraction,
  ) {
    super(codebook.size, nearCount, share, (trajectory) => codebook.distancesKm(trajectory));
  }
}

/** The parameters of `Atlas`. */
export interface AtlasOptions {
  readonly epsilon: string | number | Fraction;
  readonly locations: LocationSet;
  /** One codebook for each length that can be reported. */
  readonly codebooks: readonly Codebook[];
  /** How many codewords count as near (default: the codebook's value). */
  readonly nearCount?: number;
  /** How many points of a longer trajectory are used (default: `controlCount`). */
  readonly controlPoints?: number;
}

/** The ATLAS mechanism: one draw for the whole trajectory. */
export class Atlas implements Mechanism {
  readonly name = "atlas";
  readonly version = 3;
  readonly timed = false;
  readonly epsilon: Fraction;
  readonly locations: LocationSet;
  readonly #nearCount: number | undefined;
  readonly #controlPoints: number | undefined;
  readonly #laws = new Map<number, CodewordResponse>();

  constructor({ epsilon, locations, codebooks, nearCount, controlPoints }: AtlasOptions) {
    this.epsilon = checkedEpsilon(epsilon);
    this.locations = locations;
    if (nearCount !== undefined)
      checkWhole("nearCount", nearCount, 1, SIZE_MOST, "parameter_out_of_range");
    if (controlPoints !== undefined)
      checkWhole("controlPoints", controlPoints, 2, 256, "parameter_out_of_range");
    this.#nearCount = nearCount;
    this.#controlPoints = controlPoints;
    for (const codebook of codebooks) {
      const isOurs = codebook.locations === locations;
      if (!isOurs || this.#laws.has(codebook.length)) {
        throw new DomainError(
          "there must be one codebook for each length, over the locations of the mechanism",
          {
            code: isOurs ? "codebook_length_repeated" : "codebook_of_other_locations",
            length: codebook.length,
          },
        );
      }
      const near = Math.min(this.#nearCount ?? codebook.nearCount, codebook.size);
      this.#laws.set(codebook.length, new CodewordResponse(codebook, near, this.epsilon));
    }
  }

  /** The number of control points: points of a trajectory of this length that affect the report. */
  pointsSeen(length: number): number {
    return Math.min(length, this.#controlPoints ?? controlCount(this.epsilon, length));
  }

  /**
   * The law of a report of a trajectory of this length.
   *
   * @throws DomainError if no codebook fits this length.
   */
  channel(length: number): CodewordResponse {
    checkWhole("length", length, 1, LENGTH_MOST, "length_out_of_range");
    const points = this.pointsSeen(length);
    const law = this.#laws.get(points);
    if (law === undefined) {
      throw new DomainError(
        `there must be a codebook of length ${points}, got codebooks of length ` +
          `${[...this.#laws.keys()].join(", ")}`,
        { code: "codebook_length_missing", length: points, lengths: [...this.#laws.keys()] },
      );
    }
    return law;
  }

  wordCount(length: number): number {
    return this.channel(length).wordCount;
  }

  perturb(trajectory: Trajectory, choose: Choose): Released {
    this.locations.checkTrajectory(trajectory);
    const length = trajectory.length;
    const law = this.channel(length);
    const control = controlPositions(length, law.codebook.length).map((k) => trajectory[k]!);
    const number = choose("journey", law, control);
    const values = interpolated(this.locations, law.codebook.codeword(number), length);
    return { values, number };
  }
}

/** The hash in a task, of everything that defines the law. Pass the shortest codebook first. */
export async function codebooksSha256(
  locations: LocationSet,
  epsilon: Fraction,
  codebooks: readonly Codebook[],
): Promise<string> {
  const header = `nomadp atlas 2\n${await locations.sha256()}\n${epsilon}\n`;
  const parts = [new TextEncoder().encode(header)];
  for (const codebook of codebooks) {
    // Three 64-bit integers and a table of 32-bit integers, little-endian, as Python hashes them.
    const shape = new DataView(new ArrayBuffer(24));
    [codebook.size, codebook.length, codebook.nearCount].forEach((size, k) =>
      shape.setBigInt64(8 * k, BigInt(size), true),
    );
    const table = new DataView(new ArrayBuffer(4 * codebook.size * codebook.length));
    for (let row = 0; row < codebook.size; row += 1) {
      codebook
        .codeword(row)
        .forEach((location, k) =>
          table.setInt32(4 * (row * codebook.length + k), location, true),
        );
    }
    parts.push(new Uint8Array(shape.buffer), new Uint8Array(table.buffer));
  }
  return sha256Hex(parts);
}
