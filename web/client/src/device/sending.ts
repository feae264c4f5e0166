/**
 * Sends the waiting reports: the same bytes again until the collector accepts or refuses them.
 *
 * A reply means accepted, wait or stop, and has no other effect. Each request has one report.
 */

import type { Json, JsonObject } from "../protocol/canonical.js";
import { parseObject } from "../protocol/canonical.js";
import { REPLY_BYTES_MAX } from "../protocol/ceilings.js";
import { systemBytes } from "../randomness.js";
import { nameOf, post, type Reply } from "./http.js";
import type { Ledger, Waiting } from "./ledger.js";

const RETRY_FIRST_S = 0.5;
/** The longest pause, whatever the collector asks for and however many attempts failed. */
export const RETRY_MAX_S = 3600;
const PERMANENT = ["report_replayed", "report_dropped", "task_expired", "invalid_message"];
const TEMPORARY = ["report_too_early", "task_not_started"];
const BUSY = [408, 425, 429];
const TYPE = /^urn:nomadp:error:[a-zA-Z_-]{1,40}$/;

/** What a reply, or a missing reply, means for a report. */
export interface Outcome {
  readonly state: "accepted" | "waiting" | "stopped";
  readonly reason: string;
  readonly retryAfterS: number;
}

/** Called with the body of an upload as it leaves. */
export type Upload = (body: Uint8Array, reportId: string) => void;

/** Send each report, and retry with back-off until the time is up; the rest keep waiting. */
export async function sendWaiting(
  ledger: Ledger,
  waiting: readonly Waiting[],
  patienceMs: number,
  onUpload?: Upload,
): Promise<void> {
  const deadline = performance.now() + patienceMs;
  for (const report of waiting) await send(ledger, report, deadline, onUpload);
}

async function send(
  ledger: Ledger,
  waiting: Waiting,
  deadline: number,
  onUpload?: Upload,
): Promise<void> {
  const { reportId } = waiting;
  for (let attempts = waiting.attempts; ; attempts += 1) {
    onUpload?.(Uint8Array.from(waiting.body), reportId);
    const { state, reason, retryAfterS } = await attempt(waiting);
    if (state === "accepted") return ledger.accept(reportId);
    if (state === "stopped") return ledger.stop(reportId, reason);
    const pauseS = pauseOf(attempts, retryAfterS);
    await ledger.postpone(reportId, reason, Math.ceil(Date.now() / 1000 + pauseS));
    if (performance.now() + pauseS * 1000 > deadline) return;
    await new Promise((resolve) => setTimeout(resolve, pauseS * 1000));
  }
}

async function attempt({ address, taskId, body, reportId }: Waiting): Promise<Outcome> {
  try {
    return outcomeOf(await post(`${address}/tasks/${taskId}/reports`, body), reportId);
  } catch (error) {
    return outcome("waiting", `unreachable (${nameOf(error)})`);
  }
}

/** The outcome of a reply. Of the collector's text, only known codes are repeated. */
export function outcomeOf(reply: Reply, reportId: string): Outcome {
  const { status } = reply;
  if (status >= 200 && status < 300) return outcomeOfUpload(reply, reportId);
  if (status >= 500 || BUSY.includes(status)) {
    return outcome("waiting", `busy (${status})`, Math.min(reply.retryAfterS, RETRY_MAX_S));
  }
  // A redirect is neither followed nor final: it may come from a captive portal, which is gone
  // later. Most never get here, because `fetch` fails at a redirect.
  if (status >= 300 && status < 400) return outcome("waiting", `moved (${status})`);
  const type = objectOf(reply)["type"];
  const isKnown = typeof type === "string" && TYPE.test(type);
  return outcome("stopped", `refused (${isKnown ? type : status})`);
}

function outcomeOfUpload(reply: Reply, reportId: string): Outcome {
  if (reply.content.length === 0 && reply.isWhole) return outcome("accepted", "");
  const failures = objectOf(reply)["failures"];
  const first: Json | undefined = Array.isArray(failures) ? failures[0] : undefined;
  const isOurs = typeof first === "object" && !Array.isArray(first) && first["id"] === reportId;
  if (!isOurs || (failures as Json[]).length !== 1) {
    return outcome("waiting", "the reply cannot be read");
  }
  const error = String((first as JsonObject)["error"]);
  if (TEMPORARY.includes(error)) return outcome("waiting", error);
  return outcome("stopped", PERMANENT.includes(error) ? error : "refused (no known reason)");
}

function objectOf({ content, isWhole }: Reply): JsonObject {
  try {
    return isWhole ? parseObject(content, "a reply", REPLY_BYTES_MAX) : {};
  } catch {
    return {};
  }
}

/** Exponential back-off with jitter, so that devices do not retry at the same moment. */
function pauseOf(attempts: number, atLeastS: number): number {
  const mostS = Math.min(RETRY_MAX_S, RETRY_FIRST_S * 2 ** Math.min(attempts, 20));
  const share = Number(systemBytes(16).getBigUint64(0)) / 2 ** 64;
  return atLeastS + (mostS * (1 + share)) / 2;
}

function outcome(state: Outcome["state"], reason: string, retryAfterS = 0): Outcome {
  return { state, reason, retryAfterS };
}
