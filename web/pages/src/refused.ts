/** What was refused and why, in words. */
import type { Progress } from "./api";
import { count, h, plural } from "./dom";

/** The same as docs/operate.md tells operators. */
const REASONS: Record<string, [string, string]> = {
  report_replayed: [
    "Sent again with other bytes",
    "A device that draws twice, or somebody who plays; the first is kept.",
  ],
  late: ["Too late", "Its time and the task's retention are over."],
  report_dropped: ["After the task was closed", "Nothing new is taken from then on."],
  report_too_early: ["From the future", "A clock is wrong: the device's or the collector's."],
  task_not_started: ["Before the task begins", "Its time is before the first day."],
  task_expired: ["After the task ended", "Its time is after the last day."],
  invalid_message: ["Not a report of this task", "Its mechanism cannot release this."],
  simulated: ["Simulated", "It says itself that it is an experiment's."],
  too_large: ["Too large", "A message has at most 64 KiB."],
  unsupported_media_type: ["Of another type", "A broken or foreign client."],
  overloaded: ["Asked to come back", "Too much was waiting; devices send the same again."],
  unavailable: ["The store was away", "Devices send the same again."],
  clock_suspect: ["The collector's clock was in doubt", "Devices send the same again."],
  storage_full: ["The disk was nearly full", "Devices send the same again."],
};
const TAKEN = ["accepted", "accepted_again"];

export function refused(progress: Progress): HTMLElement {
  const found = Object.entries(progress.counters).filter(
    ([why, n]) => !TAKEN.includes(why) && n > 0,
  );
  found.sort((a, b) => b[1] - a[1]);
  const again = progress.counters.accepted_again ?? 0;
  const repeated = again
    ? ` ${plural(again, "report")} came twice and ${again === 1 ? "counts" : "count"} once.`
    : "";
  if (!found.length) {
    return h("p", {}, `Nothing was refused.${repeated}`);
  }
  const rows = found.map(([why, n]) => {
    const [words, meaning] = REASONS[why] ?? [why, ""];
    return h(
      "tr",
      { "data-reason": why },
      h("th", { scope: "row" }, words),
      h("td", { class: "number" }, count(n)),
      h("td", { class: "soft" }, meaning),
    );
  });
  const head = ["Why", "How many", "What it means"].map((name, k) =>
    h("th", { scope: "col", class: k === 1 ? "number" : undefined }, name),
  );
  const caption = `Reports and messages that do not count.${repeated}`;
  const table = h(
    "table",
    {},
    h("caption", {}, caption),
    h("thead", {}, h("tr", {}, ...head)),
    h("tbody", {}, ...rows),
  );
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": "What was refused" },
    table,
  );
}
