/** Small pictures that the map paints with: hatching, and the heads of flows. */
import type { Map } from "maplibre-gl";
import { colour, HATCH_LINE_PX, HATCH_PX } from "./theme";

const RATIO = 2;

export function addPatterns(map: Map): void {
  addHatch(map);
  put(map, "hatched-dot", hatch(20, true));
  put(map, "head", head(32));
}

/** As wide as in the legend: between two whole zooms a map enlarges its patterns. */
export function addHatch(map: Map): void {
  const larger = 2 ** (map.getZoom() - Math.floor(map.getZoom()));
  put(map, "hatch", hatch(Math.round((RATIO * HATCH_PX * Math.SQRT2) / larger), false));
}

function put(map: Map, name: string, image: ImageData): void {
  if (map.hasImage(name)) map.removeImage(name);
  map.addImage(name, image, { pixelRatio: RATIO });
}

function canvas(size: number): CanvasRenderingContext2D {
  const made = document.createElement("canvas");
  made.width = made.height = size;
  return made.getContext("2d")!;
}

/** Lines aslant that meet at every edge. */
function hatch(size: number, round: boolean): ImageData {
  const drawn = canvas(size);
  if (round) {
    drawn.arc(size / 2, size / 2, size / 2 - 1.5, 0, 2 * Math.PI);
    drawn.clip();
  }
  drawn.fillStyle = colour("map");
  drawn.fillRect(0, 0, size, size);
  drawn.strokeStyle = colour("hatch");
  // Of the legend's lines, half is cut off by the edge of their tile.
  const thin = (size * HATCH_LINE_PX) / (2 * HATCH_PX * Math.SQRT2);
  drawn.lineWidth = round ? RATIO * HATCH_LINE_PX * 0.6 : thin;
  const apart = round ? size / 3 : size;
  for (let x = -size; x <= size; x += apart) {
    drawn.beginPath();
    drawn.moveTo(x - 2, size + 2);
    drawn.lineTo(x + size + 2, -2);
    drawn.stroke();
  }
  if (round) {
    drawn.beginPath();
    drawn.arc(size / 2, size / 2, size / 2 - 2, 0, 2 * Math.PI);
    drawn.stroke();
  }
  return drawn.getImageData(0, 0, size, size);
}

/** Points to the north; its tip is where the flow ends. */
function head(size: number): ImageData {
  const drawn = canvas(size);
  drawn.fillStyle = colour("flow");
  drawn.beginPath();
  drawn.moveTo(size / 2, 0);
  drawn.lineTo(size * 0.94, size);
  drawn.lineTo(size * 0.06, size);
  drawn.closePath();
  drawn.fill();
  return drawn.getImageData(0, 0, size, size);
}
