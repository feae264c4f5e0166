"use strict";
// Two maps of one city that move together. Coordinates are kilometres east and north.

const view = { x: 0, y: 0, zoom: 1, moved: false };
const CLOSEST_KM = 3;
const reducedMotion = matchMedia("(prefers-reduced-motion: reduce)");

const city = (() => {
  const { x, y } = data.places;
  const [west, east] = [Math.min(...x), Math.max(...x)];
  const [south, north] = [Math.min(...y), Math.max(...y)];
  return {
    x: (west + east) / 2, y: (south + north) / 2, width: east - west || 1, height: north - south || 1,
  };
})();
Object.assign(view, { x: city.x, y: city.y });

class CityMap {
  constructor(canvas, paint) {
    this.canvas = canvas;
    this.pen = canvas.getContext("2d");
    this.paint = paint;
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  get scale() {
    const { clientWidth, clientHeight } = this.canvas;
    return view.zoom * Math.min((clientWidth - 36) / city.width, (clientHeight - 36) / city.height);
  }

  at(x, y) {
    const { clientWidth, clientHeight } = this.canvas;
    return [clientWidth / 2 + (x - view.x) * this.scale, clientHeight / 2 - (y - view.y) * this.scale];
  }

  place(index) {
    return this.at(data.places.x[index], data.places.y[index]);
  }

  draw() {
    const { canvas, pen } = this;
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (!width || !height) return;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    this.ground();
    this.places();
    this.paint(this);
    this.scaleBar(height);
  }

  /** Draws the river, the avenues over it, and the streets if the zoom leaves room for them. */
  ground() {
    const { pen } = this;
    const { streets, avenues, river, block_km } = data.ground;
    const trace = (line) => {
      for (let k = 0; k < line.length; k += 2) {
        const [x, y] = this.at(line[k], line[k + 1]);
        if (k) pen.lineTo(x, y);
        else pen.moveTo(x, y);
      }
    };
    const lines = (paths, width) => {
      pen.lineWidth = width;
      pen.strokeStyle = colour("street");
      pen.beginPath();
      paths.forEach(trace);
      pen.stroke();
    };
    pen.setLineDash([]);
    if (block_km * this.scale > 3) lines(streets, 1);
    pen.fillStyle = colour("water");
    pen.beginPath();
    trace(river);
    pen.fill();
    lines(avenues, Math.min(4, Math.max(1.5, 0.05 * this.scale)));
  }

  places() {
    const { pen } = this;
    const radius = Math.min(3.4, 1.5 * Math.sqrt(view.zoom));
    pen.fillStyle = colour("place");
    pen.beginPath();
    for (let index = 0; index < data.places.x.length; index += 1) {
      const [x, y] = this.place(index);
      pen.moveTo(x + radius, y);
      pen.arc(x, y, radius, 0, 2 * Math.PI);
    }
    pen.fill();
  }

  scaleBar(height) {
    const { pen } = this;
    const length = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50].find((step) => step * this.scale > 56) || 100;
    const [left, bottom] = [16, height - 16];
    pen.strokeStyle = pen.fillStyle = colour("soft");
    pen.lineWidth = 1;
    pen.setLineDash([]);
    pen.beginPath();
    pen.moveTo(left, bottom - 4);
    pen.lineTo(left, bottom);
    pen.lineTo(left + length * this.scale, bottom);
    pen.lineTo(left + length * this.scale, bottom - 4);
    pen.stroke();
    pen.font = `11px ${colour("sans")}`;
    pen.textAlign = "left";
    pen.textBaseline = "alphabetic";
    pen.fillText(`${length} km`, left + 4, bottom - 5);
  }

  line(spots, { ink, width = 1, alpha = 1, dash = [] }) {
    const { pen } = this;
    pen.save();
    pen.globalAlpha = alpha;
    pen.strokeStyle = ink;
    pen.lineWidth = width;
    pen.lineJoin = pen.lineCap = "round";
    pen.setLineDash(dash);
    pen.beginPath();
    spots.forEach(([x, y], step) => (step ? pen.lineTo(x, y) : pen.moveTo(x, y)));
    pen.stroke();
    pen.restore();
  }

  /** Draws the chosen journey: a line with a pale edge, arrows and numbered points. */
  journey(spots, ink, highlighted) {
    this.line(spots, { ink: colour("map"), width: 7, alpha: 0.85 });
    this.line(spots, { ink, width: 2.5 });
    for (let step = 1; step < spots.length; step += 1) this.arrow(spots[step - 1], spots[step], ink);
    const groups = new Map();
    spots.forEach((spot, step) => {
      const key = spot.map((value) => value.toFixed(1)).join();
      groups.set(key, { spot, steps: [...(groups.get(key)?.steps || []), step] });
    });
    for (const { spot, steps } of groups.values()) {
      this.badge(spot, steps.map((step) => step + 1).join("·"), ink, steps.includes(highlighted));
    }
  }

  arrow([x1, y1], [x2, y2], ink) {
    const length = Math.hypot(x2 - x1, y2 - y1);
    if (length < 54) return;
    const { pen } = this;
    pen.save();
    pen.translate(x1 + (x2 - x1) * 0.58, y1 + (y2 - y1) * 0.58); // past the middle, so that the arrows of a return trip do not overlap
    pen.rotate(Math.atan2(y2 - y1, x2 - x1));
    pen.fillStyle = ink;
    pen.beginPath();
    pen.moveTo(6, 0);
    pen.lineTo(-5, 5);
    pen.lineTo(-5, -5);
    pen.fill();
    pen.restore();
  }

  badge([x, y], text, ink, highlighted) {
    const { pen } = this;
    pen.font = `600 11px ${colour("sans")}`;
    const half = Math.max(0, pen.measureText(text).width / 2 - 4);
    pen.beginPath();
    pen.roundRect(x - half - 9, y - 9, 2 * half + 18, 18, 9);
    pen.fillStyle = ink;
    pen.strokeStyle = colour("map");
    pen.lineWidth = 2;
    pen.stroke();
    pen.fill();
    if (highlighted) {
      pen.beginPath();
      pen.roundRect(x - half - 13, y - 13, 2 * half + 26, 26, 13);
      pen.strokeStyle = ink;
      pen.stroke();
    }
    pen.fillStyle = colour("map");
    pen.textAlign = "center";
    pen.textBaseline = "middle";
    pen.fillText(text, x, y + 0.5);
  }

  ring([x, y], ink) {
    const { pen } = this;
    pen.beginPath();
    pen.arc(x, y, 4.5, 0, 2 * Math.PI);
    pen.fillStyle = colour("map");
    pen.fill();
    pen.strokeStyle = ink;
    pen.lineWidth = 1.5;
    pen.stroke();
  }
}

function zoomBy(factor, about = [view.x, view.y]) {
  const zoom = Math.min(40, Math.max(0.8, view.zoom * factor));
  const ratio = view.zoom / zoom;
  view.x = about[0] + (view.x - about[0]) * ratio;
  view.y = about[1] + (view.y - about[1]) * ratio;
  view.zoom = zoom;
}

function wholeCity() {
  Object.assign(view, { x: city.x, y: city.y, zoom: 1 });
}

/** Zooms to these points with a margin, but never closer than CLOSEST_KM. */
function closeUp(map, points) {
  const [x, y] = [points.map(([east]) => east), points.map(([, north]) => north)];
  const [west, east, south, north] = [Math.min(...x), Math.max(...x), Math.min(...y), Math.max(...y)];
  const { clientWidth, clientHeight } = map.canvas;
  const room = (pixels, km) => (pixels - 90) / Math.max(km, CLOSEST_KM);
  const whole = map.scale / view.zoom;
  const zoom = Math.min(room(clientWidth, east - west), room(clientHeight, north - south)) / whole;
  Object.assign(view, { x: (west + east) / 2, y: (south + north) / 2, zoom: Math.min(40, Math.max(1, zoom)) });
}

/** Whether a point, in kilometres, is inside the visible part of the map. */
function inSight(map, [x, y]) {
  const [left, top] = map.at(x, y);
  const { clientWidth, clientHeight } = map.canvas;
  return left > 8 && top > 8 && left < clientWidth - 8 && top < clientHeight - 8;
}

/** The position of a pointer on a map, in kilometres east and north. */
function under(map, event) {
  const box = map.canvas.getBoundingClientRect();
  return [
    view.x + (event.clientX - box.left - box.width / 2) / map.scale,
    view.y - (event.clientY - box.top - box.height / 2) / map.scale,
  ];
}

/** One finger or the mouse drags, and two fingers pinch. The page still scrolls vertically. */
function dragWith(map, redraw) {
  const fingers = new Map();
  map.canvas.addEventListener("pointerdown", (event) => {
    fingers.set(event.pointerId, event);
    map.canvas.setPointerCapture(event.pointerId);
  });
  map.canvas.addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const other = [...fingers.values()].find(({ pointerId }) => pointerId !== event.pointerId);
    if (other) {
      const distance = (one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
      zoomBy(distance(event) / Math.max(1, distance(before)), under(map, event));
    } else {
      view.x -= (event.clientX - before.clientX) / map.scale;
      view.y += (event.clientY - before.clientY) / map.scale;
    }
    fingers.set(event.pointerId, event);
    view.moved = true;
    redraw();
  });
  for (const end of ["pointerup", "pointercancel"]) {
    map.canvas.addEventListener(end, (event) => fingers.delete(event.pointerId));
  }
}

function steerWith(map, journey, redraw) {
  map.canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const step = 40 / map.scale;
    const moves = {
      ArrowLeft: () => { view.x -= step; },
      ArrowRight: () => { view.x += step; },
      ArrowUp: () => { view.y += step; },
      ArrowDown: () => { view.y -= step; },
      "+": () => zoomBy(1.4),
      "=": () => zoomBy(1.4),
      "-": () => zoomBy(1 / 1.4),
      0: wholeCity,
      1: journey,
    };
    if (!moves[event.key]) return;
    event.preventDefault();
    view.moved = true;
    moves[event.key]();
    redraw();
  });
}

/** Lets drag, pinch, ctrl + wheel, keys and buttons move both maps; returns a redraw function. */
function moveTogether(maps, journey) {
  const redraw = () => maps.forEach((map) => map.draw());
  for (const map of maps) {
    dragWith(map, redraw);
    steerWith(map, journey, redraw);
    // A plain wheel scrolls the page, so that nobody gets stuck on a map.
    map.canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      zoomBy(Math.exp(-event.deltaY / 240), under(map, event));
      view.moved = true;
      redraw();
    }, { passive: false });
  }
  const zooms = { in: () => zoomBy(1.5), out: () => zoomBy(1 / 1.5), all: wholeCity, journey };
  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => {
      view.moved = true;
      zooms[button.dataset.zoom]();
      redraw();
    });
  }
  return redraw;
}
