/**
 * JSON as it streams by: names of an object, elements of an array, one at a time.
 *
 * Only what is asked for becomes a value, and what is skipped is never parsed: its brackets and
 * quotes are counted, no more.
 */

import { ImportRefused } from "./refused.js";
import type { Chunks } from "./source.js";

/** Characters of a single element. */
const LONGEST = 1 << 24;
const SPACE = " \t\r\n";
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = [0x7b, 0x5b];
const CLOSE = [0x7d, 0x5d];
const CONSTANT = /\\.|"|-?\b(?:NaN|Infinity)\b/gs;
const ENDS_PLAIN = /[\s,\]}]/g;

/** A cursor in UTF-8, with or without a byte order mark. */
export class JsonStream {
  readonly #chunks: AsyncIterator<Uint8Array>;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  #text = "";
  #at = 0;
  #ended = false;

  constructor(chunks: Chunks) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** The next character that is no space, left where it is; empty at the end. */
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

  /** The names in the object that comes next; read or skip each one's value in turn. */
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
    } while (await this.#goesOn("}"));
  }

  /** The values in the array that comes next; nothing if it is no array. */
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
    while (await this.#goesOn("]"));
  }

  /** The value that comes next. */
  async value(): Promise<unknown> {
    const { end } = await this.#extent(true);
    const text = this.#text.slice(this.#at, end);
    this.#at = end;
    const found = parsed(text) ?? parsed(withoutConstants(text));
    if (found === undefined) throw new ImportRefused("not-json");
    return found.value;
  }

  /** Pass over the value that comes next without parsing it; whether it held others. */
  async skip(): Promise<boolean> {
    const { end, heldOthers } = await this.#extent(false);
    this.#at = end;
    return heldOthers;
  }

  /** Stop reading. */
  async close(): Promise<void> {
    await this.#chunks.return?.();
  }

  /** Where the value that comes next ends; what is not kept is dropped on the way. */
  async #extent(isKept: boolean): Promise<{ end: number; heldOthers: boolean }> {
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
        const closed = depth === 0 && !inText && !escaped;
        if (closed) return { end: k + 1, heldOthers: marks > 1 };
      }
      if (!isKept) this.#at = k;
      const seen = k - this.#at;
      await this.#grow();
      k = this.#at + seen;
    }
  }

  /** A number, true, false or null. */
  async #plainExtent(): Promise<{ end: number; heldOthers: boolean }> {
    for (;;) {
      ENDS_PLAIN.lastIndex = this.#at;
      const found = ENDS_PLAIN.exec(this.#text);
      if (found !== null) return { end: found.index, heldOthers: false };
      if (this.#text.length - this.#at > LONGEST) throw new ImportRefused("too-large");
      if (!(await this.#more())) return { end: this.#text.length, heldOthers: false };
    }
  }

  /** Whether another one follows. */
  async #goesOn(closing: string): Promise<boolean> {
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

  /** Read on; false where there is no more. */
  async #more(): Promise<boolean> {
    if (this.#ended) return false;
    const { done = false, value } = await this.#chunks.next();
    this.#ended = done;
    this.#text = this.#text.slice(this.#at) + decoded(this.#decoder, value);
    this.#at = 0;
    return true;
  }
}

/** Of what is no JSON nothing, and no cause either, which would quote the file. */
function parsed(text: string): { value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}

/**
 * With null for NaN and Infinity, which JSON does not have: some programs write them for no
 * number. Whether a file has them depends on its values, so they must not refuse it.
 */
function withoutConstants(text: string): string {
  let inText = false;
  return text.replace(CONSTANT, (mark) => {
    if (mark === '"') inText = !inText;
    return inText || mark === '"' || mark.startsWith("\\") ? mark : "null";
  });
}

/** The characters of the next bytes; of what is left, at the end. */
export function decoded(decoder: TextDecoder, chunk: Uint8Array | undefined): string {
  try {
    return decoder.decode(chunk, { stream: chunk !== undefined });
  } catch {
    throw new ImportRefused("not-utf8");
  }
}
