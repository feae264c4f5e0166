/**
 * A streaming XML reader, because web workers have none.
 *
 * Refuses document type declarations: no export has one, and their entities could expand without
 * limit or fetch other files.
 */

import { ImportRefused } from "./refused.js";
import type { Chunks } from "./source.js";

const DEEPEST = 100;
const LONGEST = 1 << 24;
const ENTITIES: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };
const ENTITY = /&(?:#([0-9]{1,7})|#x([0-9a-fA-F]{1,6})|([a-zA-Z]+));|&/g;
const TAG =
  /^<(\/?)([\p{L}_:][\p{L}\p{N}_:.\-·]*)((?:\s+[^\s=<>/"']+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>$/u;
const ATTRIBUTE = /([^\s=]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g;
const DOCTYPE = /<!doctype\s+([^\s>[]*)[\s>[]/iy;
const DECLARED = /^<\?xml[^>]*\sencoding\s*=\s*["']([A-Za-z0-9._-]+)["']/;
/** Comments, CDATA sections and processing instructions: how they begin and end. */
const SPANS = [
  ["<!--", "-->"],
  ["<![CDATA[", "]]>"],
  ["<?", "?>"],
] as const;

export type Attributes = ReadonlyMap<string, string>;

/** Calls `start` and `end`, which subclasses override, for every element by its local name. */
export class XmlStream {
  /** The local names of the open elements, outermost first. */
  readonly open: string[] = [];
  #names: string[] = [];
  #rest = "";
  #text: string[] | null = null;
  #hasRoot = false;

  /** Called when an element opens; its parent is the last of `open`. True to collect its text. */
  protected start(_name: string, _attributes: Attributes): boolean {
    return false;
  }

  /** Called when an element closes; its parent is the last of `open`. */
  protected end(_name: string, _text: string): void {}

  /** Parse the chunks, one per step of the generator. */
  async *feed(chunks: Chunks): AsyncGenerator<void> {
    let decoder: TextDecoder | undefined;
    for await (const chunk of chunks) {
      decoder ??= decoderOf(chunk);
      this.#parse(text(decoder, chunk));
      yield;
    }
    this.#parse(decoder === undefined ? "" : text(decoder));
    if (this.#rest.trim() !== "" || this.open.length || !this.#hasRoot) throw malformed();
  }

  #parse(added: string): void {
    const whole = this.#rest + added;
    let at = 0;
    for (;;) {
      const from = whole.indexOf("<", at);
      const end = from < 0 ? -1 : endOfMark(whole, from);
      if (from < 0 || end < 0) break;
      this.#characters(whole.slice(at, from));
      this.#mark(whole.slice(from, end));
      at = end;
    }
    this.#rest = whole.slice(at);
    if (this.#rest.length > LONGEST) throw new ImportRefused("too-large");
  }

  #characters(text: string): void {
    if (this.open.length === 0 && text.trim() !== "") throw malformed();
    const decoded = plain(text); // even if it is not collected: it must be well-formed
    this.#text?.push(decoded);
  }

  #mark(mark: string): void {
    DOCTYPE.lastIndex = 0;
    const kind = DOCTYPE.exec(mark);
    if (kind !== null) {
      throw new ImportRefused(kind[1]!.toLowerCase() === "html" ? "web-page" : "doctype");
    }
    if (mark.startsWith("<![CDATA[")) {
      if (this.open.length === 0) throw malformed();
      this.#text?.push(mark.slice(9, -3));
      return;
    }
    if (mark.startsWith("<!--") || mark.startsWith("<?")) return;
    const [, closing, name, attributes, empty] = TAG.exec(mark) ?? [];
    if (name === undefined || (closing && (attributes || empty))) throw malformed();
    if (closing) this.#close(name);
    else this.#open(name, attributes!);
    if (empty) this.#close(name);
  }

  #open(name: string, attributeText: string): void {
    if (this.open.length === 0 && this.#hasRoot) throw malformed();
    if (this.open.length >= DEEPEST) throw new ImportRefused("too-deep");
    this.#hasRoot = true;
    const attributes = new Map<string, string>();
    for (const [, attribute, double, single] of attributeText.matchAll(ATTRIBUTE)) {
      attributes.set(localOf(attribute!), plain(double ?? single!));
    }
    this.#text = this.start(localOf(name), attributes) ? [] : null;
    this.open.push(localOf(name));
    this.#names.push(name);
  }

  #close(name: string): void {
    if (this.#names.pop() !== name) throw malformed();
    this.open.pop();
    const text = (this.#text ?? []).join("");
    this.#text = null;
    this.end(localOf(name), text);
  }
}

class Root extends XmlStream {
  name: string | null = null;

  protected override start(name: string): boolean {
    this.name ??= name;
    return false;
  }
}

/** The local name of the outermost element. */
export async function rootOf(chunks: Chunks): Promise<string> {
  const root = new Root();
  for await (const _ of root.feed(chunks)) {
    if (root.name !== null) return root.name;
  }
  if (root.name !== null) return root.name;
  throw malformed();
}

/** The index after the tag or span that begins here; -1 if its end was not read yet. */
function endOfMark(text: string, from: number): number {
  const span = SPANS.find(([begins]) => text.startsWith(begins, from));
  if (span !== undefined) {
    const end = text.indexOf(span[1], from + span[0].length);
    return end < 0 ? -1 : end + span[1].length;
  }
  DOCTYPE.lastIndex = from;
  if (DOCTYPE.test(text)) return DOCTYPE.lastIndex;
  let quote = "";
  for (let k = from + 1; k < text.length; k += 1) {
    const mark = text[k]!;
    if (quote) quote = mark === quote ? "" : quote;
    else if (mark === '"' || mark === "'") quote = mark;
    else if (mark === ">") return k + 1;
    else if (mark === "<") throw malformed();
  }
  return -1;
}

/** Text with its entities replaced. */
function plain(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(ENTITY, (_, decimal?: string, hex?: string, name?: string) => {
    const code = decimal === undefined ? parseInt(hex ?? "", 16) : Number(decimal);
    const decoded = name === undefined ? character(code) : ENTITIES[name];
    if (decoded === undefined) throw malformed();
    return decoded;
  });
}

function character(code: number): string | undefined {
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : undefined;
}

function decoderOf(first: Uint8Array): TextDecoder {
  const declared = DECLARED.exec(new TextDecoder("latin1").decode(first.subarray(0, 200)));
  const mark = `${first[0]},${first[1]}`;
  const encoding = mark === "255,254" ? "utf-16le" : mark === "254,255" ? "utf-16be" : "utf-8";
  try {
    return new TextDecoder(encoding === "utf-8" ? (declared?.[1] ?? encoding) : encoding, {
      fatal: true,
    });
  } catch {
    throw malformed();
  }
}

function text(decoder: TextDecoder, chunk?: Uint8Array): string {
  try {
    return decoder.decode(chunk, { stream: chunk !== undefined });
  } catch {
    throw malformed();
  }
}

function localOf(name: string): string {
  return name.slice(name.lastIndexOf(":") + 1);
}

function malformed(): ImportRefused {
  return new ImportRefused("not-xml");
}
