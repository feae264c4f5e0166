/** The key of the map: explains only the marks that are on it. */
import { count, h } from "../dom";
import type { Box } from "../features";
import type { Marks } from "./journey_map";
import { isAround } from "./surroundings";

export class MapKey {
  private readonly outside = h("p", { class: "outside", role: "status" });
  private readonly entries: readonly (readonly [HTMLElement, (marks: Marks) => boolean])[] = [
    [entry("place", "public places"), () => true],
    [
      entry("track", "your journey (stays here)"),
      ({ track = [] }) => track.some((at) => isAround(this.area, at)),
    ],
    [entry("snapped", "points that are used"), ({ snapped }) => !!snapped?.length],
    [
      entry("report", "what the report says"),
      ({ report, areas }) => !!report?.length || !!areas?.length,
    ],
    [entry("ghost", "earlier previews"), ({ ghosts }) => !!ghosts?.length],
  ];
  readonly element = h(
    "figcaption",
    {},
    h("ul", { class: "marks" }, ...this.entries.map(([element]) => element)),
    this.outside,
  );

  constructor(private readonly area: Box) {}

  show(marks: Marks): void {
    for (const [element, isDrawn] of this.entries) element.hidden = !isDrawn(marks);
    const track = marks.track ?? [];
    const far = track.filter((at) => !isAround(this.area, at)).length;
    this.outside.dataset.points = String(far);
    this.outside.textContent = outside(far, track.length);
  }
}

/** How many points of a journey are too far away to be on the map. */
function outside(far: number, all: number): string {
  if (!far) return "";
  if (far === all) return "Your journey is outside this map, far from the task's area.";
  const are = far === 1 ? "is" : "are";
  return (
    `${count(far)} of the ${count(all)} points of your journey ${are} outside this map, ` +
    "far from the task's area."
  );
}

function entry(kind: string, label: string): HTMLElement {
  return h(
    "li",
    { "data-mark": kind },
    h("span", { class: `mark-${kind}`, "aria-hidden": "true" }),
    label,
  );
}
