/** Bytes that can be read from their beginning, as often as wanted; and gzip. */

import { ImportRefused } from "./refused.js";

const HEAD_BYTES = 4096;
/** Packed bytes are given to the platform in pieces of this size, of which up to 8 MB can come out. */
const PIECE_BYTES = 8192;
/** So much may come out of anything. */
const ALWAYS_BYTES = 16_000_000;
const MOST_BYTES = 4_000_000_000;
const MOST_TIMES = 200;

export type Chunks = AsyncIterable<Uint8Array>;
/** How many bytes of a file were read. */
export type Progress = (bytes: number) => void;

export interface Source {
  /** Packed, if it is. */
  readonly size: number;
  chunks(): Chunks;
}

export function blobSource(blob: Blob, progress?: Progress): Source {
  return { size: blob.size, chunks: () => streamed(blob.stream(), progress) };
}

/** The first bytes. */
export async function headOf(source: Source): Promise<Uint8Array> {
  const head = new Uint8Array(HEAD_BYTES);
  let size = 0;
  for await (const chunk of source.chunks()) {
    head.set(chunk.subarray(0, HEAD_BYTES - size), size);
    size = Math.min(HEAD_BYTES, size + chunk.length);
    if (size === HEAD_BYTES) break;
  }
  return head.subarray(0, size);
}

export function startsWith(head: Uint8Array, ...bytes: number[]): boolean {
  return bytes.every((byte, k) => head[k] === byte);
}

/** What a gzip file holds; anything else as it is. */
export async function gunzipped(source: Source): Promise<Source> {
  if (!startsWith(await headOf(source), 0x1f, 0x8b)) return source;
  return { size: source.size, chunks: () => unpacked(source, "gzip") };
}

/** What comes out of packed bytes; refused as soon as it is far too much for those that were read. */
export async function* unpacked(
  { size, chunks }: Source,
  format: CompressionFormat | "stored",
): AsyncGenerator<Uint8Array> {
  let [read, written] = [0, 0];
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for await (const chunk of chunks()) {
      for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
        const piece = chunk.subarray(at, at + PIECE_BYTES);
        read += piece.length;
        yield piece;
      }
    }
  }
  for await (const chunk of format === "stored" ? pieces() : inflated(pieces(), format)) {
    written += chunk.length;
    if (written > mostOf(Math.min(read, size))) throw new ImportRefused("bomb");
    yield chunk;
  }
}

/** How much may come out of so many packed bytes. */
export function mostOf(packedBytes: number): number {
  return Math.min(MOST_BYTES, Math.max(ALWAYS_BYTES, MOST_TIMES * packedBytes));
}

/** A piece at a time: the next one goes in when all of the one before came out. */
async function* inflated(
  pieces: Chunks,
  format: CompressionFormat,
): AsyncGenerator<Uint8Array> {
  const { readable, writable } = new DecompressionStream(format);
  void feed(pieces, writable.getWriter() as WritableStreamDefaultWriter<Uint8Array>);
  const reader = readable.getReader() as ReadableStreamDefaultReader<Uint8Array>;
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((error: unknown) => {
        throw error instanceof ImportRefused ? error : new ImportRefused("damaged-archive");
      });
      if (done) return;
      yield value;
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}

/** What fails here fails whoever reads, too. */
async function feed(
  pieces: Chunks,
  writer: WritableStreamDefaultWriter<Uint8Array>,
): Promise<void> {
  try {
    for await (const piece of pieces) await writer.write(piece);
    await writer.close();
  } catch (error) {
    await writer.abort(error).catch(() => undefined);
  }
}

/** Not every browser iterates over streams by itself. */
async function* streamed(
  stream: ReadableStream<Uint8Array>,
  progress?: Progress,
): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  let size = 0;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      size += value.length;
      progress?.(size);
      yield value;
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}
