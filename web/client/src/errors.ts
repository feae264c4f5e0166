/**
 * What this library refuses, and why. A message says what must hold, what came and what to do;
 * it never holds a location, an index or an hour of a journey.
 */

/** Base of every refusal; `code` is the same as in Python and stable across versions. */
export class NomadpError extends Error {
  readonly code: string = "refused";

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** Something does not fit the public location set, its zones or its book of journeys. */
export class DomainError extends NomadpError {
  override readonly code = "domain";
}

/** An epsilon is out of range, or too much for 64-bit words to keep. */
export class BudgetError extends NomadpError {
  override readonly code = "budget";
}

/** The source of random words failed, so nothing may be released. */
export class RandomnessUnavailable extends NomadpError {
  override readonly code = "randomness";
}

/** Something simulated was given where only what is private may be. */
export class NotPrivateError extends NomadpError {
  override readonly code = "not-private";
}

/** JSON, or a file, is not written as it must be. */
export class SchemaError extends NomadpError {
  override readonly code = "schema";
}

/** A task, or its files, is beyond what any may ask, or not the one that was expected. */
export class TaskRefused extends NomadpError {
  override readonly code = "task";
}

/** A report, or its value, is none that this task takes. */
export class ReportRefused extends NomadpError {
  override readonly code = "report";
}

/** The budget is spent, or the ledger is missing, damaged or not durable. */
export class LedgerRefused extends NomadpError {
  override readonly code = "ledger";
}

/** A collector was not reached, or answered something else than was asked for. */
export class UploadFailed extends NomadpError {
  override readonly code = "upload";

  constructor(
    message: string,
    /** Of its answer, as in HTTP; 0 if it was not reached. */
    readonly status = 0,
  ) {
    super(message);
  }
}
