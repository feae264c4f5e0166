/** The table beside the map. A row can be selected in both. */
import type { Drawn } from "./api";
import { h } from "./dom";

export class RowTable {
  readonly element = h("div", { class: "rows" });
  private readonly rows = new Map<number, HTMLTableRowElement>();

  constructor(
    drawn: Drawn,
    private readonly chosen: (row: number | undefined) => void,
  ) {
    const head = drawn.head.map(({ name, number }) =>
      h("th", { scope: "col", class: number ? "number" : undefined }, name),
    );
    const table = h(
      "table",
      {},
      h("caption", {}, drawn.caption),
      h("thead", {}, h("tr", {}, ...head)),
      h("tbody", {}, ...drawn.rows.map((row) => this.row(row, drawn))),
    );
    const label = {
      class: "scroll",
      tabindex: 0,
      role: "region",
      "aria-label": "Estimates",
    };
    this.element.append(h("div", label, table));
  }

  choose(row: number | undefined): void {
    for (const [key, element] of this.rows) {
      element.classList.toggle("chosen", key === row);
      element.querySelector("button")?.setAttribute("aria-pressed", String(key === row));
    }
  }

  private row({ row, cells }: Drawn["rows"][number], drawn: Drawn): HTMLTableRowElement {
    const [first = "", ...rest] = cells;
    const toggle = () => {
      this.chosen(element.classList.contains("chosen") ? undefined : row);
    };
    const button = h(
      "button",
      { type: "button", class: "row", title: first, "aria-pressed": "false" },
      first,
    );
    const others = rest.map((text, k) =>
      h("td", { class: drawn.head[k + 1]?.number ? "number" : undefined }, text),
    );
    const element = h("tr", { click: toggle }, h("th", { scope: "row" }, button), ...others);
    this.rows.set(row, element);
    return element;
  }
}
