/** Step 5: the budget used and remaining, and the one button that sends. */
import { isPersistent, type Receipt, type Budget } from "nomadp-client";
import { h, show, svg } from "../dom";
import type { Bench, Step } from "./bench";
import { canBeSentAgain, receiptOf } from "./receipts";
import { moment, say, span, tell } from "./words";

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
  /** Whether a report would be taken; nobody knows until it was looked at. */
  private isFree = false;
  private isKept = false;
  /** The one that was made here. */
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
    this.askMoment();
  }

  get isOpen(): boolean {
    return this.bench.isComplete && this.bench.wasPreviewed;
  }

  enter(): void {
    show(this.done);
    this.made = undefined;
    this.send.hidden = false;
    this.later.hidden = this.bench.bundle.task.facts.sendWithin === 0;
    say(this.trouble);
    this.bench.draw({ track: this.bench.track, said: "Your journey, which is not sent." });
    void this.prepare();
  }

  /** Another tab may have used budget meanwhile. */
  async refresh(): Promise<void> {
    await this.followMade();
    show(this.budget, ...this.account(await this.bench.account.budget()));
  }

  private async prepare(): Promise<void> {
    this.isFree = false;
    this.enable();
    try {
      this.isKept = await isPersistent();
      show(this.consent, this.accept, h("label", { for: "accept" }, FORGETFUL));
      this.consent.hidden = this.isKept;
      await this.refresh();
      const closed = timeRefusal(this.bench);
      if (closed) say(this.trouble, closed.words, closed.code);
      else await this.bench.account.check();
      this.isFree = closed === undefined;
    } catch (error) {
      tell(this.trouble, error);
    }
    this.enable();
  }

  private enable(): void {
    const free = this.isFree && !this.isSending && this.trouble.textContent === "";
    this.send.disabled = !free || !(this.isKept || this.accept.checked);
  }

  private async report(): Promise<void> {
    const { account, chosen } = this.bench;
    this.isSending = true;
    this.enable();
    this.send.textContent = "Sending …";
    try {
      await account.open(!this.isKept);
      const now = this.bench.bundle.task.facts.sendWithin === 0 || this.atOnce.checked;
      this.settled(await account.report(chosen!.points, { now, hour: chosen!.hour }));
      this.focusReceipt();
    } catch (error) {
      tell(this.trouble, error);
      this.trouble.focus(); // the button that had the focus can no longer be pressed
    }
    this.isSending = false;
    this.send.textContent = `Send (uses ε = ${this.bench.bundle.task.facts.epsilon})`;
    await this.refresh().catch(() => undefined);
  }

  /** Another tab, the table or its random moment may have sent it meanwhile. */
  private async followMade(): Promise<void> {
    const { made } = this;
    if (made === undefined) return;
    const all = await this.bench.account.receipts();
    const now = all.find(({ reportId }) => reportId === made.reportId);
    const isNews = now && (now.state !== made.state || now.reason !== made.reason);
    if (!isNews || this.made !== made) return;
    const wasHere = this.done.contains(document.activeElement);
    this.settled(now);
    if (wasHere) this.focusReceipt(); // its buttons were made anew
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

  /** On the map, what the bytes say: read back from them, once they were accepted. */
  private drawSent(body: string | undefined): void {
    if (!body) return;
    const { bundle, telling } = this.bench;
    const { value } = (JSON.parse(body) as { reports: [{ value: string }] }).reports[0];
    const numbers = bundle.code.parse(value);
    const released = bundle.task.isOracle
      ? { values: numbers, number: null }
      : { values: [], number: numbers[0]! };
    const { lines, areas, says } = telling.of(released);
    const said = `Your journey, and the report that was sent: ${says}`;
    this.bench.draw({ track: this.bench.track, report: lines, areas, said }, "all");
  }

  private askMoment(): void {
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
    const here = tasks.find(({ taskId }) => taskId === this.bench.bundle.task.id)?.reports ?? 0;
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
      ["Reports to this task", `${here} of at most ${most}`, "reports", here],
    ] as const;
    return [
      bar(used.toNumber(), isDone ? 0 : epsilon.toNumber(), lifetime.toNumber()),
      h(
        "dl",
        { class: "budget" },
        ...facts
          .slice(Number(isDone))
          .map(([name, said, key, value]) =>
            h(
              "div",
              {},
              h("dt", {}, name),
              h("dd", { "data-fact": key, "data-value": String(value) }, said),
            ),
          ),
      ),
    ];
  }
}

const FORGETFUL =
  "I understand that this browser may lose its record of the budget I have used. It may do so when " +
  "storage runs low. A private window always does when it closes. Then nobody keeps count any more.";

/** Why nothing is taken today; nothing if it is. */
export function timeRefusal({
  bundle,
}: Pick<Bench, "bundle">): { code: string; words: string } | undefined {
  const { start, end, timePrecision } = bundle.task.facts;
  const now = bundle.task.epoch(Date.now());
  const clock = "By the clock of this device";
  if (now < start)
    return {
      code: "task_not_started",
      words: `This task starts on ${moment(start, timePrecision)} (UTC). ${clock}, that is in the future. You cannot send anything yet.`,
    };
  if (now >= end)
    return {
      code: "task_expired",
      words: `This task ended on ${moment(end, timePrecision)} (UTC). ${clock}, that is over. You cannot send anything any more.`,
    };
  return undefined;
}

/** Used, about to be used, and remaining. */
function bar(used: number, more: number, lifetime: number): SVGElement {
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
    part("more", used, more),
  );
}
