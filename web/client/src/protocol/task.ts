/**
 * A task: one collection with fixed public parameters, named by the hash of all of them.
 *
 * The id is the hash, and every report names it. A collector that gave each person a different
 * location set, to tell them apart, would need different ids, and people can compare ids.
 */

import { NomadpError, TaskRefused } from "../errors.js";
import { Fraction } from "../fraction.js";
import { base64url } from "./base64url.js";
import { parseCanonical } from "./canonical.js";
import { TASK_BYTES_MAX } from "./ceilings.js";
import { ATLAS, checkedFacts, type TaskFacts } from "./rules.js";

const TAG = "nomadp task v1";

/** A valid task. Only `Task.fromBytes` creates one. */
export class Task {
  private constructor(
    readonly facts: TaskFacts,
    /** 43 characters: base64url(SHA-256(SHA-256("nomadp task v1") || canonical bytes)). */
    readonly id: string,
    readonly bytes: Uint8Array<ArrayBuffer>,
  ) {
    Object.freeze(facts);
    Object.freeze(this);
  }

  /**
   * Parse and check a task from an untrusted source.
   *
   * @throws TaskRefused if it violates the rules, or if its id is not `expectedId`.
   */
  static async fromBytes(content: Uint8Array, expectedId?: string): Promise<Task> {
    const bytes = Uint8Array.from(content);
    const facts = refusing(() => checkedFacts(parseCanonical(bytes, "a task", TASK_BYTES_MAX)));
    const id = await taskId(bytes);
    if (expectedId !== undefined && id !== expectedId) {
      throw new TaskRefused(
        `the task must be the expected one, ${expectedId.slice(0, 64)}, got ${id}; do not take ` +
          "part in a task that differs from the one that others were given",
        { code: "task_id_mismatch", expected: expectedId.slice(0, 64), taskId: id },
      );
    }
    return new Task(facts, id, bytes);
  }

  /** Whether its mechanism is a frequency oracle. */
  get isOracle(): boolean {
    return this.facts.mechanism !== ATLAS;
  }

  /** The most epsilon that one person can use in this task. */
  get epsilonInAll(): Fraction {
    return this.facts.epsilon.times(new Fraction(this.facts.reportsPerContributor));
  }

  /** A Unix time in milliseconds, in units of the task's precision, rounded down. */
  epoch(unixMs: number): number {
    return Math.floor(unixMs / 1000 / this.facts.timePrecision);
  }
}

async function taskId(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const tag = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(TAG));
  const joined = new Uint8Array(tag.byteLength + bytes.length);
  joined.set(new Uint8Array(tag));
  joined.set(bytes, tag.byteLength);
  return base64url(new Uint8Array(await crypto.subtle.digest("SHA-256", joined)));
}

/** Call a function, and turn its errors into `TaskRefused`. */
export function refusing<Result>(make: () => Result): Result {
  try {
    return make();
  } catch (error) {
    throw asTaskRefused(error);
  }
}

export function asTaskRefused(error: unknown): unknown {
  if (!(error instanceof NomadpError) || error instanceof TaskRefused) return error;
  return new TaskRefused(error.message, { ...error.facts, code: error.code });
}
