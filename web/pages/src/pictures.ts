/** Shows one answer at a time: a map, a table and facts. */
import type { Answers } from "./answers";
import type { Drawn, Position, Query, Result } from "./api";
import type { Basemap } from "./basemap";
import { count, h, show, unbroken } from "./dom";
import { legend } from "./legend";
import { AnswerMap } from "./map";
import { saving } from "./saving";
import { RowTable } from "./table";
import { Tabs } from "./tabs";
import { homeOf, type View } from "./views";

const PANEL = "picture";

export class Pictures {
  readonly element = h("div", { class: "pictures" });
  private readonly summary = h("p", { class: "summary", role: "status" });
  private readonly elsewhere = h("p", { class: "elsewhere" });
  private readonly beside = h("div", { class: "beside-map" });
  private readonly below = h("figcaption", {});
  private readonly facts = h("div", {});
  private readonly resolution = h("p", { class: "filter", role: "status" });
  private readonly tabs: Tabs;
  private readonly views: readonly View[];
  private map: AnswerMap | undefined;
  private table: RowTable | undefined;
  private view: View;
  private steps = 0;
  private shown: Query | undefined;
  private pending: Pending = { missing: 0, isClosed: false };

  constructor(
    views: View[],
    places: Position[],
    private readonly answers: () => Answers,
    private readonly basemap?: Basemap,
  ) {
    this.views = views;
    this.view = views[0]!;
    this.tabs = new Tabs(views, PANEL, (index) => this.open(views[index]!));
    const panel = { role: "tabpanel", id: PANEL, "aria-labelledby": `tab-${this.view.key}` };
    const figure = h("figure", {}, this.mapOf(places), this.below);
    const split = h("div", { class: "split" }, figure, this.beside);
    this.element.append(
      this.tabs.element,
      h("div", panel, this.summary, this.elsewhere, split, this.facts),
    );
  }

  begin(): void {
    this.tabs.choose(0);
  }

  /** Remove the map. */
  stop(): void {
    this.map?.remove();
    this.map = undefined;
  }

  focus(): void {
    this.tabs.focus();
  }

  /** Set why there is no answer. */
  await(pending: Pending): void {
    const { missing, isClosed } = this.pending;
    if (missing === pending.missing && isClosed === pending.isClosed) return;
    this.pending = pending;
    this.draw();
  }

  /** Redraw after an answer arrived, or after all queries were started again. */
  refresh(query?: Query): void {
    const isShown = query === undefined || query === this.shown;
    if (isShown || this.query !== this.shown) this.draw();
    else this.showElsewhere();
  }

  /** The query to show. It may change as answers arrive, because they decide the resolution. */
  private get query(): Query {
    const last = this.view.queries.length - 1;
    return this.view.queries[Math.min(Math.max(this.home + this.steps, 0), last)]!;
  }

  private get home(): number {
    return homeOf(this.view, (query) => significantRows(this.answers().of(query)) > 0);
  }

  private open(view: View): void {
    this.view = view;
    this.element.querySelector(`#${PANEL}`)?.setAttribute("aria-labelledby", `tab-${view.key}`);
    this.draw();
  }

  private mapOf(places: Position[]): HTMLElement {
    const events = {
      chosen: (row: number | undefined) => this.choose(row),
      zoomed: (steps: number) => this.zoomed(steps),
    };
    try {
      this.map = new AnswerMap(places, events, this.basemap);
      return this.map.element;
    } catch {
      const sentence =
        "This browser cannot draw maps, because it has no WebGL. The table shows everything.";
      return h("p", { class: "map none" }, sentence);
    }
  }

  private zoomed(steps: number): void {
    this.steps = steps;
    if (this.query !== this.shown) this.draw();
  }

  private draw(): void {
    this.shown = this.query;
    const result = this.answers().of(this.shown);
    const drawn = result?.status === "done" ? result.answer.drawn : undefined;
    this.summary.textContent = unbroken(drawn?.summary) ?? statusOf(result, this.pending);
    this.summary.dataset.state = stateOf(result, this.pending);
    this.summary.classList.toggle("waiting", result === undefined);
    this.map?.show(drawn);
    this.table = drawn?.rows.length
      ? new RowTable(drawn, (row) => this.choose(row))
      : undefined;
    show(
      this.beside,
      this.table?.element,
      this.table && result?.status === "done" ? saving(result.answer) : null,
      result || this.pending.isClosed
        ? null
        : h("p", { class: "soft" }, "The table appears here once there are estimates."),
    );
    show(this.facts, drawn && factsOf(drawn));
    const resolution = result && resolutionOf(this.view, this.shown, this.home, result);
    this.resolution.textContent = resolution?.sentence ?? "";
    Object.assign(this.resolution.dataset, {
      areas: resolution?.areas ?? "",
      why: resolution?.why ?? "",
    });
    show(
      this.below,
      drawn && legend(drawn),
      h("div", { class: "filter" }, h("p", {}, unbroken(drawn?.filter) ?? "")),
      this.view.queries.length > 1 ? this.resolution : null,
    );
    this.choose(firstOf(drawn), false);
    this.showElsewhere();
  }

  /** If nothing is significant here, offer the tabs with significant results. */
  private showElsewhere(): void {
    // Only the coarsest areas count: among many finer ones, some would be significant by chance.
    const isSignificant = (view: View) =>
      significantRows(this.answers().of(view.queries[0]!)) > 0;
    const result = this.shown && this.answers().of(this.shown);
    const isSilent =
      result?.status === "done" && result.answer.about.significance?.significant === 0;
    const others = isSilent
      ? this.views.filter((view) => view !== this.view && isSignificant(view))
      : [];
    const buttons = others.map((view) => {
      const click = () => {
        this.tabs.choose(this.views.indexOf(view));
        this.tabs.focus();
      };
      return h("button", { type: "button", "data-view": view.key, click }, view.label);
    });
    show(this.elsewhere, buttons.length ? "Significant results in: " : null, ...buttons);
  }

  private choose(row: number | undefined, isMoved = true): void {
    this.map?.choose(row, isMoved);
    this.table?.choose(row);
  }
}

/** Why there is no answer yet. */
export interface Pending {
  /** The number of reports that are missing. */
  readonly missing: number;
  /** Whether the task is closed, so that no more reports can arrive. */
  readonly isClosed: boolean;
}

function tooFew(missing: number, isClosed = false): string {
  const number = `${count(missing)} more`;
  if (isClosed) return `This task was closed with too few reports: ${number} were needed.`;
  return `Too few reports: ${number} ${missing === 1 ? "is" : "are"} needed.`;
}

function stateOf(result: Result | undefined, { missing, isClosed }: Pending): string {
  if (result) return result.status;
  if (missing === 0) return "working";
  return isClosed ? "closed" : "too_few";
}

function statusOf(result: Result | undefined, { missing, isClosed }: Pending): string {
  if (result?.status === "refused") return `This cannot be estimated: ${result.detail}`;
  if (result?.status === "too_few") {
    return tooFew(result.missing);
  }
  return missing > 0 ? tooFew(missing, isClosed) : "Computing the estimates …";
}

/** The trajectory that is selected at first: one that moves, if there is any. */
function firstOf(drawn: Drawn | undefined): number | undefined {
  const moves = drawn?.tracks?.find(({ line }) => String(line[0]) !== String(line.at(-1)));
  return (moves ?? drawn?.tracks?.[0])?.row;
}

/** The number of rows that differ significantly from the baseline. */
function significantRows(result: Result | undefined): number {
  return result?.status === "done" ? (result.answer.about.significance?.significant ?? 0) : 0;
}

/** The resolution of the areas, and why it was chosen. Choosing it by the data must be disclosed. */
function resolutionOf(
  view: View,
  query: Query,
  home: number,
  result: Result,
): { areas: string; why: string; sentence: string } | undefined {
  const { areas = "" } = query;
  const side = areas.split(":")[1];
  if (!side) return undefined;
  const at = view.queries.indexOf(query);
  const smaller = at < view.queries.length - 1 ? " Zoom in for smaller areas." : "";
  const larger = at > 0 ? " Zoom out for larger areas." : "";
  if (result.status === "done" && result.answer.about.no_intervals) {
    const sentence = `Areas: ${side} × ${side}. Significance is unknown, because there are no confidence intervals.`;
    return { areas, why: "unknown", sentence: `${sentence}${smaller}${larger}` };
  }
  if (significantRows(result) === 0) {
    const sentence = `Areas: ${side} × ${side}. No area differs significantly from the baseline.${larger}`;
    return { areas, why: "nothing", sentence };
  }
  const [why, reason] =
    at === home
      ? ["finest", "the finest before significance is lost"]
      : ["zoom", "chosen by zooming"];
  return { areas, why: why!, sentence: `Areas: ${side} × ${side} (${reason}).${smaller}` };
}

function factsOf(drawn: Drawn): HTMLElement {
  const facts = drawn.facts.map(([name, value]) =>
    h("div", {}, h("dt", {}, name), h("dd", {}, unbroken(value))),
  );
  return h("dl", { class: "facts" }, ...facts);
}
