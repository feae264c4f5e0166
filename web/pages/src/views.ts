/** What a task can be asked, and at which fineness. */
import type { Query } from "./api";

export interface View {
  key: string;
  label: string;
  /** From coarse to fine; the zoom chooses among them. */
  questions: Query[];
}

function view(key: string, label: string, ...questions: Query[]): View {
  return { key, label, questions };
}

/**
 * Which of its questions is shown when the map shows everything: from coarse to fine, the last
 * before one that says nothing. Whoever picked the best of all would find something by chance.
 */
export function homeOf(view: View, says: (question: Query) => boolean): number {
  const silent = view.questions.findIndex((question) => !says(question));
  return Math.max(0, (silent < 0 ? view.questions.length : silent) - 1);
}

const HOTSPOTS = view("hotspots", "Hotspots", { kind: "hotspots" });
const ENDS = view("ends", "Destinations", { kind: "hotspots", at: "ends" });
const STARTS = view("starts", "Origins", { kind: "hotspots", at: "starts" });
const FLOWS = view("flows", "Flows", { kind: "flows" });
const DENSITY = view(
  "density",
  "Density",
  ...[4, 8, 16, 32].map((side) => ({ kind: "density", areas: `grid:${side}` })),
);
const JOURNEYS = view("journeys", "Sample trajectories", { kind: "trajectories" });

/** A direct question tells of its own zones alone, and of trips only if it asks for them. */
export function viewsOf(mechanism: string): View[] {
  if (mechanism === "atlas") return [DENSITY, FLOWS, HOTSPOTS, JOURNEYS];
  return mechanism === "trips" ? [ENDS, FLOWS, STARTS] : [HOTSPOTS];
}
