/** The budget and the reports of this browser. Opens the client when it is first needed. */
import {
  browserLedgerBegan,
  ceilings,
  Client,
  type FetchedBundle,
  Fraction,
  type LatLng,
  type Receipt,
  type ReportOptions,
  type Budget,
} from "nomadp-client";

/** The longest delay that a browser's timer takes. */
const TIMER_MOST_MS = 2 ** 31 - 1;

/** Whether a report is still waiting for its random time, and was never sent. */
export function isScheduled({ state, reason }: Pick<Receipt, "state" | "reason">): boolean {
  return state === "waiting" && reason === null;
}

export class Account {
  private client: Client | undefined;
  private opened: Promise<void> = Promise.resolve();
  private readonly bodies = new Map<string, Uint8Array>();
  private readonly scheduled = new Set<string>();
  private bytes = 0;

  constructor(
    private readonly fetched: FetchedBundle,
    /** Called when something was sent or settled. */
    private readonly onChange: () => void,
  ) {}

  /** The size of all uploads, including retries. */
  get bytesSent(): number {
    return this.bytes;
  }

  get isOpen(): boolean {
    return this.client !== undefined;
  }

  /** Open the ledger if this browser has one. Its owner agreed when it began. */
  openIfBegan(): Promise<void> {
    if (browserLedgerBegan()) this.opened = this.open(true);
    return this.opened;
  }

  async open(acceptEviction: boolean): Promise<void> {
    this.client ??= await Client.open({
      acceptEviction,
      onUpload: (body, reportId) => {
        this.bytes += body.length;
        this.bodies.set(reportId, body);
        this.onChange();
      },
    });
    await this.client.enter(this.fetched);
  }

  /** The budget; without a ledger, all of it remains. */
  async budget(): Promise<Budget> {
    await this.opened;
    if (this.client) return this.client.budget();
    const lifetime = new Fraction(ceilings.EPSILON_LIFETIME_DEFAULT);
    return { lifetime, remaining: lifetime, used: new Fraction(0), tasks: [] };
  }

  /** Throw the error that `report` would throw; charges nothing. */
  async check(): Promise<void> {
    await this.opened;
    await this.client?.check(this.fetched.bundle.task.id);
  }

  /** Charge and send, unless the task was closed since the page was opened. */
  async report(points: readonly LatLng[], options: ReportOptions): Promise<Receipt> {
    const receipt = await this.client!.report(points, { ...options, unlessClosed: true });
    await this.keepToSchedule();
    this.onChange();
    return receipt;
  }

  /** Send the same bytes again. */
  async send(reportId: string): Promise<Receipt | undefined> {
    const [receipt] = await this.client!.send({ now: true, again: true, reportId });
    this.onChange();
    return receipt;
  }

  /** The receipts of this task. */
  async receipts(): Promise<Receipt[]> {
    const all = (await this.client?.receipts()) ?? [];
    return all.filter(({ taskId }) => taskId === this.fetched.bundle.task.id);
  }

  /**
   * The body that was sent for a report, once the collector has accepted it. Nobody sees it
   * before: withholding a report because of what it says would reveal more than epsilon covers.
   */
  body({ reportId, state }: Receipt): string | undefined {
    const sent = state === "accepted" ? this.bodies.get(reportId) : undefined;
    return sent && new TextDecoder().decode(sent);
  }

  /** Send each scheduled report at its random time, while the page is open. */
  async keepToSchedule(): Promise<void> {
    for (const { reportId, notBefore, ...receipt } of await this.receipts()) {
      if (!isScheduled(receipt) || this.scheduled.has(reportId)) continue;
      const waitMs = Math.max(0, notBefore! * 1000 - Date.now());
      if (waitMs > TIMER_MOST_MS) continue;
      this.scheduled.add(reportId);
      setTimeout(() => void this.send(reportId).catch(() => undefined), waitMs);
    }
  }
}
