/** A streaming reader of text lines. */

import { decoded } from "./json_stream.js";
import { ImportRefused } from "./refused.js";
import type { Chunks } from "./source.js";

const LONGEST = 1 << 24;

/** The lines without their line ends; a byte order mark is skipped. */
export async function* lines(chunks: Chunks): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let rest = "";
  for await (const chunk of chunks) {
    const parts = (rest + decoded(decoder, chunk)).split("\n");
    rest = parts.pop()!;
    if (rest.length > LONGEST) throw new ImportRefused("too-large");
    for (const line of parts) yield line.replace(/\r$/, "");
  }
  rest += decoded(decoder, undefined);
  if (rest) yield rest.replace(/\r$/, "");
}
