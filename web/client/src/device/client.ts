/**
 * A person's device: joins a task, and charges, draws, stores and sends reports.
 *
 * The order is: charge, perturb, store, send, each on disk before the next. From outside, only the
 * reported value depends on the trajectory, and the task's epsilon covers it. Therefore every
 * trajectory is reported, and it is read before any request.
 */

import {
  DomainError,
  LedgerRefused,
  NotPrivateError,
  RandomnessUnavailable,
  ReportRefused,
  TaskRefused,
} from "../errors.js";
import type { Fraction } from "../fraction.js";
import type { LatLng } from "../geometry.js";
import type { TaskBundle } from "../protocol/bundle.js";
import type { Task } from "../protocol/task.js";
import { uploadBytes } from "../protocol/upload.js";
import { HOURS } from "../oracles.js";
import { Report } from "../report.js";
import { systemBytes } from "../randomness.js";
import { openBrowserStore } from "./browser_store.js";
import { fetchBundle, type FetchedBundle, isClosed } from "./joining.js";
import { type Charge, Ledger, type Receipt, type Budget } from "./ledger.js";
import { sendWaiting, type Upload } from "./sending.js";
import type { LedgerStore } from "./store.js";

/** How long sending is retried before the rest is left for later. */
export const PATIENCE_MS = 10_000;

/** The options of `Client.open`. */
export interface ClientOptions {
  /** The lifetime privacy budget, 20 by default. Later it can only be lowered. */
  readonly lifetime?: string | number | Fraction;
  /** The person accepts that the browser may lose the ledger: see `openBrowserStore`. */
  readonly acceptEviction?: boolean;
  /** Called with the body of every upload as it leaves, again for each retry. */
  readonly onUpload?: Upload;
  /** Where the ledger is kept (default: in the browser). */
  readonly store?: LedgerStore;
  /** Accept a store that is not durable. For tests only. */
  readonly isTest?: boolean;
}

/** The options of `Client.report`. */
export interface ReportOptions {
  /** The task to report to (default: the task joined last). */
  readonly taskId?: string;
  /**
   * The hour of the week, where 0 is Monday from 0 to 1 h. Required if the task includes the
   * time. An unknown hour (null, or none of the 168) is reported as 0.
   */
  readonly hour?: number | null | undefined;
  /** Send at once, without the random delay of the task. */
  readonly now?: boolean;
  /** Do not send the report until `send` is called. */
  readonly queue?: boolean;
  /**
   * Ask the collector first whether the task is closed; if so, charge nothing. The collector is
   * not asked if the report waits for a random time: the request would reveal when it was made.
   */
  readonly unlessClosed?: boolean;
}

/** The options of `Client.send`. */
export interface SendOptions {
  /** Send everything that waits, not only what is due. */
  readonly now?: boolean;
  /** Also send what the collector refused. */
  readonly again?: boolean;
  /** Send only this report. */
  readonly reportId?: string;
  /** How long to retry before the rest is left for later (default: 10 seconds). */
  readonly patienceMs?: number;
}

/** Contributes to collections for one person. */
export class Client {
  readonly #entered = new Map<string, FetchedBundle>();
  #last: string | undefined;
  #onUpload: Upload | undefined;

  private constructor(readonly ledger: Ledger) {}

  /**
   * Open the client of this browser, or of `options.store`.
   *
   * @throws LedgerRefused if the ledger cannot be durable, or is missing or damaged.
   */
  static async open(options: ClientOptions = {}): Promise<Client> {
    const store = options.store ?? (await openBrowserStore(options));
    if (!store.durable && !options.isTest) {
      throw new LedgerRefused(
        "a ledger must be durable, and this store is not; use it in tests only, with isTest",
        { code: "ledger_not_durable" },
      );
    }
    try {
      const client = new Client(await Ledger.open(store, options.lifetime));
      client.#onUpload = options.onUpload;
      return client;
    } catch (error) {
      store.close();
      throw error;
    }
  }

  /**
   * Join the task at a URL: the task's own URL, or a base URL and the id of the task.
   *
   * What the collector serves must hash to that id, which is the same for all contributors.
   *
   * @throws TaskRefused if it does not, or if the task violates the rules.
   * @throws UploadFailed if the task cannot be fetched.
   */
  async join(url: string, taskId?: string): Promise<TaskBundle> {
    return this.enter(await fetchBundle(url, taskId));
  }

  /** Join a task that `fetchBundle` has fetched. */
  async enter(fetched: FetchedBundle): Promise<TaskBundle> {
    const { bundle, base } = fetched;
    await this.ledger.enter(bundle.task, base);
    this.#entered.set(bundle.task.id, fetched);
    this.#last = bundle.task.id;
    return bundle;
  }

  /**
   * The bundle of a joined task (default: the task joined last).
   *
   * @throws TaskRefused if the task was not joined.
   */
  bundle(taskId?: string): TaskBundle {
    return this.#fetched(taskId).bundle;
  }

  /**
   * Charge the task's epsilon, draw one report of a trajectory, and send it when it is due.
   *
   * It is due at a random time within the limit of the task, or at once with `now`. A later `send`
   * sends a report that is not due yet or was queued (`queue`). The receipt's `state` says whether
   * the report was sent.
   *
   * @throws ReportRefused if the task has not started, has ended or was closed.
   * @throws LedgerRefused if the privacy budget is used up, or the ledger is damaged.
   */
  async report(points: readonly LatLng[], options: ReportOptions = {}): Promise<Receipt> {
    const fetched = this.#fetched(options.taskId);
    const { bundle } = fetched;
    // Before any request: the time between two requests must not depend on the trajectory.
    const { trajectory, hour } = read(bundle, points, options);
    if (options.unlessClosed) await checkOpen(fetched, options);
    const moment = Date.now();
    const delay = options.now ? 0 : delayOf(bundle.task, moment);
    const charge = await this.ledger.charge(bundle.task, currentTime(bundle.task, moment));
    const body = bodyOf(bundle, charge, trajectory, hour);
    await this.ledger.keep(charge, body, Math.floor(moment / 1000) + delay);
    if (!options.queue) {
      const due = await this.ledger.waiting(Math.floor(Date.now() / 1000));
      const own = due.filter(({ reportId }) => reportId === charge.reportId);
      await sendWaiting(this.ledger, own, PATIENCE_MS, this.#onUpload);
    }
    return this.#receipt(charge.reportId);
  }

  /** Send the reports that are due, or all that wait; returns a receipt for each. */
  async send(options: SendOptions = {}): Promise<Receipt[]> {
    const { now = false, again = false, patienceMs = PATIENCE_MS, reportId: only } = options;
    const due = now ? null : Math.floor(Date.now() / 1000);
    const all = await this.ledger.waiting(due, again);
    const waiting = all.filter(({ reportId }) => only === undefined || reportId === only);
    await sendWaiting(this.ledger, waiting, patienceMs, this.#onUpload);
    return Promise.all(waiting.map(({ reportId }) => this.#receipt(reportId)));
  }

  /**
   * Check that `count` reports are possible. Charges nothing.
   *
   * @throws ReportRefused or LedgerRefused, as `report` would for any trajectory.
   */
  async check(taskId?: string, count = 1): Promise<void> {
    const { task } = this.bundle(taskId);
    currentTime(task, Date.now());
    await this.ledger.check(task, count);
  }

  /** The privacy budget: used, remaining, and by task. */
  budget(): Promise<Budget> {
    return this.ledger.budget();
  }

  /** A receipt for every report that was ever charged. */
  receipts(): Promise<Receipt[]> {
    return this.ledger.receipts();
  }

  /** Close the ledger. It keeps the reports that wait to be sent. */
  close(): void {
    this.ledger.store.close();
  }

  #fetched(taskId: string | undefined = this.#last): FetchedBundle {
    const fetched = taskId === undefined ? undefined : this.#entered.get(taskId);
    if (fetched === undefined) {
      throw new TaskRefused("a task must be joined before a report is made; call join", {
        code: "no_task_joined",
      });
    }
    return fetched;
  }

  async #receipt(reportId: string): Promise<Receipt> {
    return (await this.receipts()).find((receipt) => receipt.reportId === reportId)!;
  }
}

function currentTime(task: Task, moment: number): number {
  const time = task.epoch(moment);
  if (time < task.facts.start || time >= task.facts.end) {
    const isOver = time >= task.facts.end;
    const problem = isOver ? "has ended" : "has not started";
    throw new ReportRefused(
      `a task must be running, but this one ${problem} by this device's clock`,
      { code: isOver ? "task_expired" : "task_not_started" },
    );
  }
  return time;
}

/** A delay in seconds: uniformly random, and never past the end of the task. */
function delayOf(task: Task, moment: number): number {
  const { end, timePrecision, sendWithin } = task.facts;
  const maxS = Math.min(sendWithin, end * timePrecision - Math.floor(moment / 1000) - 1);
  return maxS > 0 ? Number(systemBytes(16).getBigUint64(0) % BigInt(maxS + 1)) : 0;
}

/** What the mechanism reads of a trajectory. Every trajectory has something to read. */
function read(
  bundle: TaskBundle,
  points: readonly LatLng[],
  options: ReportOptions,
): { trajectory: number[]; hour: number | undefined } {
  const trajectory = bundle.read(points);
  if (!bundle.mechanism.timed) return { trajectory, hour: undefined };
  if (!("hour" in options)) {
    throw new DomainError(
      "every trajectory must have an `hour` of the week, or null if it is unknown, because this " +
        "task asks for the time; got none",
      { code: "hour_missing" },
    );
  }
  const { hour } = options;
  const isHour = Number.isSafeInteger(hour) && hour! >= 0 && hour! < HOURS;
  return { trajectory, hour: isHour ? hour! : 0 };
}

/** If the report would be sent at once, throw if the collector would drop it. */
async function checkOpen(fetched: FetchedBundle, { now, queue }: ReportOptions): Promise<void> {
  const isAtOnce = !queue && (now === true || fetched.bundle.task.facts.sendWithin === 0);
  if (isAtOnce && (await isClosed(fetched))) {
    throw new ReportRefused(
      "a task must be open to accept reports, but its collector has closed this one; no budget " +
        "was used, and nothing was sent",
      { code: "task_closed" },
    );
  }
}

/** The body of the upload: of the same size for every trajectory, and already charged. */
function bodyOf(
  bundle: TaskBundle,
  charge: Charge,
  trajectory: readonly number[],
  hour: number | undefined,
): Uint8Array<ArrayBuffer> {
  try {
    return uploadBytes(bundle, Report.draw(bundle.mechanism, trajectory, hour), charge);
  } catch (error) {
    // The messages of these errors contain nothing private.
    const safe = [RandomnessUnavailable, ReportRefused, NotPrivateError];
    if (safe.some((kind) => error instanceof kind)) throw error;
    throw new ReportRefused(
      "the report could not be drawn; the reason is withheld because it may be private; nothing " +
        "was sent, and the budget stays used",
      { code: "report_failed" },
    );
  }
}
