/** Where 64-bit random words come from on a device: the system, through WebCrypto, alone. */

import { RandomnessUnavailable } from "./errors.js";

/** The next uniform 64-bit word of a stream, from 0 to 2^64 - 1. */
export type Word = () => bigint;

/** Enough for most reports; the rest of a block is thrown away. */
const BLOCK_WORDS = 64;
const WORD_BYTES = 8;

/**
 * Fresh words of the system, none ever given twice: what people's trajectories are drawn with.
 *
 * Nothing else is one: its private fields tell it from whatever has the same methods.
 */
export class SystemRandom {
  readonly simulated = false;
  #block = new DataView(new ArrayBuffer(0));
  #used = 0;

  /** Whether this is one, whatever its type claims. */
  static is(words: unknown): words is SystemRandom {
    return typeof words === "object" && words !== null && #block in words;
  }

  /**
   * The next word.
   *
   * @throws RandomnessUnavailable where the system gives none; nothing is released then.
   */
  next(): bigint {
    if (this.#used === this.#block.byteLength) {
      this.#block = systemBytes(BLOCK_WORDS * WORD_BYTES);
      this.#used = 0;
    }
    const word = this.#block.getBigUint64(this.#used, true);
    this.#used += WORD_BYTES;
    return word;
  }
}

/** `count` bytes of the system's randomness, at most 65,536. */
export function systemBytes(count: number): DataView<ArrayBuffer> {
  const block = new Uint8Array(count);
  try {
    globalThis.crypto.getRandomValues(block);
  } catch (error) {
    throw new RandomnessUnavailable(
      "the system's randomness must be available to perturb anything, and it failed; " +
        "nothing was released",
      { code: "randomness_failed", cause: error },
    );
  }
  // Of 16 bytes or more, all are 0 once in 2^128 times, or where nothing was filled in.
  if (count >= 16 && block.every((byte) => byte === 0)) {
    throw new RandomnessUnavailable(
      "the system's randomness must fill what it is given, and left it empty; " +
        "nothing was released",
      { code: "randomness_incomplete" },
    );
  }
  return new DataView(block.buffer);
}
