/** The one palette, as the style sheet has it in this theme. */
import look from "nomadp-theme";

export const CERTAINTY = look.certainty;
export const [DOT_LEAST_PX, DOT_MOST_PX] = look.dot_px as [number, number];
/** How far apart the lines of hatching are, and how wide. */
export const [HATCH_PX, HATCH_LINE_PX] = look.hatch_px as [number, number];
/** Of what is less than flat: on and off, by the width of a line. */
export const FLOW_DASHES: readonly number[] = look.flow_dashes;
/** How long the head of a flow is: at least, and more by the width of its line. */
export const [HEAD_LEAST_PX, HEAD_BY_WIDTH] = look.flow_head as [number, number];
export const STEPS = Object.entries(CERTAINTY).flatMap(([word, rule]) =>
  Array.from({ length: rule.steps }, (_, k) => `${word}-${k + 1}`),
);
export const HATCHED = "hatched";

/** What it is called in the legend, as in legend.py. */
export const WORDS: Record<string, string> = {
  certain: "interval within one shade",
  fair: "within two shades",
  unsure: "wider",
};

/** The look of what has no known interval, and what it is called, as in legend.py. */
export const UNKNOWN = "fair";
export const UNKNOWN_SOURCE = "interval unknown";

export function colour(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

export function percent(share: number): string {
  if (share <= 0) return "0 %";
  return share < 1e-4 ? "< 0.01 %" : `${Number((100 * share).toPrecision(3))} %`;
}

/** Calls back whenever the theme changes, until the end. */
export function onTheme(changed: () => void, end: AbortSignal): void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", changed, { signal: end });
}
