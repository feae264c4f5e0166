/** Tabs as in the ARIA practices: arrow keys move the focus and show the tab. */
import { h } from "./dom";

export interface Tab {
  key: string;
  label: string;
}

export class Tabs {
  readonly element = h("div", {
    role: "tablist",
    class: "tabs",
    "aria-label": "Query",
  });
  private readonly buttons: HTMLButtonElement[];

  constructor(
    private readonly tabs: Tab[],
    panel: string,
    private readonly chosen: (index: number) => void,
  ) {
    this.buttons = tabs.map(({ key, label }, k) =>
      h(
        "button",
        {
          type: "button",
          role: "tab",
          id: `tab-${key}`,
          "aria-controls": panel,
          click: () => this.choose(k),
          keydown: (event: KeyboardEvent) => this.moved(event, k),
        },
        label,
      ),
    );
    this.element.append(...this.buttons);
  }

  choose(index: number): void {
    this.buttons.forEach((button, k) => {
      button.setAttribute("aria-selected", String(k === index));
      button.tabIndex = k === index ? 0 : -1;
    });
    this.chosen(index);
  }

  /** Focus the selected tab. */
  focus(): void {
    this.buttons.find(({ tabIndex }) => tabIndex === 0)?.focus();
  }

  private moved(event: KeyboardEvent, from: number): void {
    const last = this.tabs.length - 1;
    const to = {
      ArrowRight: from === last ? 0 : from + 1,
      ArrowLeft: from === 0 ? last : from - 1,
      Home: 0,
      End: last,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.choose(to);
    this.buttons[to]!.focus();
  }
}
