/** Randomised response, and uniform draws that read no secret. */

import { OutOfRange } from "../errors.js";
import { Fraction } from "../fraction.js";
import { Channel, checkShare, checkWhole, checkWords, heaviest } from "./law.js";

const RESPONSE_UNIT = 1n << 32n;
const SIZE_MAX = 2 ** 31;

/** k-ary randomised response: odds of at most e^share to 1 for the true value against any other. */
export class RandomizedResponse extends Channel<number> {
  readonly #heavy: bigint;

  constructor(
    readonly size: number,
    readonly share: Fraction,
  ) {
    super();
    checkShare(share);
    checkWhole("size", size, 2, SIZE_MAX, "size_out_of_range");
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
 * One of `size` values, all equally likely. It costs nothing, because it reads no secret.
 *
 * Given a *released* number n instead of null, it draws one of the first n values.
 */
export class Uniform extends Channel<number | null> {
  readonly share = new Fraction(0);

  constructor(readonly size: number) {
    super();
    checkWhole("size", size, 1, SIZE_MAX, "size_out_of_range");
  }

  weights(released: number | null): bigint[] {
    const count = released ?? this.size;
    checkWhole("a released number", count, 1, this.size, "count_out_of_range");
    return Array.from({ length: this.size }, (_, k) => (k < count ? 1n : 0n));
  }

  get bound(): Fraction {
    return new Fraction(1);
  }
}
