/**
 * Words that anybody who knows the seed can repeat: for previews, tests and experiments.
 *
 * A module of its own, which no part of the library imports that sends anything. What is drawn
 * with these words is a `SimulatedReport`, and the uploader takes none.
 */

import { InvalidArgument } from "./errors.js";

const WORD_BYTES = 8;

/** The words of a seed: the same ones as Python's `SeededRandom`. */
export class SeededRandom {
  readonly simulated = true;
  readonly #key: Uint8Array<ArrayBuffer>;

  private constructor(key: Uint8Array<ArrayBuffer>) {
    this.#key = key;
  }

  /** Of any whole number. */
  static async ofSeed(seed: number | bigint): Promise<SeededRandom> {
    const said = encoded(`nomadp simulated words v1:${BigInt(seed)}`);
    return new SeededRandom(new Uint8Array(await crypto.subtle.digest("SHA-256", said)));
  }

  /** Of a key of 32 bytes that is known to somebody. */
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

  /** A source of its own for one purpose. */
  async boundTo(purpose: string): Promise<SeededRandom> {
    const how = { name: "HMAC", hash: "SHA-256" };
    const key = await crypto.subtle.importKey("raw", this.#key, how, false, ["sign"]);
    const bound = await crypto.subtle.sign("HMAC", key, encoded(purpose));
    return new SeededRandom(new Uint8Array(bound));
  }

  /** The first `count` words of stream `index`: AES-256-CTR, the index in the upper half. */
  async stream(index: number | bigint, count: number): Promise<SimulatedStream> {
    const counter = new DataView(new ArrayBuffer(16));
    counter.setBigUint64(0, BigInt(index));
    const key = await crypto.subtle.importKey("raw", this.#key, "AES-CTR", false, ["encrypt"]);
    const how = { name: "AES-CTR", counter: counter.buffer, length: 64 };
    const zeros = new Uint8Array(count * WORD_BYTES);
    return new SimulatedStream(new DataView(await crypto.subtle.encrypt(how, key, zeros)));
  }
}

/** A row of words made before, since WebCrypto's cipher has to be waited for. */
export class SimulatedStream {
  readonly simulated = true;
  readonly #block: DataView<ArrayBuffer>;
  #used = 0;

  constructor(block: DataView<ArrayBuffer>) {
    this.#block = block;
  }

  /** The next word; refused where all were taken. */
  next(): bigint {
    if (this.#used + WORD_BYTES > this.#block.byteLength) {
      throw new InvalidArgument(
        `a stream must be made with as many words as are drawn, got ${this.#used / WORD_BYTES}`,
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
