/**
 * The files of a zip file, from its central directory; each is decompressed when it is read.
 *
 * File names are ignored, because they may contain private information.
 */

import { ImportRefused } from "./refused.js";
import { blobSource, mostOf, type Progress, type Source, unpacked } from "./source.js";

const END = 0x06054b50;
const END_BYTES = 22;
const COMMENT_MAX = 65_535;
const ENTRY = 0x02014b50;
const ENTRY_BYTES = 46;
const LOCAL = 0x04034b50;
const LOCAL_BYTES = 30;
const LOCKED = 0x1;
const STORED = 0;
const DEFLATED = 8;
const FILES_MAX = 100_000;
/** The placeholder for a number that is in a zip64 record. */
const IN_ZIP64 = 0xffffffff;
const SLASH = 0x2f;

interface Entry {
  readonly method: number;
  readonly isLocked: boolean;
  readonly crc: number;
  readonly packed: number;
  readonly size: number;
  readonly offset: number;
}

/** All files in the order of the archive, without folders. */
export async function zippedFiles(blob: Blob, progress?: Progress): Promise<Source[]> {
  const entries = await listed(blob);
  const size = entries.reduce((sum, entry) => sum + entry.size, 0);
  if (size > mostOf(blob.size) || entries.length > FILES_MAX) throw new ImportRefused("bomb");
  return entries.map((entry) => ({
    size: entry.packed,
    chunks: () => content(blob, entry, progress),
  }));
}

async function listed(blob: Blob): Promise<Entry[]> {
  const { count, size, offset } = await endOf(blob);
  const view = await viewOf(blob, offset, size);
  const entries: Entry[] = [];
  let at = 0;
  for (let k = 0; k < count; k += 1) {
    if (at + ENTRY_BYTES > size || view.getUint32(at, true) !== ENTRY) throw damaged();
    const [name, extra, comment] = [28, 30, 32].map((from) => view.getUint16(at + from, true));
    const entry = {
      isLocked: (view.getUint16(at + 8, true) & LOCKED) !== 0,
      method: view.getUint16(at + 10, true),
      crc: view.getUint32(at + 16, true),
      packed: view.getUint32(at + 20, true),
      size: view.getUint32(at + 24, true),
      offset: view.getUint32(at + 42, true),
    };
    if ([entry.packed, entry.size, entry.offset].includes(IN_ZIP64)) {
      throw new ImportRefused("locked-archive");
    }
    const last = at + ENTRY_BYTES + name! - 1;
    if (last >= size) throw damaged();
    if (!name || view.getUint8(last) !== SLASH) entries.push(entry);
    at += ENTRY_BYTES + name! + extra! + comment!;
  }
  return entries;
}

/** The end of central directory record, which only a comment may follow. */
async function endOf(blob: Blob): Promise<{ count: number; size: number; offset: number }> {
  const from = Math.max(0, blob.size - END_BYTES - COMMENT_MAX);
  const view = await viewOf(blob, from, blob.size - from);
  for (let at = view.byteLength - END_BYTES; at >= 0; at -= 1) {
    if (view.getUint32(at, true) !== END) continue;
    const size = view.getUint32(at + 12, true);
    const offset = view.getUint32(at + 16, true);
    if (offset === IN_ZIP64 || size === IN_ZIP64) throw new ImportRefused("locked-archive");
    if (offset + size > from + at) throw damaged();
    return { count: view.getUint16(at + 10, true), size, offset };
  }
  throw damaged();
}

async function* content(
  blob: Blob,
  entry: Entry,
  progress?: Progress,
): AsyncGenerator<Uint8Array> {
  if (entry.isLocked || ![STORED, DEFLATED].includes(entry.method)) {
    throw new ImportRefused("locked-archive");
  }
  const local = await viewOf(blob, entry.offset, LOCAL_BYTES);
  if (local.getUint32(0, true) !== LOCAL) throw damaged();
  const from =
    entry.offset + LOCAL_BYTES + local.getUint16(26, true) + local.getUint16(28, true);
  const part = blob.slice(from, from + entry.packed);
  if (part.size !== entry.packed) throw damaged();
  const packed = blobSource(part, progress && ((bytes) => progress(entry.offset + bytes)));
  const crc = new Crc32();
  let size = 0;
  for await (const chunk of unpacked(packed, entry.method ? "deflate-raw" : "stored")) {
    crc.add(chunk);
    size += chunk.length;
    if (size > entry.size) throw damaged();
    yield chunk;
  }
  if (size !== entry.size || crc.value !== entry.crc) throw damaged();
}

async function viewOf(blob: Blob, from: number, size: number): Promise<DataView> {
  const part = await blob.slice(from, from + size).arrayBuffer();
  if (part.byteLength !== size) throw damaged();
  return new DataView(part);
}

class Crc32 {
  static readonly #table = Uint32Array.from({ length: 256 }, (_, byte) => {
    let bits = byte;
    for (let k = 0; k < 8; k += 1) bits = bits & 1 ? (bits >>> 1) ^ 0xedb88320 : bits >>> 1;
    return bits;
  });
  #bits = 0xffffffff;

  add(bytes: Uint8Array): void {
    for (const byte of bytes) {
      this.#bits = Crc32.#table[(this.#bits ^ byte) & 0xff]! ^ (this.#bits >>> 8);
    }
  }

  get value(): number {
    return (this.#bits ^ 0xffffffff) >>> 0;
  }
}

function damaged(): ImportRefused {
  return new ImportRefused("damaged-archive");
}
