/** Step 2: the list of days and journeys, to remove some and to pick one. */
import type { LatLng } from "nomadp-client";
import { h, plural, show, svg } from "../dom";
import type { Bench, Step } from "./bench";
import type { Read, Summary } from "./reading";
import { km, showError } from "./text";

const DAYS_AT_ONCE = 14;
const GLYPH = 36;

export class Days implements Step {
  readonly title = "Pick one journey";
  readonly says = "Remove any journeys you would rather not use. Then pick the one to report.";
  readonly body = h("div", {});
  private readonly list = h("div", { class: "days" });
  private readonly about = h("p", { class: "soft", role: "status" });
  private readonly trouble = h("p", { class: "trouble", role: "alert" });
  private readonly hours = h("input", {
    type: "number",
    id: "hours",
    min: 0.25,
    max: 720,
    step: 0.25,
  });
  private readonly split: HTMLElement;
  private readonly next: HTMLButtonElement;
  private journeys: Summary[] = [];
  private drawn: readonly LatLng[] | undefined;
  private shown = DAYS_AT_ONCE;
  private key: number | undefined;

  constructor(private readonly bench: Bench) {
    this.next = h(
      "button",
      { type: "button", class: "main", "data-action": "use-journey", click: () => bench.go(2) },
      "Continue with this journey",
    );
    this.hours.addEventListener("change", () => void this.splitAgain());
    this.split = h(
      "p",
      { class: "field inline" },
      h("label", { for: "hours" }, "Start a new journey after a gap of"),
      this.hours,
      h("span", {}, "hours"),
    );
    this.body.append(
      this.about,
      this.split,
      this.trouble,
      this.list,
      h("p", { class: "buttons" }, this.next),
    );
  }

  get isOpen(): boolean {
    return this.journeys.length > 0;
  }

  enter(): void {
    this.render();
    this.drawMap();
  }

  useFile(read: Read): void {
    this.drawn = undefined;
    this.shown = DAYS_AT_ONCE;
    this.take(read);
  }

  /** Use a drawn journey. It needs no picking. */
  useDrawn(points: readonly LatLng[]): void {
    this.bench.reading.stop();
    this.drawn = [...points];
    this.journeys = [
      { key: -1, date: "", begins: "", ends: "", points: points.length, km: 0, shape: [] },
    ];
    this.key = -1;
    this.bench.choose({ name: "Drawn on the map", points: this.drawn, hour: null });
  }

  private take(read: Read): void {
    this.journeys = [...read.journeys];
    this.hours.value = String(read.hours ?? "");
    this.hours.placeholder = "none";
    this.key = undefined;
    const left = read.leftOut
      ? ` ${plural(read.leftOut, "entry", "entries")} could not be read.`
      : "";
    const [first] = this.journeys;
    this.about.textContent = first?.points
      ? `${plural(this.journeys.length, "journey")} found.${left}`
      : `No places were found in this file.${left} Try another file. Or go back and set the columns ` +
        "and the time zone under “File options”.";
    this.bench.choose(undefined);
    if (this.journeys.length === 1) void this.pick(first!);
  }

  private async splitAgain(): Promise<void> {
    const hours = Number(this.hours.value);
    if (!(hours > 0)) return;
    try {
      this.take(await this.bench.reading.split(hours));
      const hadFocus = this.list.contains(document.activeElement);
      this.enter();
      if (hadFocus) this.list.querySelector("input")?.focus(); // the list was rebuilt
    } catch (error) {
      showError(this.trouble, error);
    }
  }

  private async pick(journey: Summary): Promise<void> {
    this.key = journey.key;
    // Until its points arrive, no journey is chosen: nobody may continue with the previous one.
    this.bench.choose(undefined);
    this.next.disabled = true;
    try {
      const { points, hour } = await this.bench.reading.points(journey.key);
      if (this.key !== journey.key) return;
      this.bench.choose({ name: nameOf(journey), points, hour });
      this.next.disabled = false;
      if (this.body.isConnected) this.drawMap();
    } catch (error) {
      showError(this.trouble, error);
    }
  }

  private async forget(gone: readonly Summary[]): Promise<void> {
    const keys = gone.map(({ key }) => key);
    const rows = () => [...this.list.querySelectorAll("input")];
    const at = rows().findIndex(({ id }) => id === idOf(keys[0]!));
    this.journeys = this.journeys.filter(({ key }) => !keys.includes(key));
    if (this.key !== undefined && keys.includes(this.key)) {
      this.key = undefined;
      this.bench.choose(undefined);
    }
    if (this.drawn) this.drawn = undefined;
    else await this.bench.reading.forget(keys);
    this.about.textContent = `Removed from this page. Your file has not changed. ${plural(this.journeys.length, "journey")} left.`;
    this.bench.onChange();
    this.enter();
    const left = rows();
    (left[Math.min(at, left.length - 1)] ?? this.next).focus();
  }

  private drawMap(): void {
    const { chosen, track } = this.bench;
    const label = chosen
      ? `Your journey: ${chosen.name}.`
      : "You have not picked a journey yet.";
    this.bench.draw({ track, label }, chosen && "near");
  }

  private render(): void {
    this.split.hidden = this.drawn !== undefined;
    this.next.disabled = this.bench.chosen === undefined;
    if (this.drawn) this.about.textContent = "One journey, drawn on the map.";
    const days = new Map<string, Summary[]>();
    for (const journey of this.journeys) {
      days.set(journey.date, [...(days.get(journey.date) ?? []), journey]);
    }
    const newest = [...days].sort(([a], [b]) => (a < b ? 1 : -1));
    const showMore = () => {
      const previous = this.shown;
      this.shown += DAYS_AT_ONCE;
      this.render();
      this.list.querySelectorAll("fieldset")[previous]?.querySelector("input")?.focus();
    };
    const rest = newest.length - this.shown;
    const label = `Show ${Math.min(rest, DAYS_AT_ONCE)} more of ${plural(rest, "earlier day")}`;
    show(
      this.list,
      ...newest.slice(0, this.shown).map(([date, all]) => this.day(date, all)),
      rest > 0
        ? h("button", { type: "button", "data-action": "more-days", click: showMore }, label)
        : null,
    );
  }

  private day(date: string, journeys: Summary[]): HTMLElement {
    const title = date === "" ? "No date" : dayName(date);
    const clear = () => void this.forget(journeys);
    const all = journeys.length > 1 || date !== "";
    return h(
      "fieldset",
      { class: "day", "data-day": date },
      h("legend", {}, title),
      ...journeys.map((each) => this.row(each)),
      all
        ? h(
            "button",
            { type: "button", class: "plain", "data-action": "delete-day", click: clear },
            `Remove ${title}`,
          )
        : null,
    );
  }

  private row(journey: Summary): HTMLElement {
    const id = idOf(journey.key);
    const radio = h("input", {
      type: "radio",
      name: "journey",
      id,
      checked: journey.key === this.key,
      change: () => void this.pick(journey),
    });
    const label = `Remove the journey ${nameOf(journey)}`;
    const drop = () => void this.forget([journey]);
    return h(
      "div",
      { class: "journey", "data-begins": journey.begins },
      radio,
      h("label", { for: id }, glyph(journey), h("span", {}, rowText(journey))),
      h(
        "button",
        {
          type: "button",
          class: "plain",
          "data-action": "delete-journey",
          "aria-label": label,
          click: drop,
        },
        "Remove",
      ),
    );
  }
}

function idOf(key: number): string {
  return `journey-${key}`;
}

function dayName(date: string): string {
  const named = { weekday: "long", day: "numeric", month: "long", year: "numeric" } as const;
  return new Date(`${date}T00:00:00Z`).toLocaleDateString("en", { ...named, timeZone: "UTC" });
}

function nameOf({ date, begins, key }: Summary): string {
  if (key < 0) return "drawn on the map";
  return date ? `of ${date}, ${begins}` : `number ${key + 1}`;
}

function rowText({ key, begins, ends, points, km: distance }: Summary): string {
  if (key < 0) return `Drawn on the map · ${plural(points, "point")}`;
  const when = begins ? [`${begins} – ${ends}`] : [];
  const parts = [...when, km(distance), plural(points, "point")];
  // Lines may only break between parts.
  return parts.map((each) => each.replaceAll(" ", "\u00a0")).join(" · ");
}

/** A small picture of the journey's shape. */
function glyph({ shape }: Summary): SVGElement {
  const size = GLYPH - 8;
  const positions = shape.map(
    ([x, y]) => `${(4 + x * size).toFixed(1)} ${(4 + y * size).toFixed(1)}`,
  );
  const first = positions[0]?.split(" ");
  return svg(
    "svg",
    { class: "glyph", width: GLYPH, height: GLYPH, "aria-hidden": "true" },
    positions.length > 1 ? svg("path", { d: `M${positions.join("L")}` }) : null,
    first ? svg("circle", { cx: first[0]!, cy: first[1]!, r: 2.6 }) : null,
  );
}
