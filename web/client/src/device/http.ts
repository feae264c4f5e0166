/**
 * One request, one reply: without cookies, referrer, cache or redirects.
 *
 * There is no cache, because a server could use a cache validator as a cookie. Replies are limited
 * in bytes and seconds, and are never executed. (A browser sends its user agent, and no page can
 * prevent that.)
 */

import { TaskRefused, UploadFailed } from "../errors.js";
import { REPLY_BYTES_MAX } from "../protocol/ceilings.js";
import { UPLOAD_TYPE } from "../protocol/upload.js";

/** The time limit of a request and its whole reply. */
export const REQUEST_MAX_MS = 30_000;
const SECONDS = /^[0-9]{1,9}$/;

/** The parts of a reply that are read. */
export interface Reply {
  readonly status: number;
  readonly content: Uint8Array;
  /** False if the reply was longer than the limit. */
  readonly isWhole: boolean;
  readonly retryAfterS: number;
}

/** Fetch a public file of at most `most` bytes; throws if it is larger, moved or missing. */
export async function get(url: string, most: number): Promise<Uint8Array> {
  let reply: Reply;
  try {
    reply = await request(url, {}, most);
  } catch (error) {
    throw new UploadFailed(
      `the collector must be reachable to join its task, but is not (${nameOf(error)}); try ` +
        "again later",
      { code: "collector_unreachable", reason: nameOf(error) },
    );
  }
  if (reply.status !== 200) {
    throw new UploadFailed(
      `the collector must return the task and its files, got status ${reply.status}`,
      { code: "unexpected_status", status: reply.status },
    );
  }
  if (!reply.isWhole) {
    throw new TaskRefused(
      `a file of a task must have at most ${most} bytes, but one is larger`,
      { code: "task_file_too_large", limit: most },
    );
  }
  return reply.content;
}

/** Send a report. The promise is rejected if there is no reply. */
export function post(url: string, body: Uint8Array<ArrayBuffer>): Promise<Reply> {
  const headers = { "Content-Type": UPLOAD_TYPE };
  return request(url, { method: "POST", body, headers }, REPLY_BYTES_MAX);
}

async function request(url: string, init: RequestInit, most: number): Promise<Reply> {
  const response = await fetch(url, {
    ...init,
    // Any language: the browser's own list would help to identify the person.
    headers: { ...init.headers, Accept: "*/*", "Accept-Language": "*" },
    credentials: "omit",
    referrerPolicy: "no-referrer",
    cache: "no-store",
    redirect: "error",
    signal: AbortSignal.timeout(REQUEST_MAX_MS),
  });
  const { content, isWhole } = await firstBytes(response, most);
  const after = response.headers.get("Retry-After") ?? "";
  const retryAfterS = SECONDS.test(after) ? Number(after) : 0;
  return { status: response.status, content, isWhole, retryAfterS };
}

/** Read at most this many bytes of a reply. */
async function firstBytes(
  response: Response,
  most: number,
): Promise<{ content: Uint8Array; isWhole: boolean }> {
  const reader = response.body?.getReader();
  const parts: Uint8Array[] = [];
  let size = 0;
  while (reader !== undefined && size <= most) {
    const { done, value } = await reader.read();
    if (done) break;
    parts.push(value);
    size += value.length;
  }
  if (size > most) void reader?.cancel().catch(() => undefined);
  const content = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    content.set(part, at);
    at += part.length;
  }
  return { content: content.subarray(0, most), isWhole: size <= most };
}

export function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : "unknown";
}
