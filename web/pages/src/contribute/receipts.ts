/** What became of reports: a receipt for each, and the same bytes again where one waits. */
import type { Receipt } from "nomadp-client";
import { h, show } from "../dom";
import { isScheduled } from "./account";
import type { Bench } from "./bench";
import { moment, tell } from "./words";

export function stateOf({ state, reason, notBefore }: Receipt): string {
  if (state === "accepted") return "Accepted. The collector has stored it.";
  if (state === "charged")
    return "Lost, because the tab crashed or closed before the report was made. The budget stays used.";
  if (state === "stopped") return `Refused: ${because(reason)}. The budget stays used.`;
  if (reason === null)
    return `Waiting for its random time, ${clock(notBefore)}. Keep this page open, or come back then.`;
  return `Waiting: ${because(reason)}. This browser keeps the report, so you can send it again.`;
}

/** The same for programs: `data-state`, and as it was noted down why. */
function stated(receipt: Receipt): Record<string, string | undefined> {
  const state = isScheduled(receipt) ? "scheduled" : receipt.state;
  return { "data-state": state, "data-reason": receipt.reason ?? undefined };
}

/** Whether it was tried: one that waits for its random moment keeps to it. */
export function canBeSentAgain(receipt: Receipt): boolean {
  return ["waiting", "stopped"].includes(receipt.state) && !isScheduled(receipt);
}

/** How reasons begin, as a client writes them down, and what they mean. */
const REASONS: readonly (readonly [string, string])[] = [
  ["report_dropped", "the task was closed"],
  ["report_replayed", "it came too late, or the collector has one with its id"],
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

/** In words, and in brackets as it was noted down. */
function because(reason: string | null): string {
  const noted = reason ?? "";
  const found = REASONS.find(([start]) => noted.startsWith(start))?.[1];
  const code = /\((.*)\)$/.exec(noted)?.[1] ?? noted;
  return `${found ?? "the collector does not accept it"} (${code})`;
}

function clock(unixS: number | null): string {
  return new Date((unixS ?? 0) * 1000).toLocaleString("en");
}

/** Everything that this browser reported to the task. */
export class Receipts {
  readonly element = h("section", { class: "band", id: "receipts", hidden: true });
  private readonly heading = h("h2", { tabindex: -1 }, "Reports from this browser");
  private readonly rows = h("tbody", {});
  private readonly trouble = h("p", { class: "trouble", role: "alert" });

  constructor(private readonly bench: Pick<Bench, "account" | "bundle">) {
    const head = ["Report", "Time", "Budget used", "Status", ""].map((name) =>
      name ? h("th", { scope: "col" }, name) : h("td", {}),
    );
    const told = { class: "scroll", tabindex: 0, role: "region", "aria-label": "Receipts" };
    this.element.append(
      this.heading,
      this.trouble,
      h("div", told, h("table", {}, h("thead", {}, h("tr", {}, ...head)), this.rows)),
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
          h("td", stated(each), stateOf(each)),
          h("td", {}, canBeSentAgain(each) ? this.again(each) : null),
        ),
      ),
    );
  }

  private again({ reportId }: Receipt): HTMLElement {
    const told = { type: "button", "data-action": "send-again" };
    const button = h("button", told, "Send the same report again");
    button.addEventListener("click", () => {
      button.disabled = true;
      this.bench.account
        .send(reportId)
        .catch((error: unknown) => tell(this.trouble, error))
        .finally(() => void this.refresh().then(() => this.heading.focus()));
    });
    return button;
  }
}

const UNSEEN =
  "You can see what your report says once the collector has it. If you could look first, you might " +
  "send only some reports. That choice would give something away.";

/** The one that was just made, with all that left once it was accepted. */
export function receiptOf(receipt: Receipt, body: string | undefined): HTMLElement {
  const facts = [
    ["Report", receipt.reportId],
    ["Task", receipt.taskId],
    ["Budget used", `ε = ${receipt.epsilon}`],
    ["Status", stateOf(receipt)],
  ] as const;
  const save = () => {
    const { taskId, reportId, time, state } = receipt;
    const said = {
      task: taskId,
      report: reportId,
      time,
      epsilon: `${receipt.epsilon}`,
      state,
      body,
    };
    const file = new Blob([`${JSON.stringify(said, null, 2)}\n`], { type: "application/json" });
    const address = URL.createObjectURL(file);
    h("a", { href: address, download: `receipt-${reportId}.json` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  };
  return h(
    "div",
    { class: "receipt", id: "receipt", ...stated(receipt) },
    h("h3", { tabindex: -1 }, "Receipt"),
    h(
      "dl",
      {},
      ...facts.map(([name, said]) => h("div", {}, h("dt", {}, name), h("dd", {}, said))),
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
