/** The map of an answer. One of its marks can be selected. */
import { type LayerSpecification, Popup, type SourceSpecification } from "maplibre-gl";
import type { Feature, Polygon } from "geojson";
import type { Drawn, Position } from "./api";
import type { Basemap } from "./basemap";
import { h } from "./dom";
import { boundsOf, collection, featuresOf, radiiOf } from "./features";
import { layers, type Source, SOURCES, TOUCHED } from "./layers";
import { MapFrame } from "./map_frame";
import { addHatch, addPatterns } from "./patterns";

const MARKED: Source[] = ["areas", "dots", "curves", "tracks"];
const REACH_PX = 6;
const MOVE_MS = 300;
/** How many zoom levels closer than the whole area a selected trajectory may be shown. */
const NEARER = 4;
/** The width of the offline map, at which marks have their nominal size. */
const FULL_PX = 700;

export interface MapEvents {
  /** A row was selected on the map, or undefined if none was. */
  chosen(row: number | undefined): void;
  /** The map was zoomed; `steps` counts zoom levels from the view of the whole area. */
  zoomed(steps: number): void;
}

export class AnswerMap extends MapFrame<Source> {
  protected readonly sources = SOURCES;
  private readonly tip = new Popup({
    closeButton: false,
    closeOnClick: false,
    className: "tip",
  });
  private drawn: Drawn | undefined;
  private row: number | undefined;
  private markScale = 1;

  constructor(
    places: Position[],
    private readonly events: MapEvents,
    private readonly basemap?: Basemap,
  ) {
    super(places);
    if (basemap?.credit) this.element.append(h("p", { class: "credit" }, basemap.credit));
  }

  /** Show an answer, or no answer. */
  show(drawn: Drawn | undefined): void {
    if (this.drawn?.tracks?.length && !drawn?.tracks?.length) this.home();
    this.drawn = drawn;
    this.row = undefined;
    this.tip.remove();
    this.unsettle();
    if (this.isReady) this.setData();
    this.describe(
      drawn ? `${drawn.summary} The table lists everything drawn.` : "No estimates yet.",
    );
  }

  /** Select the mark of a row. */
  choose(row: number | undefined, isMoved = true): void {
    this.row = row;
    if (!this.isReady) return;
    this.unsettle();
    for (const source of MARKED) this.map.removeFeatureState({ source });
    const track = this.drawn?.tracks?.find((candidate) => candidate.row === row);
    const [rings, points] = track?.radius_km ? radiiOf(track.line, track.radius_km) : [[], []];
    if (track) this.approach(rings, isMoved);
    this.source("radii").setData(collection(rings));
    this.source("points").setData(collection(points));
    if (row === undefined) return;
    for (const source of MARKED)
      this.map.setFeatureState({ source, id: row }, { chosen: true });
  }

  protected override get settled(): string {
    return this.drawn ? "yes" : "nothing";
  }

  protected layers(): LayerSpecification[] {
    return layers(this.places.length, this.basemap);
  }

  protected override get tiles(): Record<string, SourceSpecification> {
    return this.basemap?.source ?? {};
  }

  protected override addPatterns(): void {
    addPatterns(this.map);
  }

  protected listen(): void {
    this.map.on("zoomend", () => {
      addHatch(this.map);
      this.events.zoomed(Math.round(this.map.getZoom() - this.homeZoom));
    });
    this.map.on("idle", () => {
      if (this.scale === this.markScale) return;
      this.unsettle();
      this.setMarks();
    });
    this.map.on("click", (event) => {
      const mark = this.at(event.point);
      this.events.chosen(mark?.row);
      if (mark) this.tip.setLngLat(event.lngLat).setText(mark.name).addTo(this.map);
    });
    this.map.on("mousemove", (event) => {
      const mark = this.at(event.point);
      this.map.getCanvas().classList.toggle("pointed", mark !== undefined);
      if (mark) this.tip.setLngLat(event.lngLat).setText(mark.name).addTo(this.map);
      else this.tip.remove();
    });
    this.map.on("mouseout", () => this.tip.remove());
  }

  protected setData(): void {
    this.setMarks();
    this.choose(this.row, false);
  }

  private setMarks(): void {
    this.markScale = this.scale;
    const features = Object.entries(featuresOf(this.drawn, this.markScale));
    for (const [name, marks] of features) this.source(name as Source).setData(marks);
  }

  /** Show a trajectory with its credible radii. */
  private approach(rings: Feature[], isMoved: boolean): void {
    const corners = rings.flatMap((ring) => (ring.geometry as Polygon).coordinates[0] ?? []);
    // No animation when a tab opens: with ten thousand locations it would take seconds.
    this.frame(boundsOf(corners as Position[]), NEARER, isMoved ? MOVE_MS : 0);
  }

  private get scale(): number {
    return Math.min(1, Math.max(0.5, this.map.getCanvas().clientWidth / FULL_PX));
  }

  private at({ x, y }: { x: number; y: number }): { row: number; name: string } | undefined {
    const reach: [Position, Position] = [
      [x - REACH_PX, y - REACH_PX],
      [x + REACH_PX, y + REACH_PX],
    ];
    const exact = this.map.queryRenderedFeatures([x, y], { layers: TOUCHED });
    const features = exact.length
      ? exact
      : this.map.queryRenderedFeatures(reach, { layers: TOUCHED });
    const mark = features.find(({ properties }) => Number(properties.row) >= 0)?.properties;
    return mark && { row: Number(mark.row), name: String(mark.name) };
  }
}
