/** The map of one journey: where it went, where it was snapped to, and what would be sent. */
import type { LayerSpecification } from "maplibre-gl";
import type { Feature } from "geojson";
import type { Position } from "../api";
import { h } from "../dom";
import { boundsOf, collection, point } from "../features";
import { MapFrame } from "../map_frame";
import { journeyLayers, type Source, SOURCES } from "./journey_layers";
import type { Numbered } from "./numbered";
import { isAround } from "./surroundings";

export interface Marks {
  /** The journey as it was, which stays here. */
  readonly track?: readonly Position[];
  /** The locations that stand for it, each with its place in the journey. */
  readonly snapped?: readonly Numbered[];
  /** Lines that a report tells. */
  readonly report?: readonly (readonly Position[])[];
  /** Places that a report tells. */
  readonly areas?: readonly Position[];
  /** Reports of earlier previews. */
  readonly ghosts?: readonly (readonly Position[])[];
  /** For those who do not see it. */
  readonly said: string;
}

/** Come near to the journey itself, or as near as everything can be seen. */
export type Fit = "near" | "all";

const NOTHING: Marks = { said: "The public places of this task." };
const MANY_LINES = 12;
/** So much nearer than everything a single journey is shown: a short one is seen among streets. */
const NEARER = 4.5;
/** What is closer to the edge is under a button or the scale. */
const EDGE_PX = 24;

export class JourneyMap extends MapFrame<Source> {
  protected readonly sources = SOURCES;
  private marks = NOTHING;
  private placed: ((at: Position) => void) | undefined;
  private readonly cross = h("div", { class: "cross", "aria-hidden": "true", hidden: true });

  show(marks: Marks, fit?: Fit): void {
    this.marks = marks;
    this.unsettle();
    this.tell(
      `${marks.said}${this.placed ? " Press Enter to add the point in the centre." : ""}`,
    );
    if (this.isReady) this.setData();
    const own = [...(marks.track ?? []), ...(marks.snapped ?? []).map(({ at }) => at)];
    const told = [...(marks.report ?? []).flat(), ...(marks.areas ?? [])];
    const all = [...own, ...told];
    if (fit === "near" && own.length) this.near(own);
    else if (fit === "all" && all.some((at) => this.isHere(at) && !this.isSeen(at)))
      this.near(all);
  }

  /** Let points be placed, by a click or by Enter in the middle; nothing ends it. */
  place(placed: ((at: Position) => void) | undefined): void {
    this.placed = placed;
    this.cross.hidden = placed === undefined;
    this.element.classList.toggle("placing", placed !== undefined);
  }

  /** Move so that a place is in the middle. */
  centre(at: Position): void {
    this.wasMoved = true;
    this.map.easeTo({ center: at, duration: 250 });
  }

  /** The keys go to the map. */
  focus(): void {
    this.map.getCanvas().focus();
  }

  protected layers(): LayerSpecification[] {
    return journeyLayers(this.places.length);
  }

  protected listen(): void {
    this.element.append(this.cross);
    this.map.on("click", ({ lngLat }) => this.placed?.([lngLat.lng, lngLat.lat]));
    this.map.getCanvas().addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || !this.placed) return;
      event.preventDefault();
      const { lng, lat } = this.map.getCenter();
      this.placed([lng, lat]);
    });
  }

  protected setData(): void {
    const { track = [], snapped = [], report = [], areas = [], ghosts = [] } = this.marks;
    const set = (name: Source, features: Feature[]) =>
      this.source(name).setData(collection(features));
    set("track", track.length > 1 ? [line(track)] : []);
    set("snapped", numbered(snapped));
    const many = report.length > MANY_LINES;
    const told = { width: many ? 1.6 : 4, opacity: many ? 0.4 : 0.95 };
    set(
      "report",
      report.filter((each) => each.length > 1).map((each) => line(each, told)),
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

  private isHere(at: Position): boolean {
    return isAround(this.bounds, at);
  }

  /** Of a journey that leaves the surroundings all of the area is seen. */
  private near(points: readonly Position[]): void {
    if (points.every((at) => this.isHere(at))) this.come(boundsOf(points), NEARER);
    else this.home();
  }
}

/** Positions at one place share one mark. */
function numbered(snapped: readonly Numbered[]): Feature[] {
  const places = new Map<string, { at: Position; numbers: number[] }>();
  snapped.forEach(({ at, number }) => {
    const found = places.get(String(at)) ?? { at, numbers: [] };
    found.numbers.push(number);
    places.set(String(at), found);
  });
  return [...places.values()].map(({ at, numbers }) =>
    point(at, { number: numbers.length > 2 ? `${numbers[0]} …` : numbers.join(", ") }),
  );
}

function line(along: readonly Position[], properties: Record<string, unknown> = {}): Feature {
  const coordinates = [...along];
  return { type: "Feature", geometry: { type: "LineString", coordinates }, properties };
}
