/** The receipts of reports, with a button to send the same bytes again. */
import type { Receipt } from "nomadp-client";
import { h, show } from "../dom";
import { isScheduled } from "./account";
import type { Bench } from "./bench";
import { moment, showError } from "./text";

export function stateOf({ state, reason, notBefore }: Receipt): string {
  if (state === "accepted") return "Accepted. The collector has stored it.";
  if (state === "charged")
    return "Lost, because the tab crashed or closed before the report was made. The budget stays used.";
  if (state === "stopped") return `Refused: ${because(reason)}. The budget stays used.`;
  if (reason === null)
    return `Waiting for its random time, ${clock(notBefore)}. Keep this page open, or come back then.`;
  return `Waiting: ${because(reason)}. This browser keeps the report, so you can send it again.`;
}

/** The state as attributes, for programs. */
function stateAttributes(receipt: Receipt): Record<string, string | undefined> {
  const state = isScheduled(receipt) ? "scheduled" : receipt.state;
  return { "data-state": state, "data-reason": receipt.reason ?? undefined };
}

/** Whether a person can send a report again. A scheduled one waits for its random time. */
export function canBeSentAgain(receipt: Receipt): boolean {
  return ["waiting", "stopped"].includes(receipt.state) && !isScheduled(receipt);
}

/** The beginnings of the reasons that the client records, and what they mean. */
const REASONS: readonly (readonly [string, string])[] = [
  ["report_dropped", "the task was closed"],
  ["report_replayed", "it came too late, or the collector already has a report with its id"],
  ["task_expired", "the task has ended"],
  ["report_too_early", "by the collector's clock, its day has not come yet"],
  ["task_not_started", "by the collector's clock, the task has not started"],
  ["unreachable", "the collector cannot be reached"],
  ["busy", "the collector is busy or down"],
  ["the reply", "this page does not understand the reply"],
  ["moved", "something other than the collector answered"],
  ["refused (404", "the collector no longer has this task"],
  ["refused (urn:nomadp:error:unrecognized_task", "the collector no longer has this task"],
];

/** The meaning of a reason, and the recorded code in brackets. */
function because(reason: string | null): string {
  const recorded = reason ?? "";
  const meaning = REASONS.find(([start]) => recorded.startsWith(start))?.[1];
  const code = /\((.*)\)$/.exec(recorded)?.[1] ?? recorded;
  return `${meaning ?? "the collector does not accept it"} (${code})`;
}

function clock(unixS: number | null): string {
  return new Date((unixS ?? 0) * 1000).toLocaleString("en");
}

/** The table of all reports from this browser to the task. */
export class Receipts {
  readonly element = h("section", { class: "band", id: "receipts", hidden: true });
  private readonly heading = h("h2", { tabindex: -1 }, "Reports from this browser");
  private readonly rows = h("tbody", {});
  private readonly trouble = h("p", { class: "trouble", role: "alert" });

  constructor(private readonly bench: Pick<Bench, "account" | "bundle">) {
    const head = ["Report", "Time", "Budget used", "Status", ""].map((name) =>
      name ? h("th", { scope: "col" }, name) : h("td", {}),
    );
    const attributes = {
      class: "scroll",
      tabindex: 0,
      role: "region",
      "aria-label": "Receipts",
    };
    this.element.append(
      this.heading,
      this.trouble,
      h("div", attributes, h("table", {}, h("thead", {}, h("tr", {}, ...head)), this.rows)),
    );
  }

  async refresh(): Promise<void> {
    const { account, bundle } = this.bench;
    const all = await account.receipts();
    this.element.hidden = all.length === 0;
    const { timePrecision } = bundle.task.facts;
    show(
      this.rows,
      ...all.map((each) =>
        h(
          "tr",
          {},
          h("th", { scope: "row", class: "id" }, each.reportId),
          h("td", {}, moment(each.time, timePrecision)),
          h("td", {}, `ε = ${each.epsilon}`),
          h("td", stateAttributes(each), stateOf(each)),
          h("td", {}, canBeSentAgain(each) ? this.again(each) : null),
        ),
      ),
    );
  }

  private again({ reportId }: Receipt): HTMLElement {
    const attributes = { type: "button", "data-action": "send-again" };
    const button = h("button", attributes, "Send the same report again");
    button.addEventListener("click", () => {
      button.disabled = true;
      this.bench.account
        .send(reportId)
        .catch((error: unknown) => showError(this.trouble, error))
        .finally(() => void this.refresh().then(() => this.heading.focus()));
    });
    return button;
  }
}

const UNSEEN =
  "You can see what your report says once the collector has it. If you could look first, you might " +
  "send only some reports. That choice would give something away.";

/** The receipt of the latest report, with its bytes once it was accepted. */
export function receiptOf(receipt: Receipt, body: string | undefined): HTMLElement {
  const facts = [
    ["Report", receipt.reportId],
    ["Task", receipt.taskId],
    ["Budget used", `ε = ${receipt.epsilon}`],
    ["Status", stateOf(receipt)],
  ] as const;
  const save = () => {
    const { taskId, reportId, time, state } = receipt;
    const content = {
      task: taskId,
      report: reportId,
      time,
      epsilon: `${receipt.epsilon}`,
      state,
      body,
    };
    const file = new Blob([`${JSON.stringify(content, null, 2)}\n`], {
      type: "application/json",
    });
    const address = URL.createObjectURL(file);
    h("a", { href: address, download: `receipt-${reportId}.json` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  };
  return h(
    "div",
    { class: "receipt", id: "receipt", ...stateAttributes(receipt) },
    h("h3", { tabindex: -1 }, "Receipt"),
    h(
      "dl",
      {},
      ...facts.map(([name, value]) => h("div", {}, h("dt", {}, name), h("dd", {}, value))),
    ),
    body
      ? h("pre", { class: "bytes", tabindex: 0, "aria-label": "The bytes of the report" }, body)
      : h("p", { class: "soft" }, UNSEEN),
    h(
      "p",
      {},
      h("button", { type: "button", "data-action": "save", click: save }, "Save receipt"),
    ),
  );
}
