/** Images that map layers use: hatching and arrowheads. */
import type { Map } from "maplibre-gl";
import { colour, HATCH_LINE_PX, HATCH_PX } from "./theme";

const RATIO = 2;

export function addPatterns(map: Map): void {
  addHatch(map);
  put(map, "hatched-dot", hatch(20, true));
  put(map, "head", head(32));
}

/** Hatching as wide as in the legend: between whole zoom levels, a map enlarges its patterns. */
export function addHatch(map: Map): void {
  const enlargement = 2 ** (map.getZoom() - Math.floor(map.getZoom()));
  put(map, "hatch", hatch(Math.round((RATIO * HATCH_PX * Math.SQRT2) / enlargement), false));
}

function put(map: Map, name: string, image: ImageData): void {
  if (map.hasImage(name)) map.removeImage(name);
  map.addImage(name, image, { pixelRatio: RATIO });
}

function canvas(size: number): CanvasRenderingContext2D {
  const element = document.createElement("canvas");
  element.width = element.height = size;
  return element.getContext("2d")!;
}

/** Diagonal lines that continue across the edges of the tile. */
function hatch(size: number, round: boolean): ImageData {
  const context = canvas(size);
  if (round) {
    context.arc(size / 2, size / 2, size / 2 - 1.5, 0, 2 * Math.PI);
    context.clip();
  }
  context.fillStyle = colour("map");
  context.fillRect(0, 0, size, size);
  context.strokeStyle = colour("hatch");
  // In the legend, the edge of the tile cuts off half of each line.
  const thin = (size * HATCH_LINE_PX) / (2 * HATCH_PX * Math.SQRT2);
  context.lineWidth = round ? RATIO * HATCH_LINE_PX * 0.6 : thin;
  const spacing = round ? size / 3 : size;
  for (let x = -size; x <= size; x += spacing) {
    context.beginPath();
    context.moveTo(x - 2, size + 2);
    context.lineTo(x + size + 2, -2);
    context.stroke();
  }
  if (round) {
    context.beginPath();
    context.arc(size / 2, size / 2, size / 2 - 2, 0, 2 * Math.PI);
    context.stroke();
  }
  return context.getImageData(0, 0, size, size);
}

/** An arrowhead that points north; its tip is the end of the flow. */
function head(size: number): ImageData {
  const context = canvas(size);
  context.fillStyle = colour("flow");
  context.beginPath();
  context.moveTo(size / 2, 0);
  context.lineTo(size * 0.94, size);
  context.lineTo(size * 0.06, size);
  context.closePath();
  context.fill();
  return context.getImageData(0, 0, size, size);
}
