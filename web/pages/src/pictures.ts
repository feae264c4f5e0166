/** One answer at a time: its map, the table beside it, and what is to be known about it. */
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
  private readonly fineness = h("p", { class: "filter", role: "status" });
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

  /** Nothing is drawn any more. */
  stop(): void {
    this.map?.remove();
    this.map = undefined;
  }

  focus(): void {
    this.tabs.focus();
  }

  /** Why there is no answer yet, or none can come. */
  await(pending: Pending): void {
    const { missing, isClosed } = this.pending;
    if (missing === pending.missing && isClosed === pending.isClosed) return;
    this.pending = pending;
    this.draw();
  }

  /** An answer arrived, or all are asked for again. */
  refresh(question?: Query): void {
    const isOfThis = question === undefined || question === this.shown;
    if (isOfThis || this.question !== this.shown) this.draw();
    else this.point();
  }

  /** Which is shown may change as answers arrive: one of them says how fine is too fine. */
  private get question(): Query {
    const last = this.view.questions.length - 1;
    return this.view.questions[Math.min(Math.max(this.home + this.steps, 0), last)]!;
  }

  private get home(): number {
    return homeOf(this.view, (question) => significantRows(this.answers().of(question)) > 0);
  }

  private open(view: View): void {
    this.view = view;
    this.element.querySelector(`#${PANEL}`)?.setAttribute("aria-labelledby", `tab-${view.key}`);
    this.draw();
  }

  private mapOf(places: Position[]): HTMLElement {
    const heard = {
      chosen: (row: number | undefined) => this.choose(row),
      zoomed: (steps: number) => this.zoomed(steps),
    };
    try {
      this.map = new AnswerMap(places, heard, this.basemap);
      return this.map.element;
    } catch {
      const words =
        "This browser cannot draw maps, because it has no WebGL. The table shows everything.";
      return h("p", { class: "map none" }, words);
    }
  }

  private zoomed(steps: number): void {
    this.steps = steps;
    if (this.question !== this.shown) this.draw();
  }

  private draw(): void {
    this.shown = this.question;
    const result = this.answers().of(this.shown);
    const drawn = result?.status === "done" ? result.answer.drawn : undefined;
    this.summary.textContent = unbroken(drawn?.summary) ?? wordsOf(result, this.pending);
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
    const fineness = result && finenessOf(this.view, this.shown, this.home, result);
    this.fineness.textContent = fineness?.words ?? "";
    Object.assign(this.fineness.dataset, {
      areas: fineness?.areas ?? "",
      why: fineness?.why ?? "",
    });
    show(
      this.below,
      drawn && legend(drawn),
      h("div", { class: "filter" }, h("p", {}, unbroken(drawn?.filter) ?? "")),
      this.view.questions.length > 1 ? this.fineness : null,
    );
    this.choose(firstOf(drawn), false);
    this.point();
  }

  /** Where nothing is told, to the tabs that tell something; nobody is taken there. */
  private point(): void {
    // Of the coarsest areas: among many finer ones some would say something by chance.
    const says = (view: View) => significantRows(this.answers().of(view.questions[0]!)) > 0;
    const result = this.shown && this.answers().of(this.shown);
    const isSilent =
      result?.status === "done" && result.answer.about.significance?.significant === 0;
    const telling = isSilent
      ? this.views.filter((view) => view !== this.view && says(view))
      : [];
    const buttons = telling.map((view) => {
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

/** Why there is no answer. */
export interface Pending {
  /** Reports that are needed before anything is answered. */
  readonly missing: number;
  /** No more can come. */
  readonly isClosed: boolean;
}

function tooFew(missing: number, isClosed = false): string {
  const more = `${count(missing)} more`;
  if (isClosed) return `This task was closed with too few reports: ${more} were needed.`;
  return `Too few reports: ${more} ${missing === 1 ? "is" : "are"} needed.`;
}

function stateOf(result: Result | undefined, { missing, isClosed }: Pending): string {
  if (result) return result.status;
  if (missing === 0) return "working";
  return isClosed ? "closed" : "too_few";
}

function wordsOf(result: Result | undefined, { missing, isClosed }: Pending): string {
  if (result?.status === "refused") return `This cannot be estimated: ${result.detail}`;
  if (result?.status === "too_few") {
    return tooFew(result.missing);
  }
  return missing > 0 ? tooFew(missing, isClosed) : "Computing the estimates …";
}

/** Which journey is put forward at first: one that goes somewhere. */
function firstOf(drawn: Drawn | undefined): number | undefined {
  const moves = drawn?.tracks?.find(({ line }) => String(line[0]) !== String(line.at(-1)));
  return (moves ?? drawn?.tracks?.[0])?.row;
}

/** How many rows reports tell something of. */
function significantRows(result: Result | undefined): number {
  return result?.status === "done" ? (result.answer.about.significance?.significant ?? 0) : 0;
}

/** Which areas these are, and why: that they were picked by what is found must be said. */
function finenessOf(
  view: View,
  question: Query,
  home: number,
  result: Result,
): { areas: string; why: string; words: string } | undefined {
  const { areas = "" } = question;
  const side = areas.split(":")[1];
  if (!side) return undefined;
  const at = view.questions.indexOf(question);
  const smaller = at < view.questions.length - 1 ? " Zoom in for smaller areas." : "";
  const larger = at > 0 ? " Zoom out for larger areas." : "";
  if (result.status === "done" && result.answer.about.no_intervals) {
    const words = `Areas: ${side} × ${side}. Significance is unknown, because there are no confidence intervals.`;
    return { areas, why: "unknown", words: `${words}${smaller}${larger}` };
  }
  if (significantRows(result) === 0) {
    const words = `Areas: ${side} × ${side}. No area differs significantly from the baseline.${larger}`;
    return { areas, why: "nothing", words };
  }
  const [why, said] =
    at === home
      ? ["finest", "the finest before significance is lost"]
      : ["zoom", "chosen by zooming"];
  return { areas, why: why!, words: `Areas: ${side} × ${side} (${said}).${smaller}` };
}

function factsOf(drawn: Drawn): HTMLElement {
  const each = drawn.facts.map(([name, said]) =>
    h("div", {}, h("dt", {}, name), h("dd", {}, unbroken(said))),
  );
  return h("dl", { class: "facts" }, ...each);
}
