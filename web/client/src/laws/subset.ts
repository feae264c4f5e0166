/** Two weights by rank: a public number of items, the nearest to the secret, weigh more. */

import { InvalidArgument } from "../errors.js";
import { Fraction } from "../fraction.js";
import { Channel, checkShare, checkWhole, checkWords, heaviest, largestUnit } from "./law.js";

const SIZE_MAX = 2 ** 20;

/**
 * Two weights over `size` items: the `nearCount` items nearest to the secret have the larger one.
 *
 * Their number is the same for every secret. So the sum of the weights is constant, and the privacy
 * loss is the log of the ratio of the two weights. `distances` returns the distance of each item.
 */
export class Subset<Secret> extends Channel<Secret> {
  readonly lightest: bigint;
  readonly heavy: bigint;
  readonly #distances: (secret: Secret) => Float64Array;

  constructor(
    readonly size: number,
    readonly nearCount: number,
    readonly share: Fraction,
    distances: (secret: Secret) => Float64Array,
  ) {
    super();
    checkShare(share);
    checkWhole("size", size, 1, SIZE_MAX, "size_out_of_range");
    checkWhole("nearCount", nearCount, 1, size, "near_count_out_of_range");
    this.#distances = distances;
    this.lightest = largestUnit(size, share);
    this.heavy = heaviest(this.lightest, share);
    // If all items are near, all weights are equal and the draw reveals nothing.
    if (nearCount < size) checkWords(this.lightest, this.total);
  }

  get bound(): Fraction {
    return new Fraction(this.heavy, this.lightest);
  }

  /** The sum of the weights, the same for every secret. */
  get total(): bigint {
    const near = BigInt(this.nearCount);
    return near * this.heavy + (BigInt(this.size) - near) * this.lightest;
  }

  /** Whether each item is one of the `nearCount` nearest; ties are broken by index. */
  near(secret: Secret): boolean[] {
    const distances = this.#distances(secret);
    if (distances.length !== this.size || distances.some(Number.isNaN)) {
      throw new InvalidArgument(`a secret must have a distance to each of ${this.size} items`, {
        code: "distance_count_mismatch",
        size: this.size,
      });
    }
    const order = Array.from(distances.keys());
    order.sort((a, b) => distances[a]! - distances[b]! || a - b);
    const near = new Array<boolean>(this.size).fill(false);
    for (const item of order.slice(0, this.nearCount)) near[item] = true;
    return near;
  }

  weights(secret: Secret): bigint[] {
    return this.near(secret).map((near) => (near ? this.heavy : this.lightest));
  }
}
