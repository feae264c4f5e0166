/** The table of refused reports and their reasons. */
import type { Progress } from "./api";
import { count, h, plural } from "./dom";

/** The reasons by counter; docs/operate.md explains the same to operators. */
const REASONS: Record<string, [string, string]> = {
  report_replayed: [
    "Report id reused with other content",
    "A faulty device, or an attack. The first report is kept.",
  ],
  late: ["Too late", "The retention period of its time has ended."],
  report_dropped: ["Task closed", "It arrived after the task was closed."],
  report_too_early: [
    "Time in the future",
    "The clock of the device or of the collector is wrong.",
  ],
  task_not_started: ["Task not started", "Its time is before the task starts."],
  task_expired: ["Task ended", "Its time is after the task ended."],
  invalid_message: ["Invalid report", "The mechanism of this task cannot produce it."],
  simulated: ["Simulated", "It is marked as part of an experiment."],
  too_large: ["Too large", "A message may have at most 64 KiB."],
  unsupported_media_type: [
    "Wrong media type",
    "The client is broken, or is not a NomaDP client.",
  ],
  overloaded: ["Overloaded", "The queue was full. Devices send the same report again."],
  unavailable: ["Store unavailable", "Devices send the same report again."],
  clock_suspect: ["Collector clock in doubt", "Devices send the same report again."],
  storage_full: ["Disk nearly full", "Devices send the same report again."],
};
const ACCEPTED = ["accepted", "accepted_again"];

export function refusedReports(progress: Progress): HTMLElement {
  const refusals = Object.entries(progress.counters).filter(
    ([reason, n]) => !ACCEPTED.includes(reason) && n > 0,
  );
  refusals.sort((a, b) => b[1] - a[1]);
  const duplicates = progress.counters.accepted_again ?? 0;
  const repeated = duplicates
    ? ` ${plural(duplicates, "duplicate")} of accepted reports ${duplicates === 1 ? "was" : "were"} ignored.`
    : "";
  if (!refusals.length) {
    return h("p", {}, `No report was refused.${repeated}`);
  }
  const rows = refusals.map(([reason, n]) => {
    const [title, explanation] = REASONS[reason] ?? [reason, ""];
    return h(
      "tr",
      { "data-reason": reason },
      h("th", { scope: "row" }, title),
      h("td", { class: "number" }, count(n)),
      h("td", { class: "soft" }, explanation),
    );
  });
  const head = ["Reason", "Count", "Explanation"].map((name, k) =>
    h("th", { scope: "col", class: k === 1 ? "number" : undefined }, name),
  );
  const caption = `Refused reports and messages.${repeated}`;
  const table = h(
    "table",
    {},
    h("caption", {}, caption),
    h("thead", {}, h("tr", {}, ...head)),
    h("tbody", {}, ...rows),
  );
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": "Refused reports" },
    table,
  );
}
