/** What everybody who takes part was promised, in the words in which their device says it. */
import type { Promised } from "./api";
import { h } from "./dom";

/** ``whose`` says in whose words it is told what adds up, where it is not the reader's own. */
export function guarantee(promised: Promised, epsilon: string, whose = ""): HTMLElement {
  const grown = Object.entries(promised.posterior_bounds).map(([before, after]) =>
    h(
      "tr",
      {},
      h("th", { scope: "row", class: "number" }, `${before} %`),
      h("td", { class: "number" }, `${after} %`),
    ),
  );
  const list = (title: string, all: string[]) =>
    h(
      "div",
      {},
      h("h3", {}, title),
      h("ul", {}, ...all.map((each) => h("li", {}, sentence(each)))),
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
        h("span", { class: "figure" }, `${promised.times_at_most} : 1`),
        h("span", {}, `at most, for ε = ${epsilon}`),
      ),
      h("p", {}, sentence(promised.guaranteed)),
      h("p", {}, `A report tells ${promised.asks}.`),
      h("p", { class: "soft" }, sentence(`${whose}${promised.adds_up}`)),
    ),
    h(
      "div",
      {
        class: "scroll",
        tabindex: 0,
        role: "region",
        "aria-label": "How a suspicion can grow",
      },
      h(
        "table",
        {},
        h(
          "caption",
          {},
          "However much somebody knew before, one report can raise a suspicion at most so far.",
        ),
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", { scope: "col", class: "number" }, "Suspected before"),
            h("th", { scope: "col", class: "number" }, "After, at most"),
          ),
        ),
        h("tbody", {}, ...grown),
      ),
    ),
    list("Who sees what", promised.seen),
    list("What is not covered", promised.not_covered),
  );
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}
