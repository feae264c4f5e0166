/**
 * Everything that this library throws. A message states the requirement, the value it got and
 * what to do. It never contains a location, an index or an hour of a trajectory.
 *
 * Programs should read `code` and `facts`, not the message, whose wording may change:
 *
 *     new DomainError("... got 3 repeated", { code: "location_ids_repeated", repeated: 3 })
 *
 * Errors that Python raises, too, have the same code there; docs/reference/errors.md lists them.
 */

/** The values in a message, by name. Like everything in an error, they are public. */
export type Facts = Readonly<Record<string, unknown>>;

/** The options of an error's constructor. All other members become `facts`. */
export interface RefusalOptions {
  /** The error code (default: the kind of the class). */
  readonly code?: string;
  readonly cause?: unknown;
  readonly [fact: string]: unknown;
}

/** Base class of every error. */
export class NomadpError extends Error {
  static readonly kind: string = "refused";
  /** The code of the error's class. */
  readonly kind: string;
  /** A stable code for what went wrong, the same as in Python. */
  readonly code: string;
  /** The values in the message. */
  readonly facts: Facts;

  constructor(message: string, { code, cause, ...facts }: RefusalOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.kind = new.target.kind;
    this.code = code ?? this.kind;
    this.facts = Object.freeze(facts);
  }
}

/** A value does not fit the public location set, its zones or its codebook. */
export class DomainError extends NomadpError {
  static override readonly kind = "domain";
}

/** An epsilon is out of range, or too large for the precision of 64-bit words. */
export class BudgetError extends NomadpError {
  static override readonly kind = "budget";
}

/** The random source failed, so nothing was released. */
export class RandomnessUnavailable extends NomadpError {
  static override readonly kind = "randomness";
}

/** A simulated value was passed where only a private report is allowed. */
export class NotPrivateError extends NomadpError {
  static override readonly kind = "not_private";
}

/** JSON or a file is malformed. */
export class SchemaError extends NomadpError {
  static override readonly kind = "schema";
}

/** A task violates the rules, or its files or its id are not the expected ones. */
export class TaskRefused extends NomadpError {
  static override readonly kind = "task";
}

/** The task does not accept this report or its value. */
export class ReportRefused extends NomadpError {
  static override readonly kind = "report";
}

/** The budget is used up, or the ledger is missing, damaged or not durable. */
export class LedgerRefused extends NomadpError {
  static override readonly kind = "ledger";
}

/** A collector could not be reached, or sent an unexpected reply. */
export class UploadFailed extends NomadpError {
  static override readonly kind = "upload";
  /** The HTTP status of the reply; 0 if the collector was not reached. */
  readonly status: number;

  constructor(message: string, options: RefusalOptions & { readonly status?: number } = {}) {
    super(message, options);
    this.status = options.status ?? 0;
  }
}

/** An argument of a function is invalid. */
export class InvalidArgument extends NomadpError {
  static override readonly kind = "argument";
}

/** An index is out of range. If it is private, the message does not contain it. */
export class OutOfRange extends NomadpError {
  static override readonly kind = "index";
}
