/** Byte sources that can be read repeatedly, and decompression with limits. */

import { ImportRefused } from "./refused.js";

const HEAD_BYTES = 4096;
/** Size of the compressed pieces passed to the platform; each can expand to up to 8 MB. */
const PIECE_BYTES = 8192;
/** Any source may expand to this size; beyond, the ratio is limited, too. */
const UNPACKED_ALWAYS = 16_000_000;
const UNPACKED_MAX = 4_000_000_000;
const RATIO_MAX = 200;

export type Chunks = AsyncIterable<Uint8Array>;
/** Called with the number of bytes that were read of a file. */
export type Progress = (bytes: number) => void;

export interface Source {
  /** The number of bytes, compressed if it is. */
  readonly size: number;
  chunks(): Chunks;
}

export function blobSource(blob: Blob, progress?: Progress): Source {
  return { size: blob.size, chunks: () => streamed(blob.stream(), progress) };
}

/** The first bytes of a source. */
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

/** The content of a gzip file; any other source is returned unchanged. */
export async function gunzipped(source: Source): Promise<Source> {
  if (!startsWith(await headOf(source), 0x1f, 0x8b)) return source;
  return { size: source.size, chunks: () => unpacked(source, "gzip") };
}

/** Decompress; throws as soon as the output is far too large for the bytes that were read. */
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

/** The largest allowed output of a number of compressed bytes. */
export function mostOf(packedBytes: number): number {
  return Math.min(UNPACKED_MAX, Math.max(UNPACKED_ALWAYS, RATIO_MAX * packedBytes));
}

/** Decompress one piece at a time, so that at most one piece's output is in memory. */
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

/** Write the pieces; an error also fails the reading side. */
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

/** The chunks of a stream. (Not every browser can iterate over streams directly.) */
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
