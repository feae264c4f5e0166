/** What this browser spent, and what it sent: the client, opened when it is needed. */
import {
  browserLedgerBegan,
  ceilings,
  Client,
  type FetchedKit,
  Fraction,
  isClosed,
  type LatLng,
  type Receipt,
  type ReportOptions,
  ReportRefused,
  type Spending,
} from "nomadp-client";

export class Account {
  private client: Client | undefined;
  private begun: Promise<void> = Promise.resolve();
  private readonly bodies = new Map<string, Uint8Array>();
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
    await this.client?.check(this.fetched.kit.task.id);
  }

  /**
   * Spends, unless the task was closed since the page was opened. Of a report that waits for a
   * random moment nobody is asked: that would tell when it was made.
   */
  async report(points: readonly LatLng[], options: ReportOptions): Promise<Receipt> {
    const isAtOnce = options.now === true || this.fetched.kit.task.facts.sendWithin === 0;
    if (isAtOnce && (await isClosed(this.fetched))) {
      throw new ReportRefused(
        "this task was closed while you were here, and its collector takes no more reports: " +
          "nothing was spent, and nothing was sent",
      );
    }
    const receipt = await this.client!.report(points, options);
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
    return all.filter(({ taskId }) => taskId === this.fetched.kit.task.id);
  }

  /** What was sent for a report since the page is open, or waits. */
  async body(reportId: string): Promise<string | undefined> {
    const found = this.bodies.get(reportId) ?? (await this.client?.waitingBytes(reportId));
    return found ? new TextDecoder().decode(found) : undefined;
  }
}
