/** The base of every map: public locations, buttons and the colours of the theme. */
import {
  type GeoJSONSource,
  type LayerSpecification,
  Map,
  ScaleControl,
  type SourceSpecification,
  setWorkerUrl,
} from "maplibre-gl";
// Without ?worker the map stays blank, without an error.
import workerUrl from "maplibre-gl/dist/maplibre-gl-worker.mjs?worker&url";
import type { Position } from "./api";
import { h } from "./dom";
import { type Box, boundsOf, collection, point } from "./features";
import { onTheme } from "./theme";

setWorkerUrl(workerUrl);

const PADDING_PX = 34;

/** The box to show, and how many zoom levels closer than the whole area it may be. */
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

  /** Throws if there is no WebGL. */
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

  /** Free the WebGL context: browsers have few, and take them from maps that are still visible. */
  remove(): void {
    this.end.abort();
    this.sized.disconnect();
    this.map.remove();
  }

  /** All sources. They exist from the beginning, and are empty. */
  protected abstract readonly sources: readonly Source[];
  protected abstract layers(): LayerSpecification[];
  /** The tile sources of a basemap, if there is one. */
  protected get tiles(): Record<string, SourceSpecification> {
    return {};
  }
  /** Add the images that layers use. */
  protected addPatterns(): void {}
  /** Set the data of all sources except the public locations. */
  protected abstract setData(): void;
  /** Add event listeners, once the map has loaded. */
  protected abstract listen(): void;
  /** The value of `data-drawn` once the map is idle. */
  protected get settled(): string {
    return "yes";
  }

  /** Mark the map as changing. Screenshots and tests wait for `data-drawn`. */
  protected unsettle(): void {
    this.element.dataset.drawn = "no";
  }

  protected get isReady(): boolean {
    return this.map.getSource("places") !== undefined;
  }

  /** Describe the map to screen readers. */
  protected describe(content: string): void {
    this.map
      .getCanvas()
      .setAttribute(
        "aria-label",
        `Map. ${content} Use the arrow keys to move it, and + and - to zoom.`,
      );
  }

  protected source(name: Source): GeoJSONSource {
    return this.map.getSource(name) as GeoJSONSource;
  }

  /** Show the whole area. */
  protected home(): void {
    this.frame(this.bounds, 0);
  }

  /** Fit a box into the map, and again after every resize until somebody moves the map. */
  protected frame(box: Box, nearer: number, moveMs = 0): void {
    this.wasMoved = false;
    this.aim = { box, nearer };
    // Set before moving, because listeners of the zoom compare with it.
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

  /** Resize before the next paint; MapLibre would show the old size for a while. */
  private fill(): void {
    if (this.isFilled) return;
    this.unsettle();
    this.map.resize().redraw();
  }

  private loaded(): void {
    this.isLoaded = true;
    this.frame(this.aim.box, this.aim.nearer);
    this.paint();
    for (const change of ["movestart", "resize"] as const)
      this.map.on(change, () => this.unsettle());
    // If the container has just been resized, the map will be filled and become idle again.
    this.map.on("idle", () => this.isFilled && (this.element.dataset.drawn = this.settled));
    this.map.on("resize", () => !this.wasMoved && this.frame(this.aim.box, this.aim.nearer));
    this.map.on("movestart", (event) => (this.wasMoved ||= "originalEvent" in event));
    this.listen();
  }

  /** Apply the style of the current theme, and set all data again. */
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

  /** Only once for each style: there may be ten thousand locations, and answers share them. */
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
