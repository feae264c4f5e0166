/** A basemap in one file of the collector: streets and water beneath an answer. */
import { addProtocol, type LayerSpecification, type SourceSpecification } from "maplibre-gl";
import { type Header, PMTiles, TileType } from "pmtiles";
import { colour } from "./theme";

const NAME = "basemap";

/** Layer names in the schemas of Protomaps and OpenMapTiles; a file uses one of them. */
const WATER = ["water", "waterway"];
const BUILDINGS = ["buildings", "building"];
const ROADS = ["roads", "transportation"];
const MAJOR = ["highway", "major_road", "motorway", "trunk", "primary", "secondary"];
const BUILDINGS_FROM = 13;
/** Below this zoom, minor streets would merge and hide the colours of areas. */
const STREETS_FROM = 11.5;

const isOf = (kind: string) =>
  ["in", ["geometry-type"], ["literal", [kind, `Multi${kind}`]]] as never;
const IS_AREA = isOf("Polygon");
const IS_LINE = isOf("LineString");
/** The class of a road: `kind` in Protomaps, `class` in OpenMapTiles. */
const RANK = ["coalesce", ["get", "kind"], ["get", "class"], ""];
const IS_MAJOR = ["in", RANK, ["literal", MAJOR]];

export interface Basemap {
  source: Record<string, SourceSpecification>;
  /** The layers beneath everything. */
  ground(): LayerSpecification[];
  /** Lines over areas and beneath all other marks, so that both areas and streets are visible. */
  lines(): LayerSpecification[];
  /** The attribution in the file. */
  credit: string;
}

export async function openBasemap(address: string): Promise<Basemap | undefined> {
  try {
    const archive = new PMTiles(address);
    const header = await archive.getHeader();
    const isVector = header.tileType === TileType.Mvt;
    serveTiles(archive);
    return {
      source: { [NAME]: sourceOf(header, isVector) },
      ground: isVector ? fillLayers : rasterLayers,
      lines: isVector ? lineLayers : () => [],
      credit: creditOf(await archive.getMetadata().catch(() => undefined)),
    };
  } catch {
    return undefined; // The map works without a basemap.
  }
}

function serveTiles(archive: PMTiles): void {
  addProtocol(NAME, async ({ url }, { signal }) => {
    const [z, x, y] = url.split("/").slice(-3).map(Number) as [number, number, number];
    const tile = await archive.getZxy(z, x, y, signal);
    // A missing tile is an empty one.
    return { data: tile?.data ?? new ArrayBuffer(0) };
  });
}

function sourceOf(header: Header, isVector: boolean): SourceSpecification {
  const tiles = {
    tiles: [`${NAME}://{z}/{x}/{y}`],
    minzoom: header.minZoom,
    maxzoom: header.maxZoom,
    bounds: [header.minLon, header.minLat, header.maxLon, header.maxLat] as Bounds,
  };
  return isVector ? { type: "vector", ...tiles } : { type: "raster", tileSize: 256, ...tiles };
}

type Bounds = [number, number, number, number];

/** A raster basemap, faded so that marks stand out. */
function rasterLayers(): LayerSpecification[] {
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const paint = {
    "raster-opacity": 0.5,
    "raster-saturation": -0.6,
    "raster-brightness-max": isDark ? 0.6 : 1,
    "raster-fade-duration": 0,
  };
  return [{ id: "base-picture", type: "raster", source: NAME, paint }];
}

function fillLayers(): LayerSpecification[] {
  const fill = (layer: string, paint: string, opacity: number, minzoom = 0) =>
    ({
      id: `base-${layer}`,
      type: "fill",
      source: NAME,
      "source-layer": layer,
      minzoom,
      filter: IS_AREA,
      paint: { "fill-color": colour(paint), "fill-opacity": opacity },
    }) satisfies LayerSpecification;
  return [
    fill("earth", "map", 1),
    ...WATER.map((layer) => fill(layer, "water", 1)),
    ...BUILDINGS.map((layer) => fill(layer, "edge", 0.45, BUILDINGS_FROM)),
  ];
}

function lineLayers(): LayerSpecification[] {
  const line = (layer: string, paint: object, options: object = {}) =>
    ({
      id: `base-${layer}-lines`,
      type: "line",
      source: NAME,
      "source-layer": layer,
      paint,
      ...options,
    }) as LayerSpecification;
  const major = {
    "line-color": colour("place"),
    "line-opacity": 0.6,
    "line-width": byZoom([8, 0.6], [13, 1.6]),
  };
  const minor = {
    "line-color": colour("street"),
    "line-opacity": byZoom([STREETS_FROM, 0], [14, 0.8]),
    "line-width": byZoom([STREETS_FROM, 0.4], [15, 1.2]),
  };
  const round = { layout: { "line-join": "round" } };
  const both = (kind: unknown) => ({ filter: ["all", IS_LINE, kind] as never, ...round });
  return [
    // The banks of areas of water, whose fill is beneath the answer.
    ...WATER.map((layer) => line(layer, { "line-color": colour("water"), "line-width": 1.2 })),
    ...ROADS.flatMap((layer) => [
      line(layer, minor, { ...both(["!", IS_MAJOR]), minzoom: STREETS_FROM }),
      line(layer, major, { ...both(IS_MAJOR), id: `base-${layer}-major` }),
    ]),
  ];
}

/** Interpolate linearly between zoom levels. */
function byZoom(...stops: [number, number][]): unknown {
  return ["interpolate", ["linear"], ["zoom"], ...stops.flat()];
}

/** The attribution as plain text; in the file it may be HTML. */
function creditOf(metadata: unknown): string {
  const html = (metadata as { attribution?: unknown } | undefined)?.attribution;
  if (typeof html !== "string") return "";
  return new DOMParser().parseFromString(html, "text/html").body.textContent ?? "";
}
