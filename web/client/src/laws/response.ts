/** Randomised response, and the draw that reads no secret at all. */

import { OutOfRange } from "../errors.js";
import { Fraction } from "../fraction.js";
import { Channel, checkShare, checkWhole, checkWords, heaviest } from "./law.js";

const RESPONSE_UNIT = 1n << 32n;
const MOST = 2 ** 31;

/** k-RR: the true value with odds of at most e^share to 1 against each other one. */
export class RandomizedResponse extends Channel<number> {
  readonly #heavy: bigint;

  constructor(
    readonly size: number,
    readonly share: Fraction,
  ) {
    super();
    checkShare(share);
    checkWhole("size", size, 2, MOST, "size_out_of_range");
    this.#heavy = heaviest(RESPONSE_UNIT, share);
    checkWords(RESPONSE_UNIT, this.#heavy + BigInt(size - 1) * RESPONSE_UNIT);
  }

  weights(secret: number): bigint[] {
    if (!Number.isSafeInteger(secret) || secret < 0 || secret >= this.size) {
      throw new OutOfRange(`input must be in [0, ${this.size}); its value is withheld`, {
        code: "input_out_of_range",
        size: this.size,
      });
    }
    return Array.from({ length: this.size }, (_, k) =>
      k === secret ? this.#heavy : RESPONSE_UNIT,
    );
  }

  get bound(): Fraction {
    return new Fraction(this.#heavy, RESPONSE_UNIT);
  }
}

/**
 * One of `size` values with equal chances: costs nothing, because it reads no secret.
 *
 * It may be given a *released* number instead, and is then one of that many first values.
 */
export class Uniform extends Channel<number | null> {
  readonly share = new Fraction(0);

  constructor(readonly size: number) {
    super();
    checkWhole("size", size, 1, MOST, "size_out_of_range");
  }

  weights(released: number | null): bigint[] {
    const first = released ?? this.size;
    checkWhole("a released number", first, 1, this.size, "count_out_of_range");
    return Array.from({ length: this.size }, (_, k) => (k < first ? 1n : 0n));
  }

  get bound(): Fraction {
    return new Fraction(1);
  }
}
