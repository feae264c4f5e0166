/** The map of one journey: its points, the locations they are snapped to, and the report. */
import type { LayerSpecification } from "maplibre-gl";
import type { Feature } from "geojson";
import type { Position } from "../api";
import { h } from "../dom";
import { boundsOf, collection, point } from "../features";
import { MapFrame } from "../map_frame";
import { journeyLayers, type Source, SOURCES } from "./journey_layers";
import type { Numbered } from "./numbered_points";
import { isAround } from "./surroundings";

export interface Marks {
  /** The journey itself, which is never sent. */
  readonly track?: readonly Position[];
  /** The locations it is snapped to, each with its position in the journey. */
  readonly snapped?: readonly Numbered[];
  /** Lines of a report. */
  readonly report?: readonly (readonly Position[])[];
  /** Locations in the areas of a report. */
  readonly areas?: readonly Position[];
  /** Reports of earlier previews. */
  readonly ghosts?: readonly (readonly Position[])[];
  /** A description for screen readers. */
  readonly label: string;
}

/** Zoom to the journey itself, or to all marks. */
export type Fit = "near" | "all";

const NOTHING: Marks = { label: "The public places of this task." };
const MANY_LINES = 12;
/** How many zoom levels closer than the whole area a journey may be shown. */
const NEARER = 4.5;
/** Closer to the edge, marks are under a button or the scale. */
const EDGE_PX = 24;

export class JourneyMap extends MapFrame<Source> {
  protected readonly sources = SOURCES;
  private marks = NOTHING;
  private onPoint: ((at: Position) => void) | undefined;
  private readonly cross = h("div", { class: "cross", "aria-hidden": "true", hidden: true });

  show(marks: Marks, fit?: Fit): void {
    this.marks = marks;
    this.unsettle();
    this.describe(
      `${marks.label}${this.onPoint ? " Press Enter to add the point in the centre." : ""}`,
    );
    if (this.isReady) this.setData();
    const own = [...(marks.track ?? []), ...(marks.snapped ?? []).map(({ at }) => at)];
    const reported = [...(marks.report ?? []).flat(), ...(marks.areas ?? [])];
    const all = [...own, ...reported];
    if (fit === "near" && own.length) this.zoomTo(own);
    else if (fit === "all" && all.some((at) => this.isAroundArea(at) && !this.isSeen(at)))
      this.zoomTo(all);
  }

  /** Call `onPoint` for each point added by a click, or by Enter in the centre; undefined ends it. */
  place(onPoint: ((at: Position) => void) | undefined): void {
    this.onPoint = onPoint;
    this.cross.hidden = onPoint === undefined;
    this.element.classList.toggle("placing", onPoint !== undefined);
  }

  /** Centre the map on a position. */
  centre(at: Position): void {
    this.wasMoved = true;
    this.map.easeTo({ center: at, duration: 250 });
  }

  /** Give the map the keyboard focus. */
  focus(): void {
    this.map.getCanvas().focus();
  }

  protected layers(): LayerSpecification[] {
    return journeyLayers(this.places.length);
  }

  protected listen(): void {
    this.element.append(this.cross);
    this.map.on("click", ({ lngLat }) => this.onPoint?.([lngLat.lng, lngLat.lat]));
    this.map.getCanvas().addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !this.onPoint) return;
      event.preventDefault();
      const { lng, lat } = this.map.getCenter();
      this.onPoint([lng, lat]);
    });
  }

  protected setData(): void {
    const { track = [], snapped = [], report = [], areas = [], ghosts = [] } = this.marks;
    const set = (name: Source, features: Feature[]) =>
      this.source(name).setData(collection(features));
    set("track", track.length > 1 ? [line(track)] : []);
    set("snapped", numbered(snapped));
    const many = report.length > MANY_LINES;
    const style = { width: many ? 1.6 : 4, opacity: many ? 0.4 : 0.95 };
    set(
      "report",
      report.filter((each) => each.length > 1).map((each) => line(each, style)),
    );
    set("ends", many ? [] : report.flatMap((each) => each.map((at) => point(at))));
    set(
      "areas",
      areas.map((at) => point(at)),
    );
    set(
      "ghosts",
      ghosts.filter((each) => each.length > 1).map((each) => line(each)),
    );
  }

  private isSeen(at: Position): boolean {
    const { x, y } = this.map.project(at);
    const { clientWidth, clientHeight } = this.map.getCanvas();
    const isWithin = (px: number, full: number) => px >= EDGE_PX && px <= full - EDGE_PX;
    return isWithin(x, clientWidth) && isWithin(y, clientHeight);
  }

  private isAroundArea(at: Position): boolean {
    return isAround(this.bounds, at);
  }

  /** Zoom to points, or show the whole area if some are far outside. */
  private zoomTo(points: readonly Position[]): void {
    if (points.every((at) => this.isAroundArea(at))) this.frame(boundsOf(points), NEARER);
    else this.home();
  }
}

/** Positions at one place share one mark. */
function numbered(snapped: readonly Numbered[]): Feature[] {
  const places = new Map<string, { at: Position; numbers: number[] }>();
  snapped.forEach(({ at, number }) => {
    const mark = places.get(String(at)) ?? { at, numbers: [] };
    mark.numbers.push(number);
    places.set(String(at), mark);
  });
  return [...places.values()].map(({ at, numbers }) =>
    point(at, { number: numbers.length > 2 ? `${numbers[0]} …` : numbers.join(", ") }),
  );
}

function line(
  positions: readonly Position[],
  properties: Record<string, unknown> = {},
): Feature {
  const coordinates = [...positions];
  return { type: "Feature", geometry: { type: "LineString", coordinates }, properties };
}
