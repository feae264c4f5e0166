/** An answer's marks as GeoJSON, for the sources of the map. */
import type { Feature, FeatureCollection, Geometry } from "geojson";
import type { Drawn, Position } from "./api";
import type { Source } from "./layers";
import { HEAD_BY_WIDTH, HEAD_LEAST_PX } from "./theme";

export type Features = Record<
  Exclude<Source, "places" | "radii" | "points">,
  FeatureCollection
>;

/** From its south-west to its north-east. */
export type Box = [Position, Position];

const DEGREE_KM = 111.195;
/** Pieces of a curve that its head stands for. */
const NECK = 1;

export function collection(features: Feature[]): FeatureCollection {
  return { type: "FeatureCollection", features };
}

function feature(
  geometry: Geometry,
  properties: Record<string, unknown>,
  id?: number,
): Feature {
  return { type: "Feature", geometry, properties, ...(id === undefined ? {} : { id }) };
}

export function point(
  at: Position,
  properties: Record<string, unknown> = {},
  id?: number,
): Feature {
  return feature({ type: "Point", coordinates: at }, properties, id);
}

function line(along: Position[], properties: Record<string, unknown>, id?: number): Feature {
  return feature({ type: "LineString", coordinates: along }, properties, id);
}

/** ``scale`` is below 1 where the map is small: marks then are, too. */
export function featuresOf(drawn: Drawn | undefined, scale: number): Features {
  const { outlines = [], areas = [], dots = [], curves = [], tracks = [] } = drawn ?? {};
  const { labels = [] } = drawn ?? {};
  return {
    outlines: collection(outlines.map((ring) => line(ring, {}))),
    areas: collection(
      areas.map(({ rings, row, ...rest }) =>
        feature({ type: "Polygon", coordinates: rings }, { row, ...rest }, row),
      ),
    ),
    dots: collection(
      dots.map(({ at, row, size, ...rest }) =>
        point(at, { row, size: size * scale, ...rest }, row < 0 ? undefined : row),
      ),
    ),
    labels: collection(labels.map(({ at, name }) => point(at, { name }))),
    tracks: collection(
      tracks.map((each) => line(each.line, { row: each.row, name: each.name }, each.row)),
    ),
    curves: collection(
      curves.map(({ line: along, row, width, ...rest }) =>
        line(along.slice(0, -NECK), { row, width: width * scale, ...rest }, row),
      ),
    ),
    heads: collection(
      curves.map(({ line: along, width, sure }) =>
        point(along.at(-1 - NECK)!, {
          sure,
          turn: turnOf(along),
          size: (scale * (HEAD_LEAST_PX + HEAD_BY_WIDTH * width)) / 16,
        }),
      ),
    ),
  };
}

/** Clockwise from north, where a line ends. */
function turnOf(along: Position[]): number {
  const [from, to] = [along.at(-3)!, along.at(-1)!];
  const shrink = Math.cos((to[1] * Math.PI) / 180);
  return (Math.atan2((to[0] - from[0]) * shrink, to[1] - from[1]) * 180) / Math.PI;
}

/** Where the points of one journey are, and how far off they may be. */
export function radiiOf(along: Position[], radiusKm: number[]): [Feature[], Feature[]] {
  const rings = along.map((at, k) =>
    feature({ type: "Polygon", coordinates: [circle(at, radiusKm[k] ?? 0)] }, {}),
  );
  return [rings, along.map((at) => point(at, {}))];
}

/** The box around some of them. */
export function boundsOf(places: readonly Position[]): Box {
  const box: Box = [
    [Infinity, Infinity],
    [-Infinity, -Infinity],
  ];
  for (const place of places) {
    for (const axis of [0, 1] as const) {
      box[0][axis] = Math.min(box[0][axis], place[axis]);
      box[1][axis] = Math.max(box[1][axis], place[axis]);
    }
  }
  return box;
}

function circle([lng, lat]: Position, km: number): Position[] {
  const shrink = Math.cos((lat * Math.PI) / 180);
  return Array.from({ length: 65 }, (_, k) => {
    const turn = (k * Math.PI) / 32;
    const away = km / DEGREE_KM;
    return [lng + (away * Math.cos(turn)) / shrink, lat + away * Math.sin(turn)];
  });
}
