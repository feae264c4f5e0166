/**
 * A streaming JSON reader: the members of an object or the elements of an array, one at a time.
 *
 * Skipped values are never parsed; only their brackets and quotes are counted.
 */

import { ImportRefused } from "./refused.js";
import type { Chunks } from "./source.js";

/** The largest number of characters of a single element. */
const LONGEST = 1 << 24;
const SPACE = " \t\r\n";
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = [0x7b, 0x5b];
const CLOSE = [0x7d, 0x5d];
const CONSTANT = /\\.|"|-?\b(?:NaN|Infinity)\b/gs;
const ENDS_PLAIN = /[\s,\]}]/g;

/** A cursor in UTF-8 text, with or without a byte order mark. */
export class JsonStream {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  #text = "";
  #at = 0;
  #ended = false;

  constructor(chunks: Chunks) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** The next character that is not white space, without consuming it; empty at the end. */
  async peek(): Promise<string> {
    for (;;) {
      while (this.#at < this.#text.length) {
        const mark = this.#text[this.#at]!;
        if (!SPACE.includes(mark)) return mark;
        this.#at += 1;
      }
      if (!(await this.#more())) return "";
    }
  }

  /** The names in the next object. The caller must read or skip the value after each name. */
  async *members(): AsyncGenerator<string> {
    await this.#take("{");
    if ((await this.peek()) === "}") {
      this.#at += 1;
      return;
    }
    do {
      if ((await this.peek()) !== '"') throw new ImportRefused("not-json");
      const name = (await this.value()) as string;
      await this.#take(":");
      yield name;
    } while (await this.#hasNext("}"));
  }

  /** The values in the next array; if the next value is not an array, it is skipped. */
  async *elements(): AsyncGenerator<unknown> {
    if ((await this.peek()) !== "[") {
      await this.skip();
      return;
    }
    this.#at += 1;
    if ((await this.peek()) === "]") {
      this.#at += 1;
      return;
    }
    do yield await this.value();
    while (await this.#hasNext("]"));
  }

  /** Parse the next value. */
  async value(): Promise<unknown> {
    const { end } = await this.#extent(true);
    const text = this.#text.slice(this.#at, end);
    this.#at = end;
    const result = parsed(text) ?? parsed(withoutConstants(text));
    if (result === undefined) throw new ImportRefused("not-json");
    return result.value;
  }

  /** Skip the next value without parsing it; true if it contained other values. */
  async skip(): Promise<boolean> {
    const { end, isNested } = await this.#extent(false);
    this.#at = end;
    return isNested;
  }

  /** Stop reading. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  /** Find the end of the next value. If it is not kept, its text is dropped on the way. */
  async #extent(isKept: boolean): Promise<{ end: number; isNested: boolean }> {
    const first = await this.peek();
    if (!'{["'.includes(first) || first === "") return this.#plainExtent();
    let [depth, marks, inText, escaped, k] = [0, 0, false, false, this.#at];
    for (;;) {
      for (; k < this.#text.length; k += 1) {
        const code = this.#text.charCodeAt(k);
        if (escaped) escaped = false;
        else if (inText) {
          if (code === BACKSLASH) escaped = true;
          else if (code === QUOTE) inText = false;
        } else if (code === QUOTE) {
          inText = true;
          marks += 1;
        } else if (OPEN.includes(code)) {
          depth += 1;
          marks += 1;
        } else if (CLOSE.includes(code)) {
          depth -= 1;
        }
        const isClosed = depth === 0 && !inText && !escaped;
        if (isClosed) return { end: k + 1, isNested: marks > 1 };
      }
      if (!isKept) this.#at = k;
      const seen = k - this.#at;
      await this.#grow();
      k = this.#at + seen;
    }
  }

  /** A number, true, false or null. */
  async #plainExtent(): Promise<{ end: number; isNested: boolean }> {
    for (;;) {
      ENDS_PLAIN.lastIndex = this.#at;
      const match = ENDS_PLAIN.exec(this.#text);
      if (match !== null) return { end: match.index, isNested: false };
      if (this.#text.length - this.#at > LONGEST) throw new ImportRefused("too-large");
      if (!(await this.#more())) return { end: this.#text.length, isNested: false };
    }
  }

  /** Consume a comma or the closing bracket; true if it is a comma. */
  async #hasNext(closing: string): Promise<boolean> {
    const mark = await this.peek();
    if (mark !== "," && mark !== closing) throw new ImportRefused("not-json");
    this.#at += 1;
    return mark === ",";
  }

  async #take(mark: string): Promise<void> {
    if ((await this.peek()) !== mark) throw new ImportRefused("not-json");
    this.#at += 1;
  }

  async #grow(): Promise<void> {
    if (this.#text.length - this.#at > LONGEST) throw new ImportRefused("too-large");
    if (!(await this.#more())) throw new ImportRefused("not-json");
  }

  /** Read the next chunk; false at the end of the file. */
  async #more(): Promise<boolean> {
    if (this.#ended) return false;
    const { done = false, value } = await this.#chunks.next();
    this.#ended = done;
    this.#text = this.#text.slice(this.#at) + decoded(this.#decoder, value);
    this.#at = 0;
    return true;
  }
}

/** The value of JSON text; undefined if it is invalid. The cause is dropped: it quotes the file. */
function parsed(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

/**
 * Replace NaN and Infinity by null. JSON does not have them, but some programs write them for
 * missing numbers. They depend on the values of a file, so they must not make it unreadable.
 */
function withoutConstants(text: string): string {
  let inText = false;
  return text.replace(CONSTANT, (mark) => {
    if (mark === '"') inText = !inText;
    return inText || mark === '"' || mark.startsWith("\\") ? mark : "null";
  });
}

/** The characters of the next bytes; at the end, of the remaining bytes. */
export function decoded(decoder: TextDecoder, chunk: Uint8Array | undefined): string {
  try {
    return decoder.decode(chunk, { stream: chunk !== undefined });
  } catch {
    throw new ImportRefused("not-utf8");
  }
}
