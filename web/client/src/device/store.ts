/** Where a ledger is kept: rows that change together or not at all. */

/**
 * charged: its budget is used, and it is lost unless it is being made now.
 * stopped: refused by a collector.
 */
export type ChargeState = "charged" | "waiting" | "accepted" | "stopped";

export interface AboutRow {
  readonly format: string;
  readonly token: string;
  /** All the epsilon that may ever be used, as text. */
  readonly lifetime: string;
}

export interface TaskRow {
  readonly id: string;
  readonly purpose: string;
  readonly epsilon: string;
  readonly reports: number;
  readonly address: string;
}

/** Nothing private: a body is what was released, and would be sent as it is. */
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

/** All of a ledger. */
export interface LedgerState {
  readonly about: AboutRow | null;
  readonly tasks: readonly TaskRow[];
  readonly charges: readonly ChargeRow[];
}

/** What one step writes. */
export interface LedgerChange {
  readonly about?: AboutRow;
  readonly task?: TaskRow;
  /** A charge that was not there; it fails if one of its id was. */
  readonly added?: ChargeRow;
  readonly changed?: ChargeRow;
}

/** Says, outside the ledger, that one began: it must not be missed if the ledger goes. */
export interface LedgerMarker {
  read(): string | null;
  write(token: string): void;
}

/** What a `Ledger` needs; `openBrowserStore` is the one for a browser. */
export interface LedgerStore {
  /** Whether what is written stays written. A client refuses a store of which it does not. */
  readonly durable: boolean;
  readonly marker: LedgerMarker;
  /**
   * Read everything and write what the step says: nobody else writes between, and it is on disk
   * when this resolves. If the step throws, nothing is written.
   */
  update<Found>(step: (state: LedgerState) => readonly [Found, LedgerChange?]): Promise<Found>;
  close(): void;
}
