/** The design tokens of theme.json, and colours as the style sheet has them in this theme. */
import theme from "nomadp-theme";

export const CERTAINTY = theme.certainty;
export const [DOT_LEAST_PX, DOT_MOST_PX] = theme.dot_px as [number, number];
/** The distance between the lines of hatching, and their width. */
export const [HATCH_PX, HATCH_LINE_PX] = theme.hatch_px as [number, number];
/** Dashes of flows below the baseline: on and off, in units of the line's width. */
export const FLOW_DASHES: readonly number[] = theme.flow_dashes;
/** The length of an arrowhead: a minimum, plus this factor times the width of its line. */
export const [HEAD_LEAST_PX, HEAD_BY_WIDTH] = theme.flow_head as [number, number];
export const STEPS = Object.entries(CERTAINTY).flatMap(([word, rule]) =>
  Array.from({ length: rule.steps }, (_, k) => `${word}-${k + 1}`),
);
export const HATCHED = "hatched";

/** The labels of certainty in the legend, as in legend.py. */
export const WORDS: Record<string, string> = {
  certain: "CI within one shade",
  fair: "within two shades",
  unsure: "wider",
};

/** The style of marks without a known interval, and their label, as in legend.py. */
export const UNKNOWN = "fair";
export const UNKNOWN_SOURCE = "interval unknown";

export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

export function percent(share: number): string {
  if (share <= 0) return "0 %";
  return share < 1e-4 ? "< 0.01 %" : `${Number((100 * share).toPrecision(3))} %`;
}

/** Call a function whenever the theme changes, until the signal aborts. */
export function onTheme(changed: () => void, end: AbortSignal): void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", changed, { signal: end });
}
