/** Downloads all rows of an answer as CSV; the table on the page shows only the largest. */
import type { Answer } from "./api";
import { h } from "./dom";

export function saving(answer: Answer): HTMLElement {
  const save = (forSpreadsheets: boolean) => () => {
    const content = csv(answer, forSpreadsheets);
    const address = URL.createObjectURL(new Blob([content], { type: "text/csv" }));
    h("a", { href: address, download: `${answer.kind}.csv` }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  };
  return h(
    "p",
    { class: "save buttons" },
    h("button", { type: "button", "data-action": "save", click: save(false) }, "Download CSV"),
    h(
      "button",
      { type: "button", "data-action": "save-spreadsheet", click: save(true) },
      "Download for spreadsheets",
    ),
  );
}

export function csv({ columns }: Pick<Answer, "columns">, forSpreadsheets = false): string {
  const names = Object.keys(columns);
  const size = columns[names[0] ?? ""]?.length ?? 0;
  const cell = (value: unknown) => (forSpreadsheets ? withoutFormula(value) : value);
  const rows = Array.from({ length: size }, (_, k) =>
    names.map((name) => cell(columns[name]![k])),
  );
  return [names, ...rows].map((row) => `${row.map(quoted).join(",")}\n`).join("");
}

/** Put an apostrophe before text that a spreadsheet would read as a formula, like `nomadp query`. */
function withoutFormula(value: unknown): unknown {
  return typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
}

function quoted(value: unknown): string {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
