/** The section on the privacy guarantee, on the contributor's page and the dashboard. */
import type { Guarantee } from "./api";
import { h } from "./dom";

/** `addressee` introduces the sentence on the budget where "you" is not the reader. */
export function guaranteeSection(
  stated: Guarantee,
  epsilon: string,
  addressee = "",
): HTMLElement {
  const bounds = Object.entries(stated.posterior_bounds).map(([before, after]) =>
    h(
      "tr",
      {},
      h("th", { scope: "row", class: "number" }, `${before} %`),
      h("td", { class: "number" }, `${after} %`),
    ),
  );
  const list = (title: string, items: string[]) =>
    h(
      "div",
      {},
      h("h3", {}, title),
      h("ul", {}, ...items.map((item) => h("li", {}, sentence(item)))),
    );
  return h(
    "div",
    { class: "guarantee" },
    h(
      "div",
      {},
      h(
        "p",
        { class: "odds" },
        h("span", { class: "figure" }, `${stated.times_at_most} : 1`),
        h(
          "span",
          {},
          `the most that one report can change the odds of a guess (ε = ${epsilon})`,
        ),
      ),
      h("p", {}, sentence(stated.guaranteed)),
      h("p", {}, `Each report is about ${stated.asks}.`),
      h("p", { class: "soft" }, `${addressee}${sentence(stated.adds_up)}`),
    ),
    h(
      "div",
      {
        class: "scroll",
        tabindex: 0,
        role: "region",
        "aria-label": "How sure someone can become",
      },
      h(
        "table",
        {},
        h("caption", {}, "How sure someone can become of a guess by seeing one report"),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", { scope: "col", class: "number" }, "Before"),
            h("th", { scope: "col", class: "number" }, "After, at most"),
          ),
        ),
        h("tbody", {}, ...bounds),
      ),
    ),
    list("Who sees what", stated.seen),
    list("What is not covered", stated.not_covered),
  );
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
