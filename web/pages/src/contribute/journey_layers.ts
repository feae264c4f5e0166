/** The map layers of a journey and its report: what stays here in ink, what is sent in colour. */
import type { LayerSpecification } from "maplibre-gl";
import { colour } from "../theme";

export const SOURCES = [
  "places",
  "areas",
  "ghosts",
  "report",
  "ends",
  "track",
  "snapped",
] as const;
export type Source = (typeof SOURCES)[number];

const MANY = 2000;
/** Fewer locations get larger dots: before a journey is drawn, they are all there is to see. */
const FEW = 400;
const ROUND = { "line-join": "round", "line-cap": "round" } as const;

export function journeyLayers(places: number): LayerSpecification[] {
  const [ink, accent, ground] = [colour("ink"), colour("accent"), colour("map")];
  return [
    { id: "ground", type: "background", paint: { "background-color": ground } },
    {
      id: "places",
      type: "circle",
      source: "places",
      paint: {
        "circle-radius": places > MANY ? 1 : places > FEW ? 2 : 2.8,
        "circle-color": colour("place"),
        "circle-opacity": places > MANY ? 0.6 : 0.85,
      },
    },
    {
      id: "areas",
      type: "circle",
      source: "areas",
      paint: { "circle-radius": 6, "circle-color": accent, "circle-opacity": 0.55 },
    },
    {
      id: "ghosts",
      type: "line",
      source: "ghosts",
      layout: ROUND,
      paint: { "line-color": accent, "line-width": 1.6, "line-opacity": 0.22 },
    },
    {
      id: "track",
      type: "line",
      source: "track",
      layout: ROUND,
      paint: { "line-color": ink, "line-width": 2.4, "line-opacity": 0.9 },
    },
    ...reportLayers(accent, ground),
    ...snappedLayers(ink, ground),
  ];
}

function reportLayers(accent: string, ground: string): LayerSpecification[] {
  return [
    {
      id: "report",
      type: "line",
      source: "report",
      layout: ROUND,
      paint: {
        "line-color": accent,
        "line-width": ["get", "width"],
        "line-opacity": ["get", "opacity"],
      },
    },
    {
      id: "ends",
      type: "circle",
      source: "ends",
      paint: {
        "circle-radius": 6,
        "circle-color": accent,
        "circle-stroke-color": ground,
        "circle-stroke-width": 1.5,
      },
    },
  ];
}

function snappedLayers(ink: string, ground: string): LayerSpecification[] {
  return [
    {
      id: "snapped",
      type: "circle",
      source: "snapped",
      paint: {
        "circle-radius": ["case", [">", ["length", ["get", "number"]], 2], 14, 10],
        "circle-color": ground,
        "circle-stroke-color": ink,
        "circle-stroke-width": 1.8,
      },
    },
    {
      id: "snapped-number",
      type: "symbol",
      source: "snapped",
      layout: {
        "text-field": ["get", "number"],
        "text-size": 11.5,
        "text-allow-overlap": true,
        "text-ignore-placement": true,
      },
      paint: { "text-color": ink },
    },
  ];
}
