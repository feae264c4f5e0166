/**
 * Reproducible randomness for previews, tests and experiments.
 *
 * No module that sends anything imports this one. Reports drawn with these words are
 * `SimulatedReport`s, and the upload code rejects those.
 */

import { InvalidArgument } from "./errors.js";

const WORD_BYTES = 8;

/** Random words from a seed or a key: the same words as Python's `SeededRandom`. */
export class SeededRandom {
  readonly simulated = true;
  readonly #key: Uint8Array<ArrayBuffer>;

  private constructor(key: Uint8Array<ArrayBuffer>) {
    this.#key = key;
  }

  /** The source for a seed, which may be any whole number. */
  static async ofSeed(seed: number | bigint): Promise<SeededRandom> {
    const seedText = encoded(`nomadp simulated words v1:${BigInt(seed)}`);
    return new SeededRandom(new Uint8Array(await crypto.subtle.digest("SHA-256", seedText)));
  }

  /** The source for a key of 32 bytes. Whoever knows the key can repeat the words. */
  static ofKey(key: Uint8Array): SeededRandom {
    if (key.length !== 32) {
      throw new InvalidArgument(`a key must have 32 bytes, got ${key.length}`, {
        code: "key_length_invalid",
        length: key.length,
        expected: 32,
      });
    }
    return new SeededRandom(Uint8Array.from(key));
  }

  /** An independent source for one purpose, derived from the key by HMAC-SHA-256. */
  async boundTo(purpose: string): Promise<SeededRandom> {
    const algorithm = { name: "HMAC", hash: "SHA-256" };
    const key = await crypto.subtle.importKey("raw", this.#key, algorithm, false, ["sign"]);
    const bound = await crypto.subtle.sign("HMAC", key, encoded(purpose));
    return new SeededRandom(new Uint8Array(bound));
  }

  /** The first `count` words of stream `index`: AES-256-CTR, the index in the upper half. */
  async stream(index: number | bigint, count: number): Promise<SimulatedStream> {
    const counter = new DataView(new ArrayBuffer(16));
    counter.setBigUint64(0, BigInt(index));
    const key = await crypto.subtle.importKey("raw", this.#key, "AES-CTR", false, ["encrypt"]);
    const algorithm = { name: "AES-CTR", counter: counter.buffer, length: 64 };
    const zeros = new Uint8Array(count * WORD_BYTES);
    return new SimulatedStream(
      new DataView(await crypto.subtle.encrypt(algorithm, key, zeros)),
    );
  }
}

/** Words that were generated in advance, because WebCrypto's cipher is asynchronous. */
export class SimulatedStream {
  readonly simulated = true;
  readonly #block: DataView<ArrayBuffer>;
  #used = 0;

  constructor(block: DataView<ArrayBuffer>) {
    this.#block = block;
  }

  /** The next word; throws if all were used. */
  next(): bigint {
    if (this.#used + WORD_BYTES > this.#block.byteLength) {
      throw new InvalidArgument(
        `a stream must have a word for every draw, got ${this.#used / WORD_BYTES} words`,
        { code: "words_exhausted", words: this.#used / WORD_BYTES },
      );
    }
    const word = this.#block.getBigUint64(this.#used, true);
    this.#used += WORD_BYTES;
    return word;
  }
}

function encoded(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>;
}
