/**
 * A ledger that forgets, for tests: whoever reports from it spends again what was spent before.
 *
 * It says that it is not durable, and a client refuses it unless told that this is a test.
 */

import { LedgerRefused } from "../errors.js";
import type { ChargeRow, LedgerChange, LedgerState, LedgerStore, TaskRow } from "./store.js";

export class MemoryStore implements LedgerStore {
  readonly durable = false;
  #about: LedgerState["about"] = null;
  #tasks = new Map<string, TaskRow>();
  #charges = new Map<string, ChargeRow>();
  #began: string | null = null;

  readonly marker = {
    read: (): string | null => this.#began,
    write: (token: string): void => {
      this.#began = token;
    },
  };

  async update<Found>(
    step: (state: LedgerState) => readonly [Found, LedgerChange?],
  ): Promise<Found> {
    const [found, change = {}] = step({
      about: this.#about,
      tasks: [...this.#tasks.values()],
      charges: [...this.#charges.values()],
    });
    const { about, task, added, changed } = change;
    if (added !== undefined && this.#charges.has(added.reportId)) {
      throw new LedgerRefused("not new", { code: "charge_repeated" });
    }
    this.#about = about ?? this.#about;
    if (task !== undefined) this.#tasks.set(task.id, task);
    for (const charge of [added, changed]) {
      if (charge !== undefined) this.#charges.set(charge.reportId, charge);
    }
    return found;
  }

  /** As if the browser's data had been deleted, but not the marker. */
  lose(): void {
    this.#about = null;
    this.#tasks.clear();
    this.#charges.clear();
  }

  close(): void {}
}
