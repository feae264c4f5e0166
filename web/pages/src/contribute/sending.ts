/** Step 5: the privacy budget, and the button that sends the report. */
import { isPersistent, type Receipt, type Budget } from "nomadp-client";
import { h, show, svg } from "../dom";
import type { Bench, Step } from "./bench";
import { canBeSentAgain, receiptOf } from "./receipts";
import { moment, showError, showMessage, span } from "./text";

const BAR = { width: 400, height: 14 };

export class Sending implements Step {
  readonly title = "Send your report";
  readonly says =
    "Sending uses some of your privacy budget. You have one budget for all tasks of this " +
    "collector. It never refills.";
  readonly body = h("div", {});
  private readonly budget = h("div", {});
  private readonly consent = h("p", { class: "check note" });
  private readonly accept = h("input", { type: "checkbox", id: "accept" });
  private readonly later = h("fieldset", { class: "when" });
  private readonly atOnce = h("input", { type: "radio", name: "moment", id: "now" });
  private readonly trouble = h("p", { class: "trouble", role: "alert", tabindex: -1 });
  private readonly done = h("div", {});
  private readonly send: HTMLButtonElement;
  private isSending = false;
  /** Whether a report would be accepted; false until it was checked. */
  private isAllowed = false;
  private isPersistent = false;
  /** The receipt of the report that was made in this step. */
  private made: Receipt | undefined;

  constructor(private readonly bench: Bench) {
    const { epsilon } = bench.bundle.task.facts;
    this.send = h(
      "button",
      { type: "button", class: "main", id: "send", click: () => void this.report() },
      `Send (uses ε = ${epsilon})`,
    );
    this.accept.addEventListener("change", () => this.enable());
    this.body.append(
      this.budget,
      this.consent,
      this.later,
      this.trouble,
      h("p", { class: "buttons" }, this.send),
      this.done,
    );
    this.showTimes();
  }

  get isOpen(): boolean {
    return this.bench.isComplete && this.bench.wasPreviewed;
  }

  enter(): void {
    show(this.done);
    this.made = undefined;
    this.send.hidden = false;
    this.later.hidden = this.bench.bundle.task.facts.sendWithin === 0;
    showMessage(this.trouble);
    this.bench.draw({ track: this.bench.track, label: "Your journey, which is not sent." });
    void this.prepare();
  }

  /** Another tab may have used budget meanwhile. */
  async refresh(): Promise<void> {
    await this.followMade();
    show(this.budget, ...this.account(await this.bench.account.budget()));
  }

  private async prepare(): Promise<void> {
    this.isAllowed = false;
    this.enable();
    try {
      this.isPersistent = await isPersistent();
      show(this.consent, this.accept, h("label", { for: "accept" }, FORGETFUL));
      this.consent.hidden = this.isPersistent;
      await this.refresh();
      const closed = timeRefusal(this.bench);
      if (closed) showMessage(this.trouble, closed.message, closed.code);
      else await this.bench.account.check();
      this.isAllowed = closed === undefined;
    } catch (error) {
      showError(this.trouble, error);
    }
    this.enable();
  }

  private enable(): void {
    const isReady = this.isAllowed && !this.isSending && this.trouble.textContent === "";
    this.send.disabled = !isReady || !(this.isPersistent || this.accept.checked);
  }

  private async report(): Promise<void> {
    const { account, chosen } = this.bench;
    this.isSending = true;
    this.enable();
    this.send.textContent = "Sending …";
    try {
      await account.open(!this.isPersistent);
      const now = this.bench.bundle.task.facts.sendWithin === 0 || this.atOnce.checked;
      this.settled(await account.report(chosen!.points, { now, hour: chosen!.hour }));
      this.focusReceipt();
    } catch (error) {
      showError(this.trouble, error);
      this.trouble.focus(); // the button that had the focus can no longer be pressed
    }
    this.isSending = false;
    this.send.textContent = `Send (uses ε = ${this.bench.bundle.task.facts.epsilon})`;
    await this.refresh().catch(() => undefined);
  }

  /** Update the receipt: another tab, the table or the timer may have sent the report. */
  private async followMade(): Promise<void> {
    const { made } = this;
    if (made === undefined) return;
    const all = await this.bench.account.receipts();
    const now = all.find(({ reportId }) => reportId === made.reportId);
    const hasChanged = now && (now.state !== made.state || now.reason !== made.reason);
    if (!hasChanged || this.made !== made) return;
    const hadFocus = this.done.contains(document.activeElement);
    this.settled(now);
    if (hadFocus) this.focusReceipt(); // its buttons were rebuilt
  }

  private focusReceipt(): void {
    this.done.querySelector<HTMLElement>("#receipt h3")?.focus({ preventScroll: true });
  }

  private settled(receipt: Receipt): void {
    const { account } = this.bench;
    this.made = receipt;
    const body = account.body(receipt);
    const retry = () => void account.send(receipt.reportId);
    show(
      this.done,
      receiptOf(receipt, body),
      h(
        "p",
        { class: "buttons" },
        canBeSentAgain(receipt)
          ? h(
              "button",
              { type: "button", "data-action": "send-again", click: retry },
              "Send the same report again",
            )
          : null,
        h(
          "button",
          { type: "button", "data-action": "another", click: () => this.bench.go(0) },
          "Report another journey",
        ),
      ),
    );
    this.send.hidden = this.consent.hidden = this.later.hidden = true;
    this.drawSent(body);
  }

  /** Show an accepted report on the map, decoded from the bytes that were sent. */
  private drawSent(body: string | undefined): void {
    if (!body) return;
    const { bundle, contents } = this.bench;
    const { value } = (JSON.parse(body) as { reports: [{ value: string }] }).reports[0];
    const numbers = bundle.code.parse(value);
    const released = bundle.task.isOracle
      ? { values: numbers, number: null }
      : { values: [], number: numbers[0]! };
    const { lines, areas, sentence } = contents.of(released);
    const label = `Your journey, and the report that was sent: ${sentence}`;
    this.bench.draw({ track: this.bench.track, report: lines, areas, label }, "all");
  }

  private showTimes(): void {
    const { sendWithin } = this.bench.bundle.task.facts;
    const random = h("input", { type: "radio", name: "moment", id: "later", checked: true });
    show(
      this.later,
      h("legend", {}, "When should it be sent?"),
      h(
        "p",
        { class: "check" },
        random,
        h("label", { for: "later" }, `At a random time within ${span(sendWithin)}`),
      ),
      h(
        "p",
        { class: "check" },
        this.atOnce,
        h("label", { for: "now" }, "Now. The collector then learns when you were here."),
      ),
    );
  }

  private account({ lifetime, used, remaining, tasks }: Budget): Element[] {
    const { epsilon, reportsPerContributor: most } = this.bench.bundle.task.facts;
    const reports =
      tasks.find(({ taskId }) => taskId === this.bench.bundle.task.id)?.reports ?? 0;
    const isDone = this.send.hidden;
    const rest = remaining.minus(epsilon);
    const after = isDone
      ? `ε = ${remaining}`
      : rest.numerator < 0n
        ? "not enough"
        : `ε = ${rest}`;
    const facts = [
      ["This report uses", `ε = ${epsilon}`, "spends", epsilon],
      ["Used so far, in all tasks of this collector", `ε = ${used}`, "used", used],
      [
        isDone ? "Remaining" : "Remaining after this report",
        `${after} of ${lifetime}`,
        "remaining",
        isDone ? remaining : rest,
      ],
      ["Reports to this task", `${reports} of at most ${most}`, "reports", reports],
    ] as const;
    return [
      bar(used.toNumber(), isDone ? 0 : epsilon.toNumber(), lifetime.toNumber()),
      h(
        "dl",
        { class: "budget" },
        ...facts
          .slice(Number(isDone))
          .map(([name, text, key, value]) =>
            h(
              "div",
              {},
              h("dt", {}, name),
              h("dd", { "data-fact": key, "data-value": String(value) }, text),
            ),
          ),
      ),
    ];
  }
}

const FORGETFUL =
  "I understand that this browser may lose its record of the budget I have used, for example when " +
  "storage runs low. A private window always loses it when it closes. My earlier reports are then no longer counted.";

/** The error if the task is not running by this device's clock; otherwise undefined. */
export function timeRefusal({
  bundle,
}: Pick<Bench, "bundle">): { code: string; message: string } | undefined {
  const { start, end, timePrecision } = bundle.task.facts;
  const now = bundle.task.epoch(Date.now());
  const byClock = "By the clock of this device";
  if (now < start)
    return {
      code: "task_not_started",
      message: `This task starts on ${moment(start, timePrecision)} (UTC). ${byClock}, that is in the future. You cannot send anything yet.`,
    };
  if (now >= end)
    return {
      code: "task_expired",
      message: `This task ended on ${moment(end, timePrecision)} (UTC). ${byClock}, that is in the past. You cannot send anything any more.`,
    };
  return undefined;
}

/** A bar of the budget: used, about to be used, and remaining. */
function bar(used: number, next: number, lifetime: number): SVGElement {
  const wide = (part: number) => Math.min(1, part / lifetime) * BAR.width;
  const part = (kind: string, from: number, size: number) =>
    svg("rect", {
      class: kind,
      x: wide(from),
      y: 0,
      width: Math.min(wide(size), BAR.width - wide(from)),
      height: BAR.height,
    });
  return svg(
    "svg",
    {
      class: "budget-bar",
      viewBox: `0 0 ${BAR.width} ${BAR.height}`,
      "aria-hidden": "true",
      preserveAspectRatio: "none",
    },
    svg("rect", { class: "left", width: BAR.width, height: BAR.height }),
    part("spent", 0, used),
    part("more", used, next),
  );
}
