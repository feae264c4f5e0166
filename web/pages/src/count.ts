/** The live number of reports. */
import type { Progress } from "./api";
import { count, h, show, svg } from "./dom";

const BARS = { width: 260, height: 44, most: 60 };

export class LiveCount {
  private readonly number = h("span", { class: "figure", id: "reports" }, "0");
  private readonly label = h("span", {});
  private readonly sentence = h("p", { class: "soft" });
  private readonly bars = h("div", { class: "bars" });
  readonly element = h(
    "div",
    { class: "count" },
    h("p", { class: "odds" }, this.number, this.label),
    this.sentence,
    this.bars,
  );

  show(progress: Progress): void {
    const { reports, min_batch_size, closed } = progress;
    const missing = Math.max(0, min_batch_size - reports);
    Object.assign(this.element.dataset, { reports, missing, closed });
    this.number.textContent = count(reports);
    this.label.textContent = progress.closed ? "reports in total" : "reports so far";
    this.sentence.textContent = sentenceOf(progress);
    show(this.bars, barsOf(progress));
  }
}

function sentenceOf({ reports, min_batch_size, closed }: Progress): string {
  const missing = min_batch_size - reports;
  const minimum = `Minimum batch size: ${count(min_batch_size)}.`;
  if (closed) return `Closed: no new reports are accepted. ${minimum}`;
  return missing > 0
    ? `${count(missing)} more ${missing === 1 ? "is" : "are"} needed. ${minimum}`
    : `${minimum} A report counts once it is on disk.`;
}

/** Reports by time, in the precision of the task. */
function barsOf(progress: Progress): Element | null {
  const epochs = Object.entries(progress.by_epoch)
    .map(([epoch, n]) => [Number(epoch), n] as const)
    .sort((a, b) => a[0] - b[0]);
  if (epochs.length < 2) return null;
  const first = Math.max(epochs[0]![0], epochs.at(-1)![0] - BARS.most + 1);
  const last = epochs.at(-1)![0];
  const shown = epochs.filter(([epoch]) => epoch >= first);
  const top = Math.max(...shown.map(([, n]) => n));
  const wide = Math.min(BARS.width / (last - first + 1), 26);
  const bars = shown.map(([epoch, n]) => {
    const high = Math.max((n / top) * (BARS.height - 2), 1);
    const at = {
      x: (epoch - first) * wide,
      y: BARS.height - high,
      width: Math.max(wide - 2, 1),
      height: high,
    };
    return svg(
      "rect",
      { class: "bar", ...at },
      svg("title", {}, `${day(epoch, progress)}: ${count(n)}`),
    );
  });
  const label = `Reports by time, from ${day(first, progress)} to ${day(last, progress)}; highest bar: ${count(top)}`;
  const attributes = {
    viewBox: `0 0 ${BARS.width} ${BARS.height}`,
    width: BARS.width,
    role: "img",
    "aria-label": label,
  };
  return h(
    "figure",
    {},
    svg("svg", attributes, ...bars),
    h("figcaption", {}, `${day(first, progress)} to ${day(last, progress)}`),
  );
}

export function day(epoch: number, progress: Progress): string {
  const text = new Date(epoch * progress.time_precision * 1000).toISOString();
  return progress.time_precision % 86_400 === 0
    ? text.slice(0, 10)
    : text.slice(0, 16).replace("T", " ");
}
