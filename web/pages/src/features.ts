/** The marks of an answer as GeoJSON, for the sources of the map. */
import type { Feature, FeatureCollection, Geometry } from "geojson";
import type { Drawn, Position } from "./api";
import type { Source } from "./layers";
import { HEAD_BY_WIDTH, HEAD_LEAST_PX } from "./theme";

export type Features = Record<
  Exclude<Source, "places" | "radii" | "points">,
  FeatureCollection
>;

/** The south-west and north-east corners. */
export type Box = [Position, Position];

const DEGREE_KM = 111.195;
/** How many segments at the end of a curve its arrowhead replaces. */
const HEAD_SEGMENTS = 1;

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

function line(
  positions: Position[],
  properties: Record<string, unknown>,
  id?: number,
): Feature {
  return feature({ type: "LineString", coordinates: positions }, properties, id);
}

/** The features of an answer. On a small map, `scale` is below 1 and makes marks smaller. */
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
      tracks.map((track) => line(track.line, { row: track.row, name: track.name }, track.row)),
    ),
    curves: collection(
      curves.map(({ line: positions, row, width, ...rest }) =>
        line(positions.slice(0, -HEAD_SEGMENTS), { row, width: width * scale, ...rest }, row),
      ),
    ),
    heads: collection(
      curves.map(({ line: positions, width, sure }) =>
        point(positions.at(-1 - HEAD_SEGMENTS)!, {
          sure,
          turn: turnOf(positions),
          size: (scale * (HEAD_LEAST_PX + HEAD_BY_WIDTH * width)) / 16,
        }),
      ),
    ),
  };
}

/** The direction at the end of a line, clockwise from north. */
function turnOf(positions: Position[]): number {
  const [from, to] = [positions.at(-3)!, positions.at(-1)!];
  const shrink = Math.cos((to[1] * Math.PI) / 180);
  return (Math.atan2((to[0] - from[0]) * shrink, to[1] - from[1]) * 180) / Math.PI;
}

/** The points of a trajectory, and circles of their credible radii. */
export function radiiOf(positions: Position[], radiusKm: number[]): [Feature[], Feature[]] {
  const rings = positions.map((at, k) =>
    feature({ type: "Polygon", coordinates: [circle(at, radiusKm[k] ?? 0)] }, {}),
  );
  return [rings, positions.map((at) => point(at, {}))];
}

/** The bounding box of positions. */
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
    const radius = km / DEGREE_KM;
    return [lng + (radius * Math.cos(turn)) / shrink, lat + radius * Math.sin(turn)];
  });
}
