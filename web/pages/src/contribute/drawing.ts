/** A journey drawn on the map: by pointing, by the keys of the map, or from the list. */
import { haversineKm, type LatLng, type Location } from "nomadp-client";
import type { Position } from "../api";
import { h, show } from "../dom";
import type { Bench } from "./bench";
import type { Days } from "./days";
import { inOrder } from "./numbered";
import { km } from "./words";

const FOUND_MOST = 6;
const WINDS = [
  "north",
  "north-east",
  "east",
  "south-east",
  "south",
  "south-west",
  "west",
  "north-west",
];

export class Drawing {
  readonly element = h("section", { class: "card", "aria-labelledby": "by-drawing" });
  private readonly begun = h("div", { hidden: true });
  private readonly start: HTMLButtonElement;
  private readonly list = h("ol", { class: "points", "aria-label": "Points of the journey" });
  private readonly found = h("ul", { class: "found" });
  private readonly search: HTMLInputElement;
  private readonly use: HTMLButtonElement;
  private readonly undo: HTMLButtonElement;
  private readonly said = h("p", { class: "soft", role: "status" });
  private points: LatLng[] = [];
  /** By the names of their locations. */
  private readonly adding = new Map<string, HTMLButtonElement>();

  constructor(
    private readonly bench: Bench,
    private readonly days: Days,
  ) {
    this.start = button("draw", "Draw a journey", () => this.begin());
    this.search = h("input", {
      type: "search",
      id: "place",
      autocomplete: "off",
      input: () => this.look(),
    });
    this.use = button("use-drawn", "Use this journey", () => this.finish(), "main");
    this.undo = button("undo", "Undo", () => this.shorten(this.points.slice(0, -1)));
    this.element.append(
      h("h3", { id: "by-drawing" }, "On the map"),
      h("p", { class: "soft" }, "Mark the places you passed, in order."),
      h("p", {}, this.start),
      this.begun,
    );
    this.begun.append(...this.parts());
  }

  enter(): void {
    if (!this.begun.hidden) this.resume();
    else this.bench.draw({ said: "The public places of this task." });
  }

  leave(): void {
    this.bench.place(undefined);
  }

  /** A file was chosen instead. */
  end(): void {
    this.points = [];
    this.begun.hidden = true;
    this.start.hidden = false;
    this.bench.place(undefined);
  }

  private parts(): HTMLElement[] {
    return [
      h(
        "p",
        {},
        "Click or tap the map to add a point. Or find a public place below and add it. With a " +
          "keyboard, move the map with the arrow keys. Then press Enter to add the point under " +
          "the cross.",
      ),
      h(
        "p",
        { class: "field" },
        h("label", { for: "place" }, "Find a place by name"),
        this.search,
      ),
      this.found,
      this.list,
      this.said,
      h(
        "p",
        { class: "buttons" },
        this.use,
        this.undo,
        button("clear", "Clear", () => this.shorten([])),
        button("to-map", "Go to the map", () => this.bench.focusMap()),
      ),
    ];
  }

  private begin(): void {
    this.begun.hidden = false;
    this.start.hidden = true;
    this.resume();
    this.search.focus({ preventScroll: true });
  }

  private resume(): void {
    this.bench.place((at) => this.change([...this.points, { lng: at[0], lat: at[1] }]));
    this.change(this.points);
  }

  /** Whoever took the last point away goes on with another: their button is no more. */
  private shorten(points: LatLng[]): void {
    this.change(points);
    if (points.length === 0) this.search.focus({ preventScroll: true });
  }

  private drop(index: number): void {
    this.shorten(this.points.filter((_, other) => other !== index));
    const left = this.list.querySelectorAll("button");
    left[Math.min(index, left.length - 1)]?.focus();
  }

  private change(points: LatLng[]): void {
    this.points = points;
    const along: Position[] = points.map(({ lat, lng }) => [lng, lat]);
    const said = `You are drawing a journey. Points so far: ${points.length}.`;
    this.bench.draw({ track: along, snapped: inOrder(along), said });
    show(
      this.list,
      ...points.map((point, k) => {
        const { index, movedKm } = this.bench.bundle.locations.snap(point);
        const { id } = this.bench.bundle.locations.at(index);
        const name = movedKm < 0.001 ? id : `${km(movedKm)} from ${id}`;
        const drop = () => this.drop(k);
        const label = `Remove point ${k + 1}`;
        return h(
          "li",
          {},
          h("span", {}, name),
          h(
            "button",
            {
              type: "button",
              class: "plain",
              "data-action": "delete-point",
              "aria-label": label,
              click: drop,
            },
            "Remove",
          ),
        );
      }),
    );
    this.use.disabled = this.undo.disabled = points.length === 0;
    this.said.textContent = points.length === 1 ? "1 point." : `${points.length} points.`;
    this.look();
  }

  /** By name, or without one those next to the last point. */
  private look(): void {
    const { locations } = this.bench.bundle;
    const text = this.search.value.trim().toLowerCase();
    const all = Array.from({ length: locations.size }, (_, k) => locations.at(k));
    const middle = middleOf(all);
    const near = this.points.at(-1) ?? middle;
    const fits = text ? all.filter(({ id }) => id.toLowerCase().includes(text)) : all;
    const away = fits.map((each) => [haversineKm(each, near), each] as const);
    away.sort((a, b) => a[0] - b[0]);
    const found = away.slice(0, FOUND_MOST).map(([, each]) => each);
    this.adding.clear();
    show(
      this.found,
      ...found.map((each) => {
        const add = () => {
          this.change([...this.points, { lat: each.lat, lng: each.lng }]);
          this.adding.get(each.id)?.focus(); // the list was made anew
        };
        const adds = button("add-point", `Add ${each.id}`, add);
        adds.dataset.location = each.id;
        this.adding.set(each.id, adds);
        return h("li", {}, adds, h("span", { class: "soft" }, whereabouts(each, middle)));
      }),
      found.length ? null : h("li", { class: "soft" }, "No place has this name."),
    );
  }

  private finish(): void {
    this.days.useDrawn(this.points);
    this.bench.go(2);
  }
}

function button(
  action: string,
  label: string,
  click: () => void,
  kind?: string,
): HTMLButtonElement {
  return h("button", { type: "button", class: kind, "data-action": action, click }, label);
}

function middleOf(all: readonly Location[]): LatLng {
  const mean = (axis: "lat" | "lng") =>
    all.reduce((sum, each) => sum + each[axis], 0) / all.length;
  return { lat: mean("lat"), lng: mean("lng") };
}

function whereabouts(place: LatLng, middle: LatLng): string {
  const east = (place.lng - middle.lng) * Math.cos((middle.lat * Math.PI) / 180);
  const turn = Math.atan2(east, place.lat - middle.lat) / (Math.PI / 4);
  return `${km(haversineKm(place, middle))} ${WINDS[(Math.round(turn) + 8) % 8]} of the centre`;
}
