/** Bytes that can be read from their beginning, as often as wanted; and gzip. */

import { ImportRefused } from "./refused.js";

const HEAD_BYTES = 4096;
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

/** What comes out of packed bytes, if it is not far too much. */
export async function* unpacked(
  { size, chunks }: Source,
  format: CompressionFormat | "stored",
): AsyncGenerator<Uint8Array> {
  let left = mostOf(size);
  for await (const chunk of format === "stored" ? chunks() : inflated(chunks(), format)) {
    left -= chunk.length;
    if (left < 0) throw new ImportRefused("bomb");
    yield chunk;
  }
}

/** How much may come out of so many packed bytes. */
export function mostOf(packedBytes: number): number {
  return Math.min(MOST_BYTES, Math.max(ALWAYS_BYTES, MOST_TIMES * packedBytes));
}

async function* inflated(
  chunks: Chunks,
  format: CompressionFormat,
): AsyncGenerator<Uint8Array> {
  const reader = readable(chunks)
    .pipeThrough(new DecompressionStream(format) as TransformStream<Uint8Array, Uint8Array>)
    .getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(() => {
        throw new ImportRefused("damaged-archive");
      });
      if (done) return;
      yield value;
    }
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}

function readable(chunks: Chunks): ReadableStream<Uint8Array> {
  const iterator = chunks[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await iterator.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await iterator.return?.();
      },
    },
    { highWaterMark: 1 },
  );
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
