/** What every map here is: public locations beneath, its buttons, and the colours of the theme. */
import {
  type GeoJSONSource,
  type LayerSpecification,
  Map,
  ScaleControl,
  type SourceSpecification,
  setWorkerUrl,
} from "maplibre-gl";
// Without ?worker the map stays blank, and nothing says why.
import workerUrl from "maplibre-gl/dist/maplibre-gl-worker.mjs?worker&url";
import type { Position } from "./api";
import { h } from "./dom";
import { type Box, boundsOf, collection, point } from "./features";
import { onTheme } from "./theme";

setWorkerUrl(workerUrl);

const PADDING_PX = 34;

/** What is to be seen, and by how many steps at most it may come nearer than everything. */
interface Aim {
  box: Box;
  nearer: number;
}

export abstract class MapFrame<Source extends string> {
  readonly element = h("div", { class: "map" });
  protected readonly map: Map;
  protected homeZoom = 0;
  protected wasMoved = false;
  private isLoaded = false;
  private readonly canvas = h("div", { class: "canvas" });
  protected readonly bounds: Box;
  private aim: Aim;
  private readonly end = new AbortController();
  private readonly sized = new ResizeObserver(() => this.fill());

  /** Throws where there is no WebGL. */
  constructor(protected readonly places: Position[]) {
    this.element.append(this.canvas, this.buttons());
    this.bounds = boundsOf(places);
    this.aim = { box: this.bounds, nearer: 0 };
    this.map = new Map({
      container: this.canvas,
      style: { version: 8, sources: {}, layers: [] },
      bounds: this.bounds,
      attributionControl: false,
      renderWorldCopies: false,
      dragRotate: false,
      pitchWithRotate: false,
      touchPitch: false,
      cooperativeGestures: true,
      fadeDuration: 0,
      maxZoom: 18,
      trackResize: false,
    });
    this.sized.observe(this.canvas);
    this.map.touchZoomRotate.disableRotation();
    this.map.keyboard.disableRotation();
    this.map.addControl(new ScaleControl({ maxWidth: 120 }), "bottom-left");
    this.map.on("load", () => this.loaded());
    onTheme(() => this.isLoaded && this.paint(), this.end.signal);
  }

  /** Lets go of the graphics: a browser has few contexts, and takes them from maps still seen. */
  remove(): void {
    this.end.abort();
    this.sized.disconnect();
    this.map.remove();
  }

  /** Every source is there from the beginning, and empty. */
  protected abstract readonly sources: readonly Source[];
  protected abstract layers(): LayerSpecification[];
  /** Tiles that lie beneath, if any do. */
  protected get tiles(): Record<string, SourceSpecification> {
    return {};
  }
  /** Pictures that the layers paint with. */
  protected addPatterns(): void {}
  /** All marks but the public locations. */
  protected abstract setData(): void;
  /** What it listens to, once it is there. */
  protected abstract listen(): void;
  /** What `data-drawn` says when nothing moves, loads or changes any more. */
  protected get settled(): string {
    return "yes";
  }

  /** What is seen is not yet what is meant: whoever takes a picture waits for `data-drawn`. */
  protected unsettle(): void {
    this.element.dataset.drawn = "no";
  }

  protected get isReady(): boolean {
    return this.map.getSource("places") !== undefined;
  }

  /** What the map shows, for those who do not see it. */
  protected tell(said: string): void {
    this.map
      .getCanvas()
      .setAttribute(
        "aria-label",
        `Map. ${said} Use the arrow keys to move it, and + and - to zoom.`,
      );
  }

  protected source(name: Source): GeoJSONSource {
    return this.map.getSource(name) as GeoJSONSource;
  }

  /** Everything, as large as it fits now. */
  protected home(): void {
    this.come(this.bounds, 0);
  }

  /** As near as a box fits: again with every size, until somebody moves the map. */
  protected come(box: Box, nearer: number, moveMs = 0): void {
    this.wasMoved = false;
    this.aim = { box, nearer };
    // Before it moves: who hears of the zoom asks how far it is from here.
    this.homeZoom =
      this.map.cameraForBounds(this.bounds, { padding: PADDING_PX })?.zoom ?? this.homeZoom;
    this.map.fitBounds(box, {
      padding: nearer ? 2 * PADDING_PX : PADDING_PX,
      maxZoom: this.homeZoom + nearer,
      linear: true,
      animate: moveMs > 0,
      duration: moveMs,
    });
  }

  private get isFilled(): boolean {
    const { clientWidth, clientHeight } = this.map.getCanvas();
    return clientWidth === this.canvas.clientWidth && clientHeight === this.canvas.clientHeight;
  }

  /** Before it is painted: MapLibre itself waits, and shows the old size meanwhile. */
  private fill(): void {
    if (this.isFilled) return;
    this.unsettle();
    this.map.resize().redraw();
  }

  private loaded(): void {
    this.isLoaded = true;
    this.come(this.aim.box, this.aim.nearer);
    this.paint();
    for (const change of ["movestart", "resize"] as const)
      this.map.on(change, () => this.unsettle());
    // If its place has just changed, it is about to be filled, and then is idle again.
    this.map.on("idle", () => this.isFilled && (this.element.dataset.drawn = this.settled));
    this.map.on("resize", () => !this.wasMoved && this.come(this.aim.box, this.aim.nearer));
    this.map.on("movestart", (event) => (this.wasMoved ||= "originalEvent" in event));
    this.listen();
  }

  /** The style of this theme, and the marks again. */
  private paint(): void {
    this.unsettle();
    const sources = Object.fromEntries(
      this.sources.map((name) => [name, { type: "geojson" as const, data: collection([]) }]),
    );
    const style = { sources: { ...this.tiles, ...sources }, layers: this.layers() };
    this.map.setStyle({ version: 8, ...style }, { diff: false });
    this.map.once("styledata", () => {
      this.addPatterns();
      this.setPlaces();
      this.setData();
    });
  }

  /** Once for a style: there may be ten thousand, and no answer changes them. */
  private setPlaces(): void {
    const places = this.map.getSource("places") as GeoJSONSource;
    places.setData(collection(this.places.map((at) => point(at))));
  }

  private zoom(steps: number): void {
    this.wasMoved = true;
    this.map.zoomTo(this.map.getZoom() + steps);
  }

  private buttons(): HTMLElement {
    const button = (sign: string, action: string, label: string, click: () => void) =>
      h(
        "button",
        { type: "button", "data-action": action, "aria-label": label, title: label, click },
        sign,
      );
    return h(
      "div",
      { class: "zoom", role: "group", "aria-label": "Zoom the map" },
      button("+", "zoom-in", "Zoom in", () => this.zoom(1)),
      button("−", "zoom-out", "Zoom out", () => this.zoom(-1)),
      button("◻", "show-all", "Show everything", () => this.home()),
    );
  }
}
