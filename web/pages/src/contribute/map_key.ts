/** What the marks of the map mean: only of those that are on it. */
import { h } from "../dom";
import type { Marks } from "./journey_map";

export class MapKey {
  private readonly each: readonly (readonly [HTMLElement, (marks: Marks) => boolean])[] = [
    [entry("place", "public locations"), () => true],
    [entry("track", "your journey, which stays here"), ({ track }) => !!track?.length],
    [entry("snapped", "what is read of it"), ({ snapped }) => !!snapped?.length],
    [
      entry("report", "what a report tells"),
      ({ report, areas }) => !!report?.length || !!areas?.length,
    ],
    [entry("ghost", "earlier previews"), ({ ghosts }) => !!ghosts?.length],
  ];
  readonly element = h(
    "figcaption",
    {},
    h("ul", { class: "marks" }, ...this.each.map(([element]) => element)),
  );

  show(marks: Marks): void {
    for (const [element, isDrawn] of this.each) element.hidden = !isDrawn(marks);
  }
}

function entry(kind: string, words: string): HTMLElement {
  return h("li", {}, h("span", { class: `mark-${kind}`, "aria-hidden": "true" }), words);
}
