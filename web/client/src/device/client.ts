/**
 * A person's device: joins a task, pays for a report, makes it, keeps it, sends it.
 *
 * In this order, each on disk before the next: charge, perturb, store, send. Nothing that can be
 * seen from outside depends on the journey but the value, which the task's epsilon covers: every
 * journey is reported, and it is read before anything is asked.
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
import { fetchKit, type FetchedKit, isClosed } from "./joining.js";
import { type Charge, Ledger, type Receipt, type Spending } from "./ledger.js";
import { sendWaiting, type Upload } from "./sending.js";
import type { LedgerStore } from "./store.js";

/** For how long sending is tried again before the rest is left for later. */
export const PATIENCE_MS = 10_000;

export interface ClientOptions {
  /** All the epsilon that may ever be spent here, 20 by default; later it can only be lowered. */
  readonly lifetime?: string | number | Fraction;
  /** The browser may forget what was spent, and the person knows: see `openBrowserStore`. */
  readonly acceptEviction?: boolean;
  /** Told the whole body of every upload as it leaves, of one that is tried again each time. */
  readonly onUpload?: Upload;
  /** Where the ledger is, if not in the browser. */
  readonly store?: LedgerStore;
  /** Take a store that forgets: for tests alone. */
  readonly isTest?: boolean;
}

export interface ReportOptions {
  /** The task that was joined last, unless named. */
  readonly taskId?: string;
  /**
   * Of the week, 0 being Monday from 0 to 1 h: must be given where the task asks when. One that
   * is not known (null, or none of the 168) is reported as 0.
   */
  readonly hour?: number | null | undefined;
  /** Send without the random delay that the task bounds. */
  readonly now?: boolean;
  /** Keep it until `send` is called. */
  readonly queue?: boolean;
  /**
   * Ask the collector first whether the task was closed, and spend nothing then. Nobody is asked
   * where the report waits for a random moment: that would tell when it was made.
   */
  readonly unlessClosed?: boolean;
}

export interface SendOptions {
  /** All that waits, not only what is due. */
  readonly now?: boolean;
  /** What was stopped, too. */
  readonly again?: boolean;
  /** This one alone. */
  readonly reportId?: string;
  readonly patienceMs?: number;
}

/** Takes part in collections for one person. */
export class Client {
  readonly #entered = new Map<string, FetchedKit>();
  #last: string | undefined;
  #onUpload: Upload | undefined;

  private constructor(readonly ledger: Ledger) {}

  /**
   * The client of this browser, or of a store.
   *
   * @throws LedgerRefused where no ledger could be durable, or it is missing or damaged.
   */
  static async open(options: ClientOptions = {}): Promise<Client> {
    const store = options.store ?? (await openBrowserStore(options));
    if (!store.durable && !options.isTest) {
      throw new LedgerRefused(
        "a ledger must be durable, and this store says that it is not; it is for tests alone",
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
   * Take part in the task at a URL: its own, or a base and its id.
   *
   * What comes must be the task of that id: it is the hash of all that everybody was given.
   */
  async join(url: string, taskId?: string): Promise<TaskBundle> {
    return this.enter(await fetchKit(url, taskId));
  }

  /** The same for a task that `fetchKit` brought. */
  async enter(fetched: FetchedKit): Promise<TaskBundle> {
    const { bundle, base } = fetched;
    await this.ledger.enter(bundle.task, base);
    this.#entered.set(bundle.task.id, fetched);
    this.#last = bundle.task.id;
    return bundle;
  }

  /** The task that was joined last, or this one, and its public files. */
  bundle(taskId?: string): TaskBundle {
    return this.#fetched(taskId).bundle;
  }

  /**
   * Spend the task's epsilon on one report of a journey, and send it when it is due.
   *
   * It is due at a random time that the task bounds, or `now`; what is not due yet, or is to be
   * kept (`queue`), is sent by a later `send`. Look at the receipt's `state`.
   */
  async report(points: readonly LatLng[], options: ReportOptions = {}): Promise<Receipt> {
    const fetched = this.#fetched(options.taskId);
    const { bundle } = fetched;
    // Before anything is asked: what takes longer for a longer journey must not lie between.
    const { journey, hour } = read(bundle, points, options);
    if (options.unlessClosed) await checkOpen(fetched, options);
    const moment = Date.now();
    const delay = options.now ? 0 : delayOf(bundle.task, moment);
    const charge = await this.ledger.charge(bundle.task, currentTime(bundle.task, moment));
    const body = bodyOf(bundle, charge, journey, hour);
    await this.ledger.keep(charge, body, Math.floor(moment / 1000) + delay);
    if (!options.queue) {
      const due = await this.ledger.waiting(Math.floor(Date.now() / 1000));
      const own = due.filter(({ reportId }) => reportId === charge.reportId);
      await sendWaiting(this.ledger, own, PATIENCE_MS, this.#onUpload);
    }
    return this.#receipt(charge.reportId);
  }

  /** Send what is due, or all that waits (`now`), and what was stopped, too (`again`). */
  async send(options: SendOptions = {}): Promise<Receipt[]> {
    const { now = false, again = false, patienceMs = PATIENCE_MS, reportId: only } = options;
    const due = now ? null : Math.floor(Date.now() / 1000);
    const every = await this.ledger.waiting(due, again);
    const waiting = every.filter(({ reportId }) => only === undefined || reportId === only);
    await sendWaiting(this.ledger, waiting, patienceMs, this.#onUpload);
    return Promise.all(waiting.map(({ reportId }) => this.#receipt(reportId)));
  }

  /** Refuse what so many `report` would refuse for any journeys; spends nothing. */
  async check(taskId?: string, count = 1): Promise<void> {
    const { task } = this.bundle(taskId);
    currentTime(task, Date.now());
    await this.ledger.check(task, count);
  }

  /** What was spent, in which tasks, and what is left. */
  spending(): Promise<Spending> {
    return this.ledger.spending();
  }

  /** Of every report that was ever charged. */
  receipts(): Promise<Receipt[]> {
    return this.ledger.receipts();
  }

  close(): void {
    this.ledger.store.close();
  }

  #fetched(taskId: string | undefined = this.#last): FetchedKit {
    const fetched = taskId === undefined ? undefined : this.#entered.get(taskId);
    if (fetched === undefined) {
      throw new TaskRefused("a task must be joined before anything is reported to it", {
        code: "no_task_joined",
      });
    }
    return fetched;
  }

  async #receipt(reportId: string): Promise<Receipt> {
    return (await this.receipts()).find((each) => each.reportId === reportId)!;
  }
}

function currentTime(task: Task, moment: number): number {
  const time = task.epoch(moment);
  if (time < task.facts.start || time >= task.facts.end) {
    const isOver = time >= task.facts.end;
    const why = isOver ? "is over" : "has not begun";
    throw new ReportRefused(
      `a task must be running to be reported to, and this one ${why} by this device's clock`,
      { code: isOver ? "task_expired" : "task_not_started" },
    );
  }
  return time;
}

/** Seconds, drawn evenly, and never past the end of the task. */
function delayOf(task: Task, moment: number): number {
  const { end, timePrecision, sendWithin } = task.facts;
  const most = Math.min(sendWithin, end * timePrecision - Math.floor(moment / 1000) - 1);
  return most > 0 ? Number(systemBytes(16).getBigUint64(0) % BigInt(most + 1)) : 0;
}

/** What of a journey is perturbed: something of every one. */
function read(
  bundle: TaskBundle,
  points: readonly LatLng[],
  options: ReportOptions,
): { journey: number[]; hour: number | undefined } {
  const journey = bundle.read(points);
  if (!bundle.mechanism.timed) return { journey, hour: undefined };
  if (!("hour" in options)) {
    throw new DomainError(
      "this task asks when: `hour` must be given for every journey, the hour of the week or " +
        "null where it is not known, and was not",
      { code: "hour_missing" },
    );
  }
  const { hour } = options;
  const isHour = Number.isSafeInteger(hour) && hour! >= 0 && hour! < HOURS;
  return { journey, hour: isHour ? hour! : 0 };
}

/** Refuse what the collector would drop, if it is to be sent at once. */
async function checkOpen(fetched: FetchedKit, { now, queue }: ReportOptions): Promise<void> {
  const isAtOnce = !queue && (now === true || fetched.bundle.task.facts.sendWithin === 0);
  if (isAtOnce && (await isClosed(fetched))) {
    throw new ReportRefused(
      "a task must be open to be reported to, and this one was closed: its collector takes no " +
        "more reports; nothing was spent, and nothing was sent",
      { code: "task_closed" },
    );
  }
}

/** What leaves the device, of one size for every journey; paid for already. */
function bodyOf(
  bundle: TaskBundle,
  charge: Charge,
  journey: readonly number[],
  hour: number | undefined,
): Uint8Array<ArrayBuffer> {
  try {
    return uploadBytes(bundle, Report.draw(bundle.mechanism, journey, hour), charge);
  } catch (error) {
    const ours = [RandomnessUnavailable, ReportRefused, NotPrivateError];
    if (ours.some((kind) => error instanceof kind)) throw error;
    throw new ReportRefused(
      "a report must be drawn without any failure, and one occurred; what it says is withheld " +
        "because it may be private, nothing was sent, and the charge stays",
      { code: "report_failed" },
    );
  }
}
