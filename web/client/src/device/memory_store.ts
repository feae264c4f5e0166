/**
 * A store in memory, for tests. It forgets the used budget, so the budget could be used again.
 *
 * It is not durable, and a client only accepts it with `isTest`.
 */

import { LedgerRefused } from "../errors.js";
import type {
  ChargeRow,
  LedgerChange,
  LedgerMarker,
  LedgerState,
  LedgerStore,
  TaskRow,
} from "./store.js";

/** A ledger store in memory, for tests. A client accepts it only with `isTest`. */
export class MemoryStore implements LedgerStore {
  readonly durable = false;
  #about: LedgerState["about"] = null;
  #tasks = new Map<string, TaskRow>();
  #charges = new Map<string, ChargeRow>();
  #began: string | null = null;

  readonly marker: LedgerMarker = {
    read: (): string | null => this.#began,
    write: (token: string): void => {
      this.#began = token;
    },
  };

  async update<Result>(
    step: (state: LedgerState) => readonly [Result, LedgerChange?],
  ): Promise<Result> {
    const [result, change = {}] = step({
      about: this.#about,
      tasks: [...this.#tasks.values()],
      charges: [...this.#charges.values()],
    });
    const { about, task, added, changed } = change;
    if (added !== undefined && this.#charges.has(added.reportId)) {
      throw new LedgerRefused("a charge must have a new report id, but this one is used", {
        code: "charge_repeated",
      });
    }
    this.#about = about ?? this.#about;
    if (task !== undefined) this.#tasks.set(task.id, task);
    for (const charge of [added, changed]) {
      if (charge !== undefined) this.#charges.set(charge.reportId, charge);
    }
    return result;
  }

  /** Simulate a browser that deleted the ledger but not the marker. */
  lose(): void {
    this.#about = null;
    this.#tasks.clear();
    this.#charges.clear();
  }

  close(): void {}
}
