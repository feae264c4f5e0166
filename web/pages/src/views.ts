/** The queries that the dashboard runs, and their resolutions. */
import type { Query } from "./api";

export interface View {
  key: string;
  label: string;
  /** From coarse to fine; the zoom level chooses one. */
  queries: Query[];
}

function view(key: string, label: string, ...queries: Query[]): View {
  return { key, label, queries };
}

/**
 * The query to show at first: from coarse to fine, the last one before a query without significant
 * results. Picking the one with the most significant results would find some by chance.
 */
export function homeOf(view: View, isSignificant: (query: Query) => boolean): number {
  const insignificant = view.queries.findIndex((query) => !isSignificant(query));
  return Math.max(0, (insignificant < 0 ? view.queries.length : insignificant) - 1);
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

/** The views of a task. Frequency oracles only know their own zones, and flows only for trips. */
export function viewsOf(mechanism: string): View[] {
  if (mechanism === "atlas") return [DENSITY, FLOWS, HOTSPOTS, JOURNEYS];
  return mechanism === "trips" ? [ENDS, FLOWS, STARTS] : [HOTSPOTS];
}
