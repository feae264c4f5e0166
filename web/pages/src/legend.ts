/** The legend of a map: colours, widths and hatching. The texts are those of legend.py. */
import type { Drawn } from "./api";
import { h, svg } from "./dom";
import {
  CERTAINTY,
  FLOW_DASHES,
  HATCH_LINE_PX,
  HATCH_PX,
  HATCHED,
  percent,
  UNKNOWN,
  UNKNOWN_SOURCE,
  WORDS,
} from "./theme";

const CELL = 56;
const ROW = 17;

export function legend(drawn: Drawn): HTMLElement | null {
  if (drawn.curves?.length) {
    return h("div", { class: "legend" }, ...flows(drawn));
  }
  // Dots at the ends of flows have row -1 and no step.
  if (!(drawn.areas?.length || drawn.dots?.some(({ row }) => row >= 0))) return null;
  const size = drawn.areas?.length
    ? null
    : h("div", { "data-legend": "size" }, "Larger dots: larger shares");
  return h(
    "div",
    { class: "legend" },
    values(drawn),
    isHatched(drawn) ? uncertain() : null,
    size,
  );
}

function isHatched({ areas = [], dots = [] }: Drawn): boolean {
  return [...areas, ...dots].some(({ step }) => step === HATCHED);
}

function drawing(width: number, height: number, ...inside: SVGElement[]): SVGElement {
  const attributes = { width, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" };
  return svg("svg", attributes, ...inside);
}

/** One row of shades for each level of certainty; less certain values have fewer shades. */
function values({ edges = [], has_intervals: isKnown = true }: Drawn): HTMLElement {
  const width = 4 * CELL;
  const parts: SVGElement[] = [];
  const rules = Object.entries(CERTAINTY).filter(([word]) => isKnown || word === UNKNOWN);
  const below = rules.length * ROW;
  rules.forEach(([word, rule], line) => {
    const stepWidth = width / rule.steps;
    for (let k = 0; k < rule.steps; k += 1) {
      const at = { x: k * stepWidth, y: line * ROW, width: stepWidth, height: ROW };
      parts.push(svg("rect", { class: `mark ${word}-${k + 1}`, ...at }));
    }
    const label = isKnown ? WORDS[word] : UNKNOWN_SOURCE;
    parts.push(svg("text", { x: width + 8, y: line * ROW + 12 }, label ?? word));
  });
  edges.forEach((edge, k) => {
    const at = { x: (k + 1) * CELL, y: below + 14, "text-anchor": "middle" };
    // Small shares have long labels, so only the last label has a percent sign.
    const isLast = k === edges.length - 1;
    parts.push(svg("text", at, isLast ? percent(edge) : percent(edge).replace(" %", "")));
  });
  const fewer = isKnown ? "; fewer shades where it is less certain" : "";
  const attributes = { "data-legend": isKnown ? "shares" : "shares-without-intervals" };
  return h("div", attributes, `Share${fewer}`, drawing(width + 150, below + 18, ...parts));
}

function uncertain(): HTMLElement {
  const pattern = svg(
    "pattern",
    {
      id: "hatch",
      width: HATCH_PX,
      height: HATCH_PX,
      patternUnits: "userSpaceOnUse",
      patternTransform: "rotate(45)",
    },
    svg("rect", { class: "hatch-ground", width: HATCH_PX, height: HATCH_PX }),
    svg("path", {
      class: "hatch-line",
      d: `M0 0V${HATCH_PX}`,
      "stroke-width": HATCH_LINE_PX,
    }),
  );
  const at = { x: 0.5, y: 0.5, width: CELL - 1, height: 3 * ROW, fill: "url(#hatch)" };
  const inside = [svg("defs", {}, pattern), svg("rect", { class: `mark ${HATCHED}`, ...at })];
  return h(
    "div",
    { "data-legend": "nothing" },
    "Too uncertain",
    drawing(CELL, 3 * ROW + 18, ...inside),
  );
}

function flows({ curves = [], has_intervals: isKnown = true }: Drawn): HTMLElement[] {
  const hasLess = curves.some(({ less }) => less);
  const line = (x: number, y: number, width: number, word: string, dashes?: string) =>
    svg("path", {
      class: `flow ${word}`,
      d: `M${x} ${y}h44`,
      "stroke-width": width,
      "stroke-dasharray": dashes,
    });
  const dashes = FLOW_DASHES.map((part) => 6 * part).join(" ");
  const shades = Object.entries(WORDS).flatMap(([word, label], k) => [
    line(0, 10 + ROW * k, 6, word),
    svg("text", { x: 52, y: 14 + ROW * k }, label),
  ]);
  return [
    h(
      "div",
      { "data-legend": "width" },
      "Wider: more trips",
      drawing(104, 24, line(0, 12, 1.6, "certain"), line(56, 12, 10, "certain")),
    ),
    ...(isKnown
      ? [
          h(
            "div",
            { "data-legend": "certainty" },
            "Fainter: less certain",
            drawing(210, 56, ...shades),
          ),
        ]
      : []),
    ...(hasLess
      ? [
          h(
            "div",
            { "data-legend": "less" },
            "Dashed: below the baseline",
            drawing(104, 24, line(0, 12, 6, "certain", dashes)),
          ),
        ]
      : []),
    h("div", { "data-legend": "direction" }, "Flows curve to the right of their direction."),
  ];
}
