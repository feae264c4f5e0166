/**
 * The privacy budget ledger of a device: exact fractions, for its whole life, never renewed.
 *
 * A charge is on disk before anything is perturbed. It has one report id and at most one body. A
 * crash after the charge and before its body is stored wastes the charge: it is never used again.
 */

import { asFraction } from "../budget.js";
import { LedgerRefused } from "../errors.js";
import { Fraction } from "../fraction.js";
import { isReportId } from "../protocol/base64url.js";
import { EPSILON_LIFETIME_DEFAULT, EPSILON_LIFETIME_MAX } from "../protocol/ceilings.js";
import type { Task } from "../protocol/task.js";
import { freshId } from "../protocol/upload.js";
import type { ChargeRow, ChargeState, LedgerState, LedgerStore } from "./store.js";

const FORMAT = "nomadp ledger 1";
const ZERO = new Fraction(0);

/** A charge that no report has used yet. */
export interface Charge {
  readonly reportId: string;
  /** In units of the task's precision. */
  readonly time: number;
}

/** The state of one report. */
export interface Receipt {
  readonly taskId: string;
  readonly reportId: string;
  /** The time that the report states, in units of the task's precision. */
  readonly time: number;
  /** The epsilon that was charged. */
  readonly epsilon: Fraction;
  readonly state: ChargeState;
  /** Why it is still waiting, or was stopped. */
  readonly reason: string | null;
  /** Unix time in seconds at which a waiting report becomes due. */
  readonly notBefore: number | null;
}

/** A body that is waiting to be sent, and its address. */
export interface Waiting {
  readonly reportId: string;
  readonly taskId: string;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly attempts: number;
  readonly address: string;
}

/** The part of the privacy budget that one task used. */
export interface TaskBudget {
  readonly taskId: string;
  readonly purpose: string;
  /** The epsilon of one report. */
  readonly epsilon: Fraction;
  readonly used: Fraction;
  /** The number of reports that were charged, including those that were lost. */
  readonly reports: number;
  /** The most reports that the task allows. */
  readonly reportsMost: number;
}

/** The privacy budget of a device for its whole life. */
export interface Budget {
  /** The total epsilon that may ever be used. */
  readonly lifetime: Fraction;
  readonly used: Fraction;
  readonly remaining: Fraction;
  readonly tasks: readonly TaskBudget[];
}

/** The ledger of a device. */
export class Ledger {
  private constructor(readonly store: LedgerStore) {}

  /** The ledger in a store; a new one if there is none. `lifetime` can only be lowered later. */
  static async open(
    store: LedgerStore,
    lifetime?: string | number | Fraction,
  ): Promise<Ledger> {
    const cap = lifetime === undefined ? null : asLifetime(lifetime);
    // The marker outlives the ledger: with a marker, an empty store is a lost ledger, and starting
    // a new one would refill the budget.
    const marked = store.marker.read();
    const token = await store.update((state) => {
      if (state.about !== null) return [checked(state).token];
      if (marked !== null) throw gone("ledger_missing");
      const initial = String(cap ?? EPSILON_LIFETIME_DEFAULT);
      const about = { format: FORMAT, token: freshId(), lifetime: initial };
      return [about.token, { about }];
    });
    const marker = store.marker.read();
    if (marker !== null && marker !== token) throw gone("ledger_mismatch");
    if (marker === null) store.marker.write(token);
    const ledger = new Ledger(store);
    if (cap !== null) await ledger.#lower(cap);
    return ledger;
  }

  /** Remember a task that the device joined, and the address of its collector. */
  async enter({ id, facts }: Task, address: string): Promise<void> {
    const { purpose, epsilon, reportsPerContributor: reports } = facts;
    const task = { id, purpose, epsilon: String(epsilon), reports, address };
    await this.#update(() => [undefined, { task }]);
  }

  /**
   * Charge the task's epsilon. The charge is on disk when this resolves.
   *
   * @throws LedgerRefused if the privacy budget or the task does not allow it.
   */
  async charge(task: Task, time: number): Promise<Charge> {
    const reportId = freshId();
    const epsilon = String(task.facts.epsilon);
    await this.#update((state) => {
      checkBudget(state, task, 1);
      const row = { reportId, task: task.id, epsilon, time, state: "charged" as const };
      const added = { ...row, body: null, notBefore: null, attempts: 0, reason: null };
      return [undefined, { added }];
    });
    return { reportId, time };
  }

  /**
   * Check that `count` charges are possible. Charges nothing.
   *
   * @throws LedgerRefused if they are not.
   */
  async check(task: Task, count = 1): Promise<void> {
    await this.#update((state) => [checkBudget(state, task, count)]);
  }

  /** Store the one body of a charge. It is on disk when this resolves. */
  async keep(
    { reportId }: Charge,
    body: Uint8Array<ArrayBuffer>,
    notBefore: number,
  ): Promise<void> {
    await this.#update((state) => {
      const row = state.charges.find((charge) => charge.reportId === reportId);
      if (row?.state !== "charged" || row.body !== null) {
        throw new LedgerRefused(
          "a charge must have only one report, but this one already has one",
          {
            code: "charge_already_used",
          },
        );
      }
      return [undefined, { changed: { ...row, state: "waiting", body, notBefore } }];
    });
  }

  /** Reports due at `due` (Unix seconds), or all that wait; with `again`, stopped ones as well. */
  async waiting(due: number | null, again = false): Promise<Waiting[]> {
    return this.#update(({ tasks, charges }) => {
      const ready = charges.filter(
        ({ state, notBefore }) =>
          (state === "waiting" || (again && state === "stopped")) &&
          (due === null || (notBefore ?? 0) <= due),
      );
      ready.sort((a, b) => (a.notBefore ?? 0) - (b.notBefore ?? 0));
      return [
        ready.flatMap(({ reportId, task, body, attempts }) => {
          const address = tasks.find(({ id }) => id === task)?.address;
          const known = body !== null && address !== undefined;
          return known ? [{ reportId, taskId: task, body, attempts, address }] : [];
        }),
      ];
    });
  }

  /** The collector has accepted the report: delete its body and keep the receipt. */
  async accept(reportId: string): Promise<void> {
    await this.#settle(reportId, () => ({
      state: "accepted",
      body: null,
      notBefore: null,
      reason: null,
    }));
  }

  /** The collector refused the report: keep it, but no longer send it automatically. */
  async stop(reportId: string, reason: string): Promise<void> {
    await this.#settle(reportId, () => ({ state: "stopped", reason }));
  }

  /** Send the same bytes again later. */
  async postpone(reportId: string, reason: string, notBefore: number): Promise<void> {
    await this.#settle(reportId, ({ attempts }) => ({
      state: "waiting",
      attempts: attempts + 1,
      reason,
      notBefore,
    }));
  }

  /** A receipt for every report that was ever charged. */
  async receipts(): Promise<Receipt[]> {
    return this.#update(({ charges }) => [charges.map(receipt)]);
  }

  /** The privacy budget: used, remaining, and by task. */
  async budget(): Promise<Budget> {
    return this.#update((state) => {
      const lifetime = asFraction(state.about!.lifetime)!;
      const used = usedBy(state.charges);
      const remaining = used.compare(lifetime) < 0 ? lifetime.minus(used) : ZERO;
      const tasks = state.tasks.map(({ id, purpose, epsilon, reports }) => {
        const own = state.charges.filter(({ task }) => task === id);
        return {
          taskId: id,
          purpose,
          epsilon: asFraction(epsilon)!,
          used: usedBy(own),
          reports: own.length,
          reportsMost: reports,
        };
      });
      return [{ lifetime, used, remaining, tasks }];
    });
  }

  async #lower(cap: Fraction): Promise<void> {
    await this.#update(({ about }) => {
      const now = asFraction(about!.lifetime)!;
      if (cap.compare(now) > 0) {
        throw new LedgerRefused(
          `the lifetime epsilon must be at most ${now}, the value in the ledger, got ${cap}; it ` +
            "can only be lowered",
          { code: "lifetime_raised", lifetime: String(now) },
        );
      }
      return [undefined, { about: { ...about!, lifetime: String(cap) } }];
    });
  }

  /** Change the state of a report, unless another tab has accepted it meanwhile. */
  async #settle(
    reportId: string,
    change: (row: ChargeRow) => Partial<ChargeRow>,
  ): Promise<void> {
    await this.#update(({ charges }) => {
      const row = charges.find((charge) => charge.reportId === reportId);
      const isOpen = row?.state === "waiting" || row?.state === "stopped";
      return isOpen ? [undefined, { changed: { ...row, ...change(row) } }] : [undefined];
    });
  }

  #update: LedgerStore["update"] = (step) =>
    this.store.update((state) => {
      checked(state);
      return step(state);
    });
}

/** A lifetime budget as an exact number. */
export function asLifetime(value: string | number | Fraction): Fraction {
  const cap = asFraction(value);
  const most = new Fraction(EPSILON_LIFETIME_MAX);
  if (cap === null || cap.compare(ZERO) <= 0 || cap.compare(most) > 0) {
    throw new LedgerRefused(
      `the lifetime epsilon of a device must be above 0 and at most ${EPSILON_LIFETIME_MAX}, got ` +
        String(value).slice(0, 40),
      { code: "lifetime_out_of_range", limit: EPSILON_LIFETIME_MAX },
    );
  }
  return cap;
}

function times(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}

function checkBudget({ about, charges }: LedgerState, task: Task, count: number): void {
  const { epsilon, reportsPerContributor: most } = task.facts;
  const reports = charges.filter((charge) => charge.task === task.id).length;
  if (reports + count > most) {
    throw new LedgerRefused(
      `a device must report to this task at most ${times(most)}; it has reported ` +
        `${times(reports)}, including lost reports, and this would add ${count}`,
      { code: "reports_exhausted", limit: most, reports, more: count },
    );
  }
  const lifetime = asFraction(about!.lifetime)!;
  const used = usedBy(charges);
  const more = epsilon.times(new Fraction(count));
  if (used.plus(more).compare(lifetime) > 0) {
    throw new LedgerRefused(
      `a device must use at most epsilon ${lifetime} in its lifetime; it has used ${used}, and ` +
        `this would use ${more} more; the budget is never renewed`,
      {
        code: "budget_exhausted",
        lifetime: String(lifetime),
        used: String(used),
        more: String(more),
      },
    );
  }
}

/** Throw if a ledger is incomplete, or was not written by this library. */
function checked({ about, charges }: LedgerState): { token: string } {
  if (about === null) throw gone("ledger_missing");
  const isIntact = charges.every(({ epsilon, reportId }) => {
    const cost = typeof epsilon === "string" ? asFraction(epsilon) : null;
    return cost !== null && cost.compare(ZERO) > 0 && isReportId(reportId);
  });
  if (about.format !== FORMAT || !isReportId(about.token) || !isIntact) {
    throw new LedgerRefused(
      "the ledger must be intact, but is damaged; nothing is reported without it",
      { code: "ledger_damaged" },
    );
  }
  asLifetime(about.lifetime);
  return about;
}

function usedBy(charges: readonly ChargeRow[]): Fraction {
  return charges.reduce((sum, { epsilon }) => sum.plus(asFraction(epsilon)!), ZERO);
}

function receipt(row: ChargeRow): Receipt {
  const { reportId, task, time, epsilon, state, reason, notBefore } = row;
  const cost = asFraction(epsilon)!;
  return { taskId: task, reportId, time, epsilon: cost, state, reason, notBefore };
}

function gone(code: string): LedgerRefused {
  return new LedgerRefused(
    "the ledger of this device must be the one that was created here, but is missing or another; " +
      "nothing is reported, because the used budget is unknown",
    { code },
  );
}
