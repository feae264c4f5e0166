/** A basemap in one file, which the collector has: streets and water beneath an answer. */
import { addProtocol, type LayerSpecification, type SourceSpecification } from "maplibre-gl";
import { type Header, PMTiles, TileType } from "pmtiles";
import { colour } from "./theme";

const NAME = "basemap";

/** Layers of the schemas of Protomaps and of OpenMapTiles: a file has those of one. */
const WATER = ["water", "waterway"];
const BUILDINGS = ["buildings", "building"];
const ROADS = ["roads", "transportation"];
const GREAT = ["highway", "major_road", "motorway", "trunk", "primary", "secondary"];
const FINE_FROM = 13;
/** Farther away, small streets would merge into patches and hide what an area's colour says. */
const STREETS_FROM = 11.5;

const isOf = (kind: string) =>
  ["in", ["geometry-type"], ["literal", [kind, `Multi${kind}`]]] as never;
const IS_AREA = isOf("Polygon");
const IS_LINE = isOf("LineString");
/** Protomaps calls it kind, OpenMapTiles class. */
const RANK = ["coalesce", ["get", "kind"], ["get", "class"], ""];
const IS_GREAT = ["in", RANK, ["literal", GREAT]];

export interface Basemap {
  source: Record<string, SourceSpecification>;
  /** Beneath everything. */
  ground(): LayerSpecification[];
  /** Over areas and beneath all other marks: so areas keep their colours, and streets are seen. */
  lines(): LayerSpecification[];
  /** Whom to thank, in the words of the file. */
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
      ground: isVector ? areasBeneath : pictureBeneath,
      lines: isVector ? streets : () => [],
      credit: creditOf(await archive.getMetadata().catch(() => undefined)),
    };
  } catch {
    return undefined; // An answer without a basemap is whole.
  }
}

function serveTiles(archive: PMTiles): void {
  addProtocol(NAME, async ({ url }, { signal }) => {
    const [z, x, y] = url.split("/").slice(-3).map(Number) as [number, number, number];
    const tile = await archive.getZxy(z, x, y, signal);
    // Where there is no tile, there is nothing to draw.
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

/** Pale, since an answer lies on it. */
function pictureBeneath(): LayerSpecification[] {
  const isDark = matchMedia("(prefers-color-scheme: dark)").matches;
  const paint = {
    "raster-opacity": 0.5,
    "raster-saturation": -0.6,
    "raster-brightness-max": isDark ? 0.6 : 1,
    "raster-fade-duration": 0,
  };
  return [{ id: "base-picture", type: "raster", source: NAME, paint }];
}

function areasBeneath(): LayerSpecification[] {
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
    ...BUILDINGS.map((layer) => fill(layer, "edge", 0.45, FINE_FROM)),
  ];
}

function streets(): LayerSpecification[] {
  const line = (layer: string, paint: object, more: object = {}) =>
    ({
      id: `base-${layer}-lines`,
      type: "line",
      source: NAME,
      "source-layer": layer,
      paint,
      ...more,
    }) as LayerSpecification;
  const great = {
    "line-color": colour("place"),
    "line-opacity": 0.6,
    "line-width": byZoom([8, 0.6], [13, 1.6]),
  };
  const small = {
    "line-color": colour("street"),
    "line-opacity": byZoom([STREETS_FROM, 0], [14, 0.8]),
    "line-width": byZoom([STREETS_FROM, 0.4], [15, 1.2]),
  };
  const round = { layout: { "line-join": "round" } };
  const both = (kind: unknown) => ({ filter: ["all", IS_LINE, kind] as never, ...round });
  return [
    // Of areas of water the banks: what lies between them is beneath the answer.
    ...WATER.map((layer) => line(layer, { "line-color": colour("water"), "line-width": 1.2 })),
    ...ROADS.flatMap((layer) => [
      line(layer, small, { ...both(["!", IS_GREAT]), minzoom: STREETS_FROM }),
      line(layer, great, { ...both(IS_GREAT), id: `base-${layer}-great` }),
    ]),
  ];
}

/** From one zoom to another, evenly. */
function byZoom(...stops: [number, number][]): unknown {
  return ["interpolate", ["linear"], ["zoom"], ...stops.flat()];
}

/** Its text alone: it may be written as HTML. */
function creditOf(metadata: unknown): string {
  const said = (metadata as { attribution?: unknown } | undefined)?.attribution;
  if (typeof said !== "string") return "";
  return new DOMParser().parseFromString(said, "text/html").body.textContent ?? "";
}
