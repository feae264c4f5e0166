/**
 * What this library refuses, and why. A message says what must hold, what came and what to do;
 * it never holds a location, an index or an hour of a trajectory.
 *
 * Programs read `code` and the facts beside it, not the message, whose wording may change:
 *
 *     new DomainError("... got 3 repeated", { code: "location_ids_repeated", repeated: 3 })
 *
 * What Python refuses, too, has the same code there; docs/reference/errors.md lists those.
 */

/** The values behind a message, by their names: public, as everything that a refusal holds. */
export type Facts = Readonly<Record<string, unknown>>;

/** What a refusal is made with besides its message. */
export interface RefusalOptions {
  /** What is wrong; that of the class, if left out. */
  readonly code?: string;
  readonly cause?: unknown;
  readonly [fact: string]: unknown;
}

/** Base of every refusal. */
export class NomadpError extends Error {
  static readonly kind: string = "refused";
  /** The code of its class. */
  readonly kind: string;
  /** What was refused: the same as in Python, and stable across versions. */
  readonly code: string;
  readonly facts: Facts;

  constructor(message: string, { code, cause, ...facts }: RefusalOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.kind = new.target.kind;
    this.code = code ?? this.kind;
    this.facts = Object.freeze(facts);
  }
}

/** Something does not fit the public location set, its zones or its codebook. */
export class DomainError extends NomadpError {
  static override readonly kind = "domain";
}

/** An epsilon is out of range, or too much for 64-bit words to keep. */
export class BudgetError extends NomadpError {
  static override readonly kind = "budget";
}

/** The source of random words failed, so nothing may be released. */
export class RandomnessUnavailable extends NomadpError {
  static override readonly kind = "randomness";
}

/** Something simulated was given where only what is private may be. */
export class NotPrivateError extends NomadpError {
  static override readonly kind = "not_private";
}

/** JSON, or a file, is not written as it must be. */
export class SchemaError extends NomadpError {
  static override readonly kind = "schema";
}

/** A task, or its files, is beyond what any may ask, or not the one that was expected. */
export class TaskRefused extends NomadpError {
  static override readonly kind = "task";
}

/** A report, or its value, is none that this task takes. */
export class ReportRefused extends NomadpError {
  static override readonly kind = "report";
}

/** The budget is used up, or the ledger is missing, damaged or not durable. */
export class LedgerRefused extends NomadpError {
  static override readonly kind = "ledger";
}

/** A collector was not reached, or sent an unexpected answer. */
export class UploadFailed extends NomadpError {
  static override readonly kind = "upload";
  /** Of its answer, as in HTTP; 0 if it was not reached. */
  readonly status: number;

  constructor(message: string, options: RefusalOptions & { readonly status?: number } = {}) {
    super(message, options);
    this.status = options.status ?? 0;
  }
}

/** An argument of a function has a value that it must not have. */
export class InvalidArgument extends NomadpError {
  static override readonly kind = "argument";
}

/** An index is outside what it points into; a private one is not quoted. */
export class OutOfRange extends NomadpError {
  static override readonly kind = "index";
}
