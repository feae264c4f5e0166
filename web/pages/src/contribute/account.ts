/** What this browser spent, and what it sent: the client, opened when it is needed. */
import {
  browserLedgerBegan,
  ceilings,
  Client,
  type FetchedKit,
  Fraction,
  type LatLng,
  type Receipt,
  type ReportOptions,
  type Spending,
} from "nomadp-client";

/** What a browser's timer can wait. */
const TIMER_MOST_MS = 2 ** 31 - 1;

/** Whether it was never tried, since its random moment was not there yet. */
export function isScheduled({ state, reason }: Pick<Receipt, "state" | "reason">): boolean {
  return state === "waiting" && reason === null;
}

export class Account {
  private client: Client | undefined;
  private begun: Promise<void> = Promise.resolve();
  private readonly bodies = new Map<string, Uint8Array>();
  private readonly scheduled = new Set<string>();
  private bytes = 0;

  constructor(
    private readonly fetched: FetchedKit,
    /** Something was sent, or settled. */
    private readonly changed: () => void,
  ) {}

  /** Of the bodies of all uploads, each time one was tried. */
  get bytesSent(): number {
    return this.bytes;
  }

  get isOpen(): boolean {
    return this.client !== undefined;
  }

  /** If this browser has a ledger: whoever began it was told what it can forget. */
  openIfBegan(): Promise<void> {
    if (browserLedgerBegan()) this.begun = this.open(true);
    return this.begun;
  }

  async open(acceptEviction: boolean): Promise<void> {
    this.client ??= await Client.open({
      acceptEviction,
      onUpload: (body, reportId) => {
        this.bytes += body.length;
        this.bodies.set(reportId, body);
        this.changed();
      },
    });
    await this.client.enter(this.fetched);
  }

  /** As if nothing was spent where no ledger began. */
  async spending(): Promise<Spending> {
    await this.begun;
    if (this.client) return this.client.spending();
    const lifetime = new Fraction(ceilings.EPSILON_LIFETIME_DEFAULT);
    return { lifetime, left: lifetime, spent: new Fraction(0), tasks: [] };
  }

  /** Refused as a report would be; spends nothing. */
  async check(): Promise<void> {
    await this.begun;
    await this.client?.check(this.fetched.bundle.task.id);
  }

  /** Spends, unless the task was closed since the page was opened. */
  async report(points: readonly LatLng[], options: ReportOptions): Promise<Receipt> {
    const receipt = await this.client!.report(points, { ...options, unlessClosed: true });
    await this.keepToSchedule();
    this.changed();
    return receipt;
  }

  /** The same bytes again. */
  async send(reportId: string): Promise<Receipt | undefined> {
    const [receipt] = await this.client!.send({ now: true, again: true, reportId });
    this.changed();
    return receipt;
  }

  /** Of this task. */
  async receipts(): Promise<Receipt[]> {
    const all = (await this.client?.receipts()) ?? [];
    return all.filter(({ taskId }) => taskId === this.fetched.bundle.task.id);
  }

  /**
   * What was sent for a report since the page is open, once a collector has it. Before, nobody
   * sees it: who could withhold a report by what it says would tell more than epsilon covers.
   */
  body({ reportId, state }: Receipt): string | undefined {
    const sent = state === "accepted" ? this.bodies.get(reportId) : undefined;
    return sent && new TextDecoder().decode(sent);
  }

  /** Send each report that waits for its random moment at that moment, while the page is open. */
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
