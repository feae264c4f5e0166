/** The map of an answer: its marks, of which one can be put forward. */
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
/** So much nearer than everything one journey is shown. */
const NEARER = 4;
/** As wide as the offline map is drawn, where marks have the sizes they are given. */
const FULL_PX = 700;

export interface Heard {
  /** A row was chosen on the map; nothing of it if none was. */
  chosen(row: number | undefined): void;
  /** How many steps the map was zoomed in since it showed everything. */
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
    private readonly heard: Heard,
    private readonly basemap?: Basemap,
  ) {
    super(places);
    if (basemap?.credit) this.element.append(h("p", { class: "credit" }, basemap.credit));
  }

  /** Show an answer, or nothing of any. */
  show(drawn: Drawn | undefined): void {
    if (this.drawn?.tracks?.length && !drawn?.tracks?.length) this.home();
    this.drawn = drawn;
    this.row = undefined;
    this.tip.remove();
    this.unsettle();
    if (this.isReady) this.setData();
    this.tell(
      drawn ? `${drawn.summary} The table lists everything drawn.` : "No estimates yet.",
    );
  }

  /** Put forward the mark of one row. */
  choose(row: number | undefined, isMoved = true): void {
    this.row = row;
    if (!this.isReady) return;
    this.unsettle();
    for (const source of MARKED) this.map.removeFeatureState({ source });
    const track = this.drawn?.tracks?.find((each) => each.row === row);
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
      this.heard.zoomed(Math.round(this.map.getZoom() - this.homeZoom));
    });
    this.map.on("idle", () => {
      if (this.scale === this.markScale) return;
      this.unsettle();
      this.setMarks();
    });
    this.map.on("click", (event) => {
      const mark = this.at(event.point);
      this.heard.chosen(mark?.row);
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
    const found = Object.entries(featuresOf(this.drawn, this.markScale));
    for (const [name, marks] of found) this.source(name as Source).setData(marks);
  }

  /** One journey, with as much around it as it may be off. */
  private approach(rings: Feature[], isMoved: boolean): void {
    const corners = rings.flatMap((ring) => (ring.geometry as Polygon).coordinates[0] ?? []);
    // What a tab opens on is there at once: a flight over ten thousand places takes seconds.
    this.come(boundsOf(corners as Position[]), NEARER, isMoved ? MOVE_MS : 0);
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
    const found = exact.length
      ? exact
      : this.map.queryRenderedFeatures(reach, { layers: TOUCHED });
    const mark = found.find((each) => Number(each.properties.row) >= 0)?.properties;
    return mark && { row: Number(mark.row), name: String(mark.name) };
  }
}
