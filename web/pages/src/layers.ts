/** The map layers of an answer. All exist from the beginning, with empty sources. */
import type { DataDrivenPropertyValueSpecification, LayerSpecification } from "maplibre-gl";
import type { Basemap } from "./basemap";
import { CERTAINTY, colour, FLOW_DASHES, HATCHED, STEPS } from "./theme";

export const SOURCES = [
  "outlines",
  "areas",
  "places",
  "dots",
  "radii",
  "tracks",
  "points",
  "curves",
  "heads",
  "labels",
] as const;
export type Source = (typeof SOURCES)[number];

/** Layers whose marks react to the pointer. */
export const TOUCHED = [
  "areas-fill",
  "areas-hatch",
  "dots",
  "dots-hatch",
  "curves-touch",
  "tracks-touch",
];

const MANY = 2000;
/** Fewer locations get larger dots: before an answer arrives, they are all there is to see. */
const FEW = 400;

type Paint<T> = DataDrivenPropertyValueSpecification<T>;

const CHOSEN = ["boolean", ["feature-state", "chosen"], false];

function byStep(): Paint<string> {
  const pairs = STEPS.flatMap((step) => [step, colour(step)]);
  return ["match", ["get", "step"], ...pairs, colour("soft")] as unknown as Paint<string>;
}

function bySure(): Paint<number> {
  const pairs = Object.entries(CERTAINTY).flatMap(([word, rule]) => [word, rule.opacity]);
  return ["match", ["get", "sure"], ...pairs, 0.3] as unknown as Paint<number>;
}

function ifChosen<T>(chosen: T, other: T): Paint<T> {
  return ["case", CHOSEN, chosen, other] as unknown as Paint<T>;
}

const isHatched = ["==", ["get", "step"], HATCHED] as never;
const isSolid = ["!=", ["get", "step"], HATCHED] as never;

/** All layers. The more public locations (`places`) there are, the smaller their dots. */
export function layers(places: number, basemap?: Basemap): LayerSpecification[] {
  return [
    { id: "ground", type: "background", paint: { "background-color": colour("map") } },
    ...(basemap?.ground() ?? []),
    ...areaLayers(),
    ...(basemap?.lines() ?? []),
    {
      id: "places",
      type: "circle",
      source: "places",
      paint: {
        "circle-radius": places > MANY ? 0.9 : places > FEW ? 1.6 : 2.2,
        "circle-color": colour("place"),
        "circle-opacity": places > MANY ? 0.5 : 0.75,
      },
    },
    ...dotLayers(),
    ...trackLayers(),
    ...curveLayers(),
    labels(),
  ];
}

/** Names of areas, where there is room. Uses a system font, because the page fetches none. */
function labels(): LayerSpecification {
  return {
    id: "labels",
    type: "symbol",
    source: "labels",
    layout: {
      "text-field": ["get", "name"],
      "text-font": ["sans-serif"],
      "text-size": 12,
      "text-padding": 1,
      "text-variable-anchor": ["center", "top", "bottom", "left", "right"],
      "text-radial-offset": 0.6,
    },
    paint: {
      "text-color": colour("ink"),
      "text-halo-color": colour("map"),
      "text-halo-width": 1.6,
    },
  };
}

function areaLayers(): LayerSpecification[] {
  return [
    {
      id: "outlines",
      type: "line",
      source: "outlines",
      paint: { "line-color": colour("edge"), "line-width": 1 },
    },
    {
      id: "areas-fill",
      type: "fill",
      source: "areas",
      filter: isSolid,
      paint: { "fill-color": byStep(), "fill-antialias": false },
    },
    {
      id: "areas-hatch",
      type: "fill",
      source: "areas",
      filter: isHatched,
      paint: { "fill-pattern": "hatch", "fill-opacity": 0.8 },
    },
    {
      id: "areas-edge",
      type: "line",
      source: "areas",
      paint: {
        "line-color": ifChosen(colour("ink"), colour("map")),
        "line-width": ifChosen(2.6, 1),
      },
    },
  ];
}

function dotLayers(): LayerSpecification[] {
  return [
    {
      id: "dots-hatch",
      type: "symbol",
      source: "dots",
      filter: isHatched,
      layout: { "icon-image": "hatched-dot", "icon-allow-overlap": true, "icon-size": 0.9 },
    },
    {
      id: "dots",
      type: "circle",
      source: "dots",
      filter: isSolid,
      layout: { "circle-sort-key": ["get", "size"] },
      paint: {
        "circle-radius": ["get", "size"],
        "circle-color": byStep(),
        "circle-stroke-color": ifChosen(colour("ink"), colour("map")),
        "circle-stroke-width": ifChosen(2.6, 1),
      },
    },
  ];
}

function trackLayers(): LayerSpecification[] {
  const accent = colour("accent");
  return [
    {
      id: "radii",
      type: "fill",
      source: "radii",
      paint: { "fill-color": accent, "fill-opacity": 0.09 },
    },
    {
      id: "radii-edge",
      type: "line",
      source: "radii",
      paint: { "line-color": accent, "line-opacity": 0.7, "line-dasharray": [3, 2] },
    },
    {
      id: "tracks",
      type: "line",
      source: "tracks",
      layout: { "line-join": "round", "line-cap": "round" },
      paint: {
        "line-color": accent,
        "line-width": ifChosen(3.6, 1.3),
        "line-opacity": ifChosen(1, 0.28),
      },
    },
    {
      id: "points",
      type: "circle",
      source: "points",
      paint: {
        "circle-radius": 5,
        "circle-color": accent,
        "circle-stroke-color": colour("map"),
        "circle-stroke-width": 1.5,
      },
    },
    touch("tracks"),
  ];
}

function curveLayers(): LayerSpecification[] {
  const curves = (id: string, isLess: boolean, dashes: object) => ({
    id,
    type: "line" as const,
    source: "curves",
    filter: ["==", ["get", "less"], isLess] as never,
    layout: { "line-join": "round" as const },
    paint: {
      "line-color": ifChosen(colour("ink"), colour("flow")),
      "line-width": ["get", "width"] as never,
      "line-opacity": bySure(),
      ...dashes,
    },
  });
  return [
    curves("curves-less", true, { "line-dasharray": [...FLOW_DASHES] }),
    curves("curves", false, {}),
    {
      id: "heads",
      type: "symbol",
      source: "heads",
      layout: {
        "icon-image": "head",
        "icon-size": ["get", "size"],
        "icon-rotate": ["get", "turn"],
        "icon-rotation-alignment": "map",
        "icon-allow-overlap": true,
      },
      paint: { "icon-opacity": bySure() },
    },
    touch("curves"),
  ];
}

/** An invisible wider line, which is easier to tap. */
function touch(source: Source): LayerSpecification {
  return {
    id: `${source}-touch`,
    type: "line",
    source,
    paint: { "line-width": 24, "line-opacity": 0 },
  };
}
