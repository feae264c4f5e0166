/** Draws a journey on the map with a pointer or the keyboard, or from a list of places. */
import { haversineKm, type LatLng, type Location } from "nomadp-client";
import type { Position } from "../api";
import { h, show } from "../dom";
import type { Bench } from "./bench";
import type { Days } from "./days";
import { inOrder } from "./numbered_points";
import { km } from "./text";

const MATCHES_MAX = 6;
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
  private readonly editor = h("div", { hidden: true });
  private readonly start: HTMLButtonElement;
  private readonly list = h("ol", { class: "points", "aria-label": "Points of the journey" });
  private readonly matches = h("ul", { class: "found" });
  private readonly search: HTMLInputElement;
  private readonly use: HTMLButtonElement;
  private readonly undo: HTMLButtonElement;
  private readonly status = h("p", { class: "soft", role: "status" });
  private points: LatLng[] = [];
  /** The buttons that add a location, by its id. */
  private readonly addButtons = new Map<string, HTMLButtonElement>();

  constructor(
    private readonly bench: Bench,
    private readonly days: Days,
  ) {
    this.start = button("draw", "Draw a journey", () => this.begin());
    this.search = h("input", {
      type: "search",
      id: "place",
      autocomplete: "off",
      input: () => this.listMatches(),
    });
    this.use = button("use-drawn", "Use this journey", () => this.finish(), "main");
    this.undo = button("undo", "Undo", () => this.shorten(this.points.slice(0, -1)));
    this.element.append(
      h("h3", { id: "by-drawing" }, "On the map"),
      h("p", { class: "soft" }, "Mark the places you passed, in order."),
      h("p", {}, this.start),
      this.editor,
    );
    this.editor.append(...this.parts());
  }

  enter(): void {
    if (!this.editor.hidden) this.resume();
    else this.bench.draw({ label: "The public places of this task." });
  }

  leave(): void {
    this.bench.place(undefined);
  }

  /** Stop drawing, because a file was opened. */
  end(): void {
    this.points = [];
    this.editor.hidden = true;
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
      this.matches,
      this.list,
      this.status,
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
    this.editor.hidden = false;
    this.start.hidden = true;
    this.resume();
    this.search.focus({ preventScroll: true });
  }

  private resume(): void {
    this.bench.place((at) => this.change([...this.points, { lng: at[0], lat: at[1] }]));
    this.change(this.points);
  }

  /** Remove points. After the last one its button is gone, so the focus moves to the search. */
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
    const positions: Position[] = points.map(({ lat, lng }) => [lng, lat]);
    const label = `You are drawing a journey. Points so far: ${points.length}.`;
    this.bench.draw({ track: positions, snapped: inOrder(positions), label });
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
    this.status.textContent = points.length === 1 ? "1 point." : `${points.length} points.`;
    this.listMatches();
  }

  /** List the places whose names match, the nearest to the last point first. */
  private listMatches(): void {
    const { locations } = this.bench.bundle;
    const text = this.search.value.trim().toLowerCase();
    const all = Array.from({ length: locations.size }, (_, k) => locations.at(k));
    const middle = middleOf(all);
    const near = this.points.at(-1) ?? middle;
    const matching = text ? all.filter(({ id }) => id.toLowerCase().includes(text)) : all;
    const byDistance = matching.map((place) => [haversineKm(place, near), place] as const);
    byDistance.sort((a, b) => a[0] - b[0]);
    const matches = byDistance.slice(0, MATCHES_MAX).map(([, place]) => place);
    this.addButtons.clear();
    show(
      this.matches,
      ...matches.map((place) => {
        const add = () => {
          this.change([...this.points, { lat: place.lat, lng: place.lng }]);
          this.addButtons.get(place.id)?.focus(); // the list was rebuilt
        };
        const addButton = button("add-point", `Add ${place.id}`, add);
        addButton.dataset.location = place.id;
        this.addButtons.set(place.id, addButton);
        return h("li", {}, addButton, h("span", { class: "soft" }, whereabouts(place, middle)));
      }),
      matches.length ? null : h("li", { class: "soft" }, "No place has this name."),
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
