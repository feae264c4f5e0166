/**
 * One request, one reply: without cookies, referrer, cache or redirects.
 *
 * No cache, because a validator that a server chose for one person would be a cookie. What a
 * collector answers is inert and bounded: so many bytes, so many seconds. (A browser sends its
 * own user agent, and no page can stop it.)
 */

import { TaskRefused, UploadFailed } from "../errors.js";
import { REPLY_BYTES_MAX } from "../protocol/ceilings.js";
import { UPLOAD_TYPE } from "../protocol/upload.js";

/** For one request and all of its reply. */
export const REQUEST_MAX_MS = 30_000;
const SECONDS = /^[0-9]{1,9}$/;

/** All that is looked at. */
export interface Reply {
  readonly status: number;
  readonly content: Uint8Array;
  /** False if there was more than is read. */
  readonly isWhole: boolean;
  readonly retryAfterS: number;
}

/** A public file; refused if it is larger, moved or missing. */
export async function get(url: string, most: number): Promise<Uint8Array> {
  let reply: Reply;
  try {
    reply = await asked(url, {}, most);
  } catch (error) {
    throw new UploadFailed(
      `the collector must be reached to join its task, and was not (${nameOf(error)}); try ` +
        "again later",
      { code: "collector_unreachable", reason: nameOf(error) },
    );
  }
  if (reply.status !== 200) {
    throw new UploadFailed(
      `the collector must answer with the task and its files, and answered ${reply.status}`,
      { code: "unexpected_status", status: reply.status },
    );
  }
  if (!reply.isWhole) {
    throw new TaskRefused(
      `a file of a task must have at most ${most} bytes, and one has more`,
      { code: "task_file_too_large", limit: most },
    );
  }
  return reply.content;
}

/** Send a report; rejected if nothing usable came back. */
export function post(url: string, body: Uint8Array<ArrayBuffer>): Promise<Reply> {
  const headers = { "Content-Type": UPLOAD_TYPE };
  return asked(url, { method: "POST", body, headers }, REPLY_BYTES_MAX);
}

async function asked(url: string, request: RequestInit, most: number): Promise<Reply> {
  const response = await fetch(url, {
    ...request,
    // Any language: which ones a person reads is nobody's business here.
    headers: { ...request.headers, Accept: "*/*", "Accept-Language": "*" },
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

/** At most so many; whatever follows is not read. */
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
