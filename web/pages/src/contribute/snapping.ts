/** Step 3: what the task reads of the journey: public locations, or one answer. */
import { HOURS, type LatLng, FrequencyOracle, Trips, Visits, WHEN } from "nomadp-client";
import { count, h, plural, show } from "../dom";
import type { Position } from "../api";
import type { Bench, Journey, Step } from "./bench";
import { inOrder, type Numbered } from "./numbered_points";
import { km } from "./text";

const FAR_KM = 50;
const ROWS_MAX = 60;
const NO_POINTS =
  "Your report will treat it as if it stayed at the first public place. You can still send it. If " +
  "some journeys could not be sent, a missing report would give away where someone was. Another " +
  "journey may be more useful.";
const WEEK = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

export class Snapping implements Step {
  readonly title = "Check what is used";
  readonly says =
    "Your report can only be about what you see here. It is still only in this tab.";
  readonly body = h("div", {});
  private readonly next: HTMLButtonElement;
  /** The journey whose hour was chosen here, so that it can be changed. */
  private withHour: Journey | undefined;

  constructor(private readonly bench: Bench) {
    const click = () => bench.go(3);
    const attributes = { type: "button", class: "main", "data-action": "preview", click };
    this.next = h("button", attributes, "See a preview");
  }

  get isOpen(): boolean {
    return this.bench.chosen !== undefined;
  }

  enter(): void {
    const { bench } = this;
    const places = bench.snapped;
    const mechanism = bench.bundle.mechanism;
    show(
      this.body,
      h("p", {}, this.summary(places.length)),
      this.far(),
      mechanism instanceof FrequencyOracle ? this.answer(mechanism, places) : null,
      bench.isTimed ? this.time() : null,
      this.table(places),
      h("p", { class: "buttons" }, this.next),
    );
    this.next.disabled = !bench.isComplete;
    const snapped = places.map((place) => bench.contents.at(place));
    const label = `Your journey, and the ${plural(places.length, "public place")} used for it.`;
    bench.draw({ track: bench.track, snapped: this.marked(snapped), label }, "near");
  }

  /** The points that are used. */
  private get used(): readonly LatLng[] {
    return this.bench.bundle.pointsRead(this.bench.chosen!.points);
  }

  /** The points to mark: for frequency oracles other than visits, only both ends. */
  private marked(snapped: Position[]): Numbered[] {
    const all = inOrder(snapped);
    return this.bench.bundle.task.isOracle && !(this.bench.bundle.mechanism instanceof Visits)
      ? [all[0]!, ...all.slice(1).slice(-1)]
      : all;
  }

  private summary(length: number): string {
    const { points } = this.bench.chosen!;
    if (this.used.length === 0) return "This journey has no points that can be used.";
    const moved = `Each is moved to the nearest of ${count(this.bench.bundle.locations.size)} public places.`;
    if (this.bench.bundle.task.isOracle) {
      return `Your journey has ${plural(points.length, "point")}. ${moved} The task asks one thing about them:`;
    }
    const how =
      points.length > length
        ? "evenly spaced along the way, with both ends kept"
        : "the last point is repeated";
    if (points.length === length) {
      return (
        `Your journey has ${plural(length, "point")}, as many as this task uses. ${moved} ` +
        "Nobody learns how many points you had."
      );
    }
    return (
      `Your journey has ${plural(points.length, "point")}. This task uses ${length} (${how}). ${moved} ` +
      "Nobody learns how many points you had."
    );
  }

  private far(): HTMLElement | null {
    const { locations } = this.bench.bundle;
    const all = this.used;
    if (all.length === 0) return h("p", { class: "note" }, NO_POINTS);
    const far = all.filter((point) => locations.snap(point).movedKm > FAR_KM).length;
    if (!far) return null;
    const many = `${plural(far, "point")} ${far === 1 ? "is" : "are"}`;
    const which = far > 1 && far === all.length ? "All points are" : many;
    return h(
      "p",
      { class: "note" },
      `${which} more than ${FAR_KM} km from any public place. You can still send a report. If some ` +
        "journeys could not be sent, a missing report would give away where someone was. Another " +
        "journey may be more useful.",
    );
  }

  private answer(oracle: FrequencyOracle, places: readonly number[]): HTMLElement {
    const { zones } = oracle;
    const zone = (place: number) => zones.names[zones.of(place)]!;
    const [first, last] = [zone(places[0]!), zone(places.at(-1)!)];
    const sentences: Record<string, string> = {
      trips: `It starts in ${first} and ends in ${last}.`,
      starts: `It starts in ${first}.`,
      ends: `It ends in ${last}.`,
      visits:
        "Your browser picks one of these points at random. The report is about the area of that point. Nobody learns which point it was.",
    };
    const kind = oracle instanceof Trips ? "trips" : oracle.name;
    const cell = oracle instanceof Visits ? null : /^r(\d+)_c(\d+)$/.exec(first);
    const key = cell
      ? `${first} is row ${cell[1]} from the south and column ${cell[2]} from the west, counting from 0.`
      : "";
    return h(
      "div",
      {},
      h("p", { class: "answer" }, sentences[kind]!),
      key && this.bench.bundle.task.facts.zones?.startsWith("grid:")
        ? h("p", { class: "soft" }, key)
        : null,
    );
  }

  /** The hour at which the journey began, or a form for it if it is unknown. */
  private time(): HTMLElement {
    const { hour } = this.bench.chosen!;
    const { names, hours } = WHEN[this.bench.bundle.task.facts.when!];
    const slotOf = (at: number) => names[Math.floor(at / hours) % names.length]!;
    const when = (at: number) => `The task also asks when it started: ${slotOf(at)}.`;
    if (hour !== null && this.withHour !== this.bench.chosen) {
      return h("p", { class: "answer", "data-slot": slotOf(hour) }, when(hour));
    }
    const day = select("weekday", "Weekday", WEEK);
    const clock = select(
      "hour",
      "Hour",
      Array.from({ length: 24 }, (_, k) => `${k}:00 – ${k}:59`),
    );
    const answer = h("p", { class: "answer", role: "status" });
    const showHour = (at: number | null) => {
      answer.textContent = at === null ? "" : when(at);
      answer.dataset.slot = at === null ? "" : slotOf(at);
    };
    showHour(hour);
    if (hour !== null) {
      day.input.selectedIndex = Math.floor(hour / 24) + 1;
      clock.input.selectedIndex = (hour % 24) + 1;
    }
    const set = () => {
      const [weekday, hourOfDay] = [day.input.selectedIndex - 1, clock.input.selectedIndex - 1];
      const isComplete = weekday >= 0 && hourOfDay >= 0;
      const chosen = isComplete ? (24 * weekday + hourOfDay) % HOURS : null;
      this.withHour = { ...this.bench.chosen!, hour: chosen };
      this.bench.choose(this.withHour);
      this.next.disabled = !isComplete;
      showHour(chosen);
    };
    day.input.addEventListener("change", set);
    clock.input.addEventListener("change", set);
    return h(
      "fieldset",
      { class: "when" },
      h("legend", {}, "The task also asks when your journey started. When was that?"),
      day.element,
      clock.element,
      answer,
    );
  }

  private table(places: readonly number[]): HTMLElement {
    const { bundle } = this.bench;
    const { used } = this;
    const rows = places.slice(0, ROWS_MAX).map((place, k) => {
      const point = used[k];
      const away = point ? km(bundle.locations.snap(point).movedKm) : "";
      return h(
        "tr",
        {},
        h("th", { scope: "row", class: "number" }, String(k + 1)),
        h("td", {}, bundle.locations.at(place).id),
        h("td", { class: "number" }, away),
      );
    });
    const head = ["Point", "Public place", "Moved by"].map((name, k) =>
      h("th", { scope: "col", class: k === 1 ? undefined : "number" }, name),
    );
    const rest = places.length - rows.length;
    const caption = `Only you can see this.${rest > 0 ? ` ${plural(rest, "more point")} not shown.` : ""}`;
    const attributes = {
      class: "scroll",
      tabindex: 0,
      role: "region",
      "aria-label": "What is used",
    };
    return h(
      "div",
      attributes,
      h(
        "table",
        { class: "read" },
        h("caption", {}, caption),
        h("thead", {}, h("tr", {}, ...head)),
        h("tbody", {}, ...rows),
      ),
    );
  }
}

function select(
  id: string,
  label: string,
  names: readonly string[],
): { element: HTMLElement; input: HTMLSelectElement } {
  const options = ["Choose", ...names].map((name, k) =>
    h("option", { value: k ? k - 1 : "" }, name),
  );
  const input = h("select", { id }, ...options);
  return { input, element: h("p", { class: "field" }, h("label", { for: id }, label), input) };
}
