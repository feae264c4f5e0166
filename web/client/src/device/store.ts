/** The storage interface of a ledger. Changes of one step are written atomically. */

/**
 * charged: the budget is used, and the report is being made or was lost; waiting: not sent yet;
 * accepted: the collector has it; stopped: the collector refused it.
 */
export type ChargeState = "charged" | "waiting" | "accepted" | "stopped";

export interface AboutRow {
  readonly format: string;
  readonly token: string;
  /** The lifetime privacy budget, as text. */
  readonly lifetime: string;
}

export interface TaskRow {
  readonly id: string;
  readonly purpose: string;
  readonly epsilon: string;
  readonly reports: number;
  readonly address: string;
}

/** A charge and its report. Nothing in it is private: the body was already perturbed. */
export interface ChargeRow {
  readonly reportId: string;
  readonly task: string;
  readonly epsilon: string;
  readonly time: number;
  readonly state: ChargeState;
  readonly body: Uint8Array<ArrayBuffer> | null;
  /** Unix time in seconds. */
  readonly notBefore: number | null;
  readonly attempts: number;
  readonly reason: string | null;
}

/** The whole content of a ledger. */
export interface LedgerState {
  readonly about: AboutRow | null;
  readonly tasks: readonly TaskRow[];
  readonly charges: readonly ChargeRow[];
}

/** The rows that one step writes. */
export interface LedgerChange {
  readonly about?: AboutRow;
  readonly task?: TaskRow;
  /** A new charge; the step fails if its report id exists. */
  readonly added?: ChargeRow;
  readonly changed?: ChargeRow;
}

/** A record outside the ledger that a ledger exists, so that its loss is noticed. */
export interface LedgerMarker {
  /** The token of the ledger; null if there is no marker. */
  read(): string | null;
  write(token: string): void;
}

/** Where a `Ledger` is stored; `openBrowserStore` opens the store of a browser. */
export interface LedgerStore {
  /** Whether data survives a crash. A client refuses a store that is not durable. */
  readonly durable: boolean;
  readonly marker: LedgerMarker;
  /**
   * Pass the state to the step and write the change that it returns. Nobody else writes in
   * between, and the change is on disk when this resolves. If the step throws, nothing is written.
   */
  update<Result>(
    step: (state: LedgerState) => readonly [Result, LedgerChange?],
  ): Promise<Result>;
  close(): void;
}
