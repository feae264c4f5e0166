/** All rows of an answer as a file: the table on the page has the greatest only. */
import type { Answer } from "./api";
import { h } from "./dom";

export function saving(answer: Answer): HTMLElement {
  const click = () => {
    const address = URL.createObjectURL(new Blob([csv(answer)], { type: "text/csv" }));
    h("a", { href: address, download: `${answer.kind}.csv` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  };
  return h(
    "p",
    { class: "save" },
    h("button", { type: "button", "data-action": "save", click }, "Save all rows as CSV"),
  );
}

export function csv({ columns }: Pick<Answer, "columns">): string {
  const names = Object.keys(columns);
  const size = columns[names[0] ?? ""]?.length ?? 0;
  const rows = Array.from({ length: size }, (_, k) => names.map((name) => columns[name]![k]));
  return [names, ...rows].map((row) => `${row.map(quoted).join(",")}\n`).join("");
}

function quoted(value: unknown): string {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
