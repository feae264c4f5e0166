/**
 * Canonical JSON: one text for each value, whose bytes can be hashed (a subset of RFC 8785).
 *
 * Values are objects, lists, strings, whole numbers and booleans. JSON.parse does not fit: it drops
 * repeated names, and accepts fractions and null.
 */

import { SchemaError } from "../errors.js";

/** Larger numbers are rounded. */
export const INTEGER_MAX = Number.MAX_SAFE_INTEGER;
const DEPTH_MAX = 8;
const SPACE = /[ \t\r\n]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)/y;
/** Values that other JSON readers accept, and a task must not contain. */
const NO_VALUE = /null|NaN|-?Infinity/y;
const NO_WHOLE = /[.eE0-9]/y;
/** Up to the closing quote; control characters are not allowed inside. */
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const LONE_SURROGATE = /\p{Surrogate}/u;

export type Json = string | number | boolean | Json[] | JsonObject;

/** Has no prototype, so that `__proto__` is a name like any other. */
export interface JsonObject {
  [name: string]: Json;
}

/** The canonical text of a value; throws if a part of it is not allowed. */
export function canonicalText(value: Json, depth = DEPTH_MAX): string {
  checkDepth(depth);
  if (typeof value === "string") return JSON.stringify(checkedText(value));
  if (typeof value === "boolean") return String(value);
  if (typeof value === "number") {
    if (!Number.isSafeInteger(value)) throw unsupported();
    return String(value + 0);
  }
  if (Array.isArray(value)) {
    return `[${value.map((item) => canonicalText(item, depth - 1)).join(",")}]`;
  }
  if (typeof value !== "object" || value === null) throw unsupported();
  const members = Object.keys(value)
    .sort() // by UTF-16 code units, as in RFC 8785
    .map(
      (name) =>
        `${JSON.stringify(checkedText(name))}:${canonicalText(value[name]!, depth - 1)}`,
    );
  return `{${members.join(",")}}`;
}

export function canonicalBytes(value: Json): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(canonicalText(value)) as Uint8Array<ArrayBuffer>;
}

/** Parse an object; throws unless the bytes are its canonical text. */
export function parseCanonical(content: Uint8Array, what: string, most: number): JsonObject {
  const value = parseObject(content, what, most);
  if (!sameBytes(canonicalBytes(value), content)) {
    throw new SchemaError(
      `${what} must be canonical JSON (sorted keys, no spaces), but is not`,
      { code: "json_not_canonical" },
    );
  }
  return value;
}

/** Parse an object with the same kinds of values, which need not be canonical. */
export function parseObject(content: Uint8Array, what: string, most: number): JsonObject {
  if (content.length > most) {
    throw new SchemaError(`${what} must have at most ${most} bytes, got ${content.length}`, {
      code: "json_too_large",
      limit: most,
      size: content.length,
    });
  }
  const value = new Reader(utf8(content, what, "not_json_object")).document();
  if (typeof value !== "object" || Array.isArray(value)) {
    throw new SchemaError(
      `${what} must be a JSON object with distinct names and without fractions, but is not`,
      { code: "not_json_object" },
    );
  }
  return value;
}

/** Decode UTF-8, keeping a byte order mark; throws with `code` if it is not UTF-8. */
export function utf8(content: Uint8Array, what: string, code: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    throw new SchemaError(`${what} must be encoded in UTF-8, but is not`, { code });
  }
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, k) => byte === b[k]);
}

class Reader {
  #at = 0;

  constructor(readonly text: string) {}

  document(): Json {
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
    if (this.#match(NO_VALUE) !== null) throw unsupported();
    return this.#number();
  }

  #number(): number {
    const digits = this.#match(NUMBER);
    if (digits === null || this.#match(NO_WHOLE) !== null) throw malformed();
    const value = Number(digits) + 0;
    if (!Number.isSafeInteger(value)) throw unsupported();
    return value;
  }

  #string(): string {
    const quoted = this.#match(STRING);
    if (quoted === null) throw malformed();
    return checkedText(JSON.parse(quoted) as string);
  }

  #list(depth: number): Json[] {
    const items: Json[] = [];
    this.#at += 1;
    if (this.#next("]")) return items;
    do items.push(this.#value(depth - 1));
    while (this.#hasNext("]"));
    return items;
  }

  #object(depth: number): JsonObject {
    const members = Object.create(null) as JsonObject;
    this.#at += 1;
    if (this.#next("}")) return members;
    do {
      this.#match(SPACE);
      const name = this.#string();
      if (name in members || !this.#next(":")) throw malformed();
      members[name] = this.#value(depth - 1);
    } while (this.#hasNext("}"));
    return members;
  }

  /** Consume a comma or the closing bracket; true if it is a comma. */
  #hasNext(closing: string): boolean {
    if (this.#next(",")) return true;
    if (!this.#next(closing)) throw malformed();
    return false;
  }

  /** Consume a character if it is the next one after white space. */
  #next(mark: string): boolean {
    this.#match(SPACE);
    const isNext = this.text[this.#at] === mark;
    this.#at += Number(isNext);
    return isNext;
  }

  #match(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.text);
    if (match !== null) this.#at = pattern.lastIndex;
    return match && match[0];
  }
}

function checkedText(text: string): string {
  if (LONE_SURROGATE.test(text)) {
    throw new SchemaError("names and strings must be valid Unicode, but one is not", {
      code: "json_text_malformed",
    });
  }
  return text;
}

function checkDepth(depth: number): void {
  if (depth < 0) {
    throw new SchemaError(
      `values must be nested at most ${DEPTH_MAX} levels deep, but are deeper`,
      {
        code: "json_too_deep",
        limit: DEPTH_MAX,
      },
    );
  }
}

function malformed(): SchemaError {
  return new SchemaError(
    "the text must be JSON with distinct names and without fractions, but is not",
    {
      code: "not_json_object",
    },
  );
}

function unsupported(): SchemaError {
  return new SchemaError(
    `values must be strings, integers up to ${INTEGER_MAX}, booleans, lists or objects, but one ` +
      "is not",
    { code: "json_value_unsupported" },
  );
}
