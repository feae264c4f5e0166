/** The only source of random 64-bit words on a device: the system, through WebCrypto. */

import { RandomnessUnavailable } from "./errors.js";

/** Returns the next uniform 64-bit word of a stream, from 0 to 2^64 - 1. */
export type Word = () => bigint;

/** Enough for most reports; the unused words of a block are discarded. */
const BLOCK_WORDS = 64;
const WORD_BYTES = 8;

/**
 * The system's randomness, for reports of real trajectories. No word is returned twice.
 *
 * `SystemRandom.is` checks a private field, so no other object passes for one.
 */
export class SystemRandom {
  readonly simulated = false;
  #block = new DataView(new ArrayBuffer(0));
  #used = 0;

  /** Whether a value is a `SystemRandom`, whatever its type claims. */
  static is(source: unknown): source is SystemRandom {
    return typeof source === "object" && source !== null && #block in source;
  }

  /**
   * The next word.
   *
   * @throws RandomnessUnavailable if the system provides none; nothing is released then.
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

/** `count` random bytes from the system, at most 65,536. */
export function systemBytes(count: number): DataView<ArrayBuffer> {
  const block = new Uint8Array(count);
  try {
    globalThis.crypto.getRandomValues(block);
  } catch (error) {
    throw new RandomnessUnavailable(
      "the system's randomness must be available to perturb anything, got an error from the " +
        "system; nothing was released",
      { code: "randomness_failed", cause: error },
    );
  }
  // 16 or more bytes that are all 0 have a probability of at most 2^-128: the block was not
  // filled.
  if (count >= 16 && block.every((byte) => byte === 0)) {
    throw new RandomnessUnavailable(
      "the system's randomness must fill the block of bytes, and left it empty; " +
        "nothing was released",
      { code: "randomness_incomplete" },
    );
  }
  return new DataView(block.buffer);
}
