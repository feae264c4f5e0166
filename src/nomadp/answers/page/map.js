"use strict";
// Pan and zoom maps, and highlight rows and marks together. Nothing is hidden without a script.

const tip = document.getElementById("tip");

function highlight(band, row) {
  for (const old of band.querySelectorAll(".chosen")) old.classList.remove("chosen");
  const chosen = row === null ? [] : band.querySelectorAll(`[data-row="${row}"]`);
  for (const element of chosen) element.classList.add("chosen");
  const scene = band.querySelector(".scene");
  const marked = scene && row !== null && scene.querySelector(".chosen");
  if (scene) scene.classList.toggle("is-chosen", Boolean(marked));
}

function showTip(mark, x, y) {
  tip.textContent = mark.querySelector("title").textContent;
  tip.hidden = false;
  tip.style.left = `${Math.min(Math.max(8, x + 14), innerWidth - tip.offsetWidth - 8)}px`;
  tip.style.top = `${y - tip.offsetHeight - 12 > 8 ? y - tip.offsetHeight - 12 : y + 18}px`;
}

function linkRowsAndMarks(band) {
  band.addEventListener("pointerover", (event) => {
    const target = event.target.closest("[data-row]");
    highlight(band, target && target.dataset.row);
    if (target && target.matches(".mark")) showTip(target, event.clientX, event.clientY);
    else tip.hidden = true;
  });
  band.addEventListener("pointerleave", () => { highlight(band, null); tip.hidden = true; });
}

function enablePanAndZoom(map) {
  const scene = map.querySelector(".scene");
  const home = scene.dataset.home.split(" ").map(Number);
  let box = [...home];
  const show = () => scene.setAttribute("viewBox", box.map((value) => value.toFixed(2)).join(" "));
  const zoom = (factor, x = box[0] + box[2] / 2, y = box[1] + box[3] / 2) => {
    const width = Math.min(home[2], Math.max(home[2] / 40, box[2] * factor));
    const scale = width / box[2];
    box = [x + (box[0] - x) * scale, y + (box[1] - y) * scale, width, box[3] * scale];
    stayInside();
  };
  const stayInside = () => {
    box[0] = Math.min(Math.max(box[0], home[0]), home[0] + home[2] - box[2]);
    box[1] = Math.min(Math.max(box[1], home[1]), home[1] + home[3] - box[3]);
    show();
  };
  const move = (dx, dy) => { box[0] += dx; box[1] += dy; stayInside(); };
  const showAll = () => { box = [...home]; show(); };
  const positionOf = (event) => {
    const area = scene.getBoundingClientRect();
    return [box[0] + (event.clientX - area.left) / area.width * box[2],
      box[1] + (event.clientY - area.top) / area.height * box[3]];
  };
  const keys = {
    ArrowLeft: () => move(-box[2] / 10, 0), ArrowRight: () => move(box[2] / 10, 0),
    ArrowUp: () => move(0, -box[3] / 10), ArrowDown: () => move(0, box[3] / 10),
    "+": () => zoom(1 / 1.4), "=": () => zoom(1 / 1.4), "-": () => zoom(1.4), 0: showAll,
  };
  scene.addEventListener("keydown", (event) => {
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    keys[event.key]();
  });
  // A wheel without a key scrolls the page, so that a map does not trap the reader.
  scene.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    zoom(Math.exp(event.deltaY / 240), ...positionOf(event));
  }, { passive: false });
  const fingers = new Map();
  scene.addEventListener("pointerdown", (event) => fingers.set(event.pointerId, event));
  addEventListener("pointermove", (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const scale = box[2] / scene.getBoundingClientRect().width;
    const other = [...fingers.values()].find(({ pointerId }) => pointerId !== event.pointerId);
    const distance = (one) => Math.hypot(one.clientX - other.clientX, one.clientY - other.clientY);
    if (other) zoom(distance(before) / Math.max(1, distance(event)), ...positionOf(event));
    else move((before.clientX - event.clientX) * scale, (before.clientY - event.clientY) * scale);
    fingers.set(event.pointerId, event);
  });
  for (const end of ["pointerup", "pointercancel"]) {
    addEventListener(end, (event) => fingers.delete(event.pointerId));
  }
  const steps = { in: () => zoom(1 / 1.5), out: () => zoom(1.5), all: showAll };
  for (const button of map.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => steps[button.dataset.zoom]());
  }
}

for (const band of document.querySelectorAll(".band")) linkRowsAndMarks(band);
for (const map of document.querySelectorAll(".map")) enablePanAndZoom(map);
