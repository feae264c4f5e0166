/**
 * One text for one value: JSON whose bytes can be hashed (RFC 8785, for what a task holds).
 *
 * Objects, lists, text, whole numbers and booleans, and nothing else. The reader is our own:
 * that of the language forgets repeated names, and takes fractions and null.
 */

import { SchemaError } from "../errors.js";

/** Beyond, numbers round. */
export const INTEGER_MAX = Number.MAX_SAFE_INTEGER;
const DEPTH_MAX = 8;
const SPACE = /[ \t\r\n]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)/y;
/** What other readers of JSON know, and no task may hold. */
const NO_VALUE = /null|NaN|-?Infinity/y;
const NO_WHOLE = /[.eE0-9]/y;
/** Up to the closing quote; control characters are not allowed inside. */
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const HALF_CHARACTER = /\p{Surrogate}/u;

export type Json = string | number | boolean | Json[] | JsonObject;

/** Without a prototype: `__proto__` is a name like any other. */
export interface JsonObject {
  [name: string]: Json;
}

/** The one text of a value; refused if it has a part that has none. */
export function canonicalText(value: Json, depth = DEPTH_MAX): string {
  checkDepth(depth);
  if (typeof value === "string") return JSON.stringify(whole(value));
  if (typeof value === "boolean") return String(value);
  if (typeof value === "number") {
    if (!Number.isSafeInteger(value)) throw strange();
    return String(value + 0);
  }
  if (Array.isArray(value)) {
    return `[${value.map((each) => canonicalText(each, depth - 1)).join(",")}]`;
  }
  if (typeof value !== "object" || value === null) throw strange();
  const members = Object.keys(value)
    .sort() // by UTF-16, as RFC 8785 wants
    .map((name) => `${JSON.stringify(whole(name))}:${canonicalText(value[name]!, depth - 1)}`);
  return `{${members.join(",")}}`;
}

export function canonicalBytes(value: Json): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(canonicalText(value)) as Uint8Array<ArrayBuffer>;
}

/** The object that these bytes are the canonical text of; refused if they are not. */
export function parseCanonical(content: Uint8Array, what: string, most: number): JsonObject {
  const value = parseObject(content, what, most);
  if (!sameBytes(canonicalBytes(value), content)) {
    throw new SchemaError(
      `${what} must be canonical JSON (keys sorted, no spaces), and is written otherwise`,
      { code: "json_not_canonical" },
    );
  }
  return value;
}

/** A JSON object of the same kinds of values, however it is written. */
export function parseObject(content: Uint8Array, what: string, most: number): JsonObject {
  if (content.length > most) {
    throw new SchemaError(`${what} must have at most ${most} bytes, got ${content.length}`, {
      code: "json_too_large",
      limit: most,
      size: content.length,
    });
  }
  const value = new Reader(utf8(content, what, "not_json_object")).whole();
  if (typeof value !== "object" || Array.isArray(value)) {
    throw new SchemaError(
      `${what} must be a JSON object without fractions and with every name once, and is not`,
      { code: "not_json_object" },
    );
  }
  return value;
}

/** Text in UTF-8, a byte order mark being part of it; `code` is what is wrong if it is not. */
export function utf8(content: Uint8Array, what: string, code: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    throw new SchemaError(`${what} must be encoded in UTF-8, and is not`, { code });
  }
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, k) => byte === b[k]);
}

class Reader {
  #at = 0;

  constructor(readonly text: string) {}

  whole(): Json {
    const value = this.#value(DEPTH_MAX);
    this.#match(SPACE);
    if (this.#at !== this.text.length) throw malformed();
    return value;
  }

  #value(depth: number): Json {
    checkDepth(depth);
    this.#match(SPACE);
    const mark = this.text[this.#at];
    if (mark === '"') return this.#string();
    if (mark === "{") return this.#object(depth);
    if (mark === "[") return this.#list(depth);
    for (const [word, value] of [
      ["true", true],
      ["false", false],
    ] as const) {
      if (this.text.startsWith(word, this.#at)) {
        this.#at += word.length;
        return value;
      }
    }
    if (this.#match(NO_VALUE) !== null) throw strange();
    return this.#number();
  }

  #number(): number {
    const digits = this.#match(NUMBER);
    if (digits === null || this.#match(NO_WHOLE) !== null) throw malformed();
    const value = Number(digits) + 0;
    if (!Number.isSafeInteger(value)) throw strange();
    return value;
  }

  #string(): string {
    const written = this.#match(STRING);
    if (written === null) throw malformed();
    return whole(JSON.parse(written) as string);
  }

  #list(depth: number): Json[] {
    const found: Json[] = [];
    this.#at += 1;
    if (this.#next("]")) return found;
    do found.push(this.#value(depth - 1));
    while (this.#goesOn("]"));
    return found;
  }

  #object(depth: number): JsonObject {
    const found = Object.create(null) as JsonObject;
    this.#at += 1;
    if (this.#next("}")) return found;
    do {
      this.#match(SPACE);
      const name = this.#string();
      if (name in found || !this.#next(":")) throw malformed();
      found[name] = this.#value(depth - 1);
    } while (this.#goesOn("}"));
    return found;
  }

  /** Whether another one follows; false at the end of the list or object. */
  #goesOn(closing: string): boolean {
    if (this.#next(",")) return true;
    if (!this.#next(closing)) throw malformed();
    return false;
  }

  #next(mark: string): boolean {
    this.#match(SPACE);
    const found = this.text[this.#at] === mark;
    this.#at += Number(found);
    return found;
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.text);
    if (found !== null) this.#at = pattern.lastIndex;
    return found && found[0];
  }
}

function whole(text: string): string {
  if (HALF_CHARACTER.test(text)) {
    throw new SchemaError("names and text must be of whole characters, and one is not", {
      code: "json_text_malformed",
    });
  }
  return text;
}

function checkDepth(depth: number): void {
  if (depth < 0) {
    throw new SchemaError(`values must be nested at most ${DEPTH_MAX} deep, and are deeper`, {
      code: "json_too_deep",
      limit: DEPTH_MAX,
    });
  }
}

function malformed(): SchemaError {
  return new SchemaError("it must be JSON without fractions and with every name once", {
    code: "not_json_object",
  });
}

function strange(): SchemaError {
  return new SchemaError(
    `values must be text, whole numbers up to ${INTEGER_MAX}, true, false, lists or objects, ` +
      "and one is not",
    { code: "json_value_unsupported" },
  );
}
