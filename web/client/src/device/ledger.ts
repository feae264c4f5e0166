/**
 * What a device has spent, and may still: exact, for its whole life, and never renewed.
 *
 * A charge is on disk before anything is perturbed, and has one report id and at most one body. A
 * crash between the two wastes the charge; it is not used again.
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

/** Paid, and not yet used. */
export interface Charge {
  readonly reportId: string;
  /** In units of the task's precision. */
  readonly time: number;
}

/** What became of one report. */
export interface Receipt {
  readonly taskId: string;
  readonly reportId: string;
  readonly time: number;
  readonly epsilon: Fraction;
  readonly state: ChargeState;
  /** Why it waits still, or was stopped. */
  readonly reason: string | null;
  /** Unix time in seconds from which on a waiting one may be sent. */
  readonly notBefore: number | null;
}

/** Bytes to be sent, and where. */
export interface Waiting {
  readonly reportId: string;
  readonly taskId: string;
  readonly body: Uint8Array<ArrayBuffer>;
  readonly attempts: number;
  readonly address: string;
}

export interface TaskSpending {
  readonly taskId: string;
  readonly purpose: string;
  /** Of one report. */
  readonly epsilon: Fraction;
  readonly spent: Fraction;
  /** That were charged, the wasted ones too. */
  readonly reports: number;
  readonly reportsMost: number;
}

/** Of a device over its whole life. */
export interface Spending {
  readonly lifetime: Fraction;
  readonly spent: Fraction;
  readonly left: Fraction;
  readonly tasks: readonly TaskSpending[];
}

/** The account of a device. */
export class Ledger {
  private constructor(readonly store: LedgerStore) {}

  /** The ledger of a store, begun if there is none; `lifetime` can only be lowered later. */
  static async open(
    store: LedgerStore,
    lifetime?: string | number | Fraction,
  ): Promise<Ledger> {
    const cap = lifetime === undefined ? null : asLifetime(lifetime);
    const marked = store.marker.read();
    const token = await store.update((state) => {
      if (state.about !== null) return [checked(state).token];
      if (marked !== null) throw gone("ledger_missing");
      const begun = String(cap ?? EPSILON_LIFETIME_DEFAULT);
      const about = { format: FORMAT, token: freshId(), lifetime: begun };
      return [about.token, { about }];
    });
    const known = store.marker.read();
    if (known !== null && known !== token) throw gone("ledger_mismatch");
    if (known === null) store.marker.write(token);
    const ledger = new Ledger(store);
    if (cap !== null) await ledger.#lower(cap);
    return ledger;
  }

  /** Note a task that the device takes part in, and where its collector is. */
  async enter({ id, facts }: Task, address: string): Promise<void> {
    const { purpose, epsilon, reportsPerContributor: reports } = facts;
    const task = { id, purpose, epsilon: String(epsilon), reports, address };
    await this.#update(() => [undefined, { task }]);
  }

  /** Spend the task's epsilon: on disk when this resolves, or refused. */
  async charge(task: Task, time: number): Promise<Charge> {
    const reportId = freshId();
    const epsilon = String(task.facts.epsilon);
    await this.#update((state) => {
      checkRoom(state, task, 1);
      const fixed = { reportId, task: task.id, epsilon, time, state: "charged" as const };
      const added = { ...fixed, body: null, notBefore: null, attempts: 0, reason: null };
      return [undefined, { added }];
    });
    return { reportId, time };
  }

  /** Refuse what so many charges would be refused for; spends nothing. */
  async check(task: Task, count = 1): Promise<void> {
    await this.#update((state) => [checkRoom(state, task, count)]);
  }

  /** The one body of a charge: on disk when this resolves. */
  async keep(
    { reportId }: Charge,
    body: Uint8Array<ArrayBuffer>,
    notBefore: number,
  ): Promise<void> {
    await this.#update((state) => {
      const row = state.charges.find((each) => each.reportId === reportId);
      if (row?.state !== "charged" || row.body !== null) {
        throw new LedgerRefused("a charge must get one body only, and this one has its own", {
          code: "charge_already_used",
        });
      }
      return [undefined, { changed: { ...row, state: "waiting", body, notBefore } }];
    });
  }

  /** What may be sent at `due` (Unix seconds), or at all; `again`: what was stopped, too. */
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

  /** A collector has it: only the receipt stays. */
  async accept(reportId: string): Promise<void> {
    await this.#settle(reportId, () => ({
      state: "accepted",
      body: null,
      notBefore: null,
      reason: null,
    }));
  }

  /** A collector refused it: kept, and not sent by itself any more. */
  async stop(reportId: string, reason: string): Promise<void> {
    await this.#settle(reportId, () => ({ state: "stopped", reason }));
  }

  /** To be sent again, the same bytes. */
  async postpone(reportId: string, reason: string, notBefore: number): Promise<void> {
    await this.#settle(reportId, ({ attempts }) => ({
      state: "waiting",
      attempts: attempts + 1,
      reason,
      notBefore,
    }));
  }

  async receipts(): Promise<Receipt[]> {
    return this.#update(({ charges }) => [charges.map(receipt)]);
  }

  /** What was spent and what is left. */
  async spending(): Promise<Spending> {
    return this.#update((state) => {
      const lifetime = asFraction(state.about!.lifetime)!;
      const spent = spentOf(state.charges);
      const left = spent.compare(lifetime) < 0 ? lifetime.minus(spent) : ZERO;
      const tasks = state.tasks.map(({ id, purpose, epsilon, reports }) => {
        const own = state.charges.filter(({ task }) => task === id);
        return {
          taskId: id,
          purpose,
          epsilon: asFraction(epsilon)!,
          spent: spentOf(own),
          reports: own.length,
          reportsMost: reports,
        };
      });
      return [{ lifetime, spent, left, tasks }];
    });
  }

  async #lower(cap: Fraction): Promise<void> {
    await this.#update(({ about }) => {
      const now = asFraction(about!.lifetime)!;
      if (cap.compare(now) > 0) {
        throw new LedgerRefused(
          `the lifetime epsilon must stay at ${now}, at which this ledger began or was ` +
            `lowered, got ${cap}; it can only be lowered`,
          { code: "lifetime_raised", lifetime: String(now) },
        );
      }
      return [undefined, { about: { ...about!, lifetime: String(cap) } }];
    });
  }

  /** Another tab may have sent the same bytes, and settled it: then it stays settled. */
  async #settle(
    reportId: string,
    change: (row: ChargeRow) => Partial<ChargeRow>,
  ): Promise<void> {
    await this.#update(({ charges }) => {
      const row = charges.find((each) => each.reportId === reportId);
      const open = row?.state === "waiting" || row?.state === "stopped";
      return open ? [undefined, { changed: { ...row, ...change(row) } }] : [undefined];
    });
  }

  #update: LedgerStore["update"] = (step) =>
    this.store.update((state) => {
      checked(state);
      return step(state);
    });
}

/** All that a device may ever spend, as an exact number. */
export function asLifetime(value: string | number | Fraction): Fraction {
  const cap = asFraction(value);
  const most = new Fraction(EPSILON_LIFETIME_MAX);
  if (cap === null || cap.compare(ZERO) <= 0 || cap.compare(most) > 0) {
    throw new LedgerRefused(
      `the lifetime epsilon of a device must be above 0 and at most ${EPSILON_LIFETIME_MAX}`,
      { code: "lifetime_out_of_range", limit: EPSILON_LIFETIME_MAX },
    );
  }
  return cap;
}

function times(many: number): string {
  return many === 1 ? "once" : `${many} times`;
}

function checkRoom({ about, charges }: LedgerState, task: Task, count: number): void {
  const { epsilon, reportsPerContributor: most } = task.facts;
  const here = charges.filter((each) => each.task === task.id).length;
  if (here + count > most) {
    throw new LedgerRefused(
      `one person must report at most ${times(most)} to this task, and this device did ` +
        `${times(here)}, lost reports included; ${count} more is refused`,
      { code: "reports_exhausted", limit: most, reports: here, more: count },
    );
  }
  const lifetime = asFraction(about!.lifetime)!;
  const spent = spentOf(charges);
  const more = epsilon.times(new Fraction(count));
  if (spent.plus(more).compare(lifetime) > 0) {
    throw new LedgerRefused(
      `a ledger must spend at most ${lifetime} in its life, and ${spent} are spent; ${more} ` +
        "more is refused, and nothing renews",
      {
        code: "budget_exhausted",
        lifetime: String(lifetime),
        spent: String(spent),
        more: String(more),
      },
    );
  }
}

/** Refuse what is not whole, or not what we wrote. */
function checked({ about, charges }: LedgerState): { token: string } {
  if (about === null) throw gone("ledger_missing");
  const whole = charges.every(({ epsilon, reportId }) => {
    const paid = typeof epsilon === "string" ? asFraction(epsilon) : null;
    return paid !== null && paid.compare(ZERO) > 0 && isReportId(reportId);
  });
  if (about.format !== FORMAT || !isReportId(about.token) || !whole) {
    throw new LedgerRefused(
      "the ledger must be whole, and is damaged or none; nothing is reported from it",
      { code: "ledger_damaged" },
    );
  }
  asLifetime(about.lifetime);
  return about;
}

function spentOf(charges: readonly ChargeRow[]): Fraction {
  return charges.reduce((sum, { epsilon }) => sum.plus(asFraction(epsilon)!), ZERO);
}

function receipt(row: ChargeRow): Receipt {
  const { reportId, task, time, epsilon, state, reason, notBefore } = row;
  const paid = asFraction(epsilon)!;
  return { taskId: task, reportId, time, epsilon: paid, state, reason, notBefore };
}

function gone(code: string): LedgerRefused {
  return new LedgerRefused(
    "the ledger must be the one that began here, and is gone or another: without it nobody " +
      "knows what was spent, and nothing is reported",
    { code },
  );
}
