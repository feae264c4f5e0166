/** Step 4: what would be sent, drawn again and again, and never sent. */
import {
  type TaskBundle,
  type Mechanism,
  FrequencyOracle,
  SimulatedReport,
  Visits,
} from "nomadp-client";
import { SeededRandom } from "nomadp-client/seeded";
import type { Position } from "../api";
import { count, h, show } from "../dom";
import type { Bench, Step } from "./bench";
import { posteriorBoundOf, timesOf } from "./stated_guarantee";
import type { Told } from "./telling";

/** Where a report has 22 characters of its own; these are in none, and no collector takes them. */
const NO_ID = "?".repeat(22);
const NAMES_MOST = 40;
/** Answers that are shown without being asked for. */
const FEW = 8;
const GHOSTS_MOST = 40;
/** Of a law that is the same for every journey. */
const SILENT = "It is drawn the same way for every journey, so it says nothing about yours.";

export class Preview implements Step {
  readonly title = "See a preview";
  readonly says =
    "This is an example. It is drawn at random, like a real report. This page cannot send it.";
  readonly body = h("div", {});
  private readonly told = h("div", { class: "preview" });
  private readonly tally = h("p", { class: "soft", role: "status" });
  private readonly again: HTMLButtonElement;
  private ghosts: (readonly Position[])[] = [];
  private seen = { all: 0, near: 0 };
  private of: unknown;

  constructor(private readonly bench: Bench) {
    const again = {
      type: "button",
      "data-action": "draw-again",
      click: () => void this.draw(),
    };
    this.again = h("button", again, "Show another preview");
    const next = h(
      "button",
      { type: "button", class: "main", "data-action": "to-sending", click: () => bench.go(4) },
      "Continue",
    );
    this.body.append(this.told, this.tally, h("p", { class: "buttons" }, next, this.again));
  }

  get isOpen(): boolean {
    return this.bench.isComplete;
  }

  enter(): void {
    if (this.of !== this.bench.chosen) {
      this.of = this.bench.chosen;
      this.ghosts = [];
      this.seen = { all: 0, near: 0 };
    }
    this.bench.wasPreviewed = true;
    this.bench.changed();
    void this.draw();
  }

  /** With words of a key that is thrown away: they make a `SimulatedReport`, and no upload. */
  private async draw(): Promise<void> {
    const { bundle, chosen, telling } = this.bench;
    const journey = this.bench.snapped;
    const words = SeededRandom.ofKey(crypto.getRandomValues(new Uint8Array(32)));
    const stream = await words.stream(0, bundle.mechanism.wordCount(journey.length));
    // Whoever went on, or chose another journey, looks at something else by now.
    if (!this.body.isConnected || this.bench.chosen !== chosen) return;
    const hour = chosen!.hour ?? undefined;
    const told = telling.of(SimulatedReport.draw(bundle.mechanism, journey, stream, hour));
    this.count(journey, told);
    show(this.told, ...this.words(told));
    void this.explain(told);
    const said = `Your journey, and a preview of a report: ${told.says}`;
    const { track } = this.bench;
    this.bench.draw(
      { track, ghosts: this.ghosts, report: told.lines, areas: told.areas, said },
      "all",
    );
    if (told.lines.length === 1)
      this.ghosts = [...this.ghosts, told.lines[0]!].slice(-GHOSTS_MOST);
  }

  private words(told: Told): HTMLElement[] {
    const { task, mechanism } = this.bench.bundle;
    const body = JSON.stringify({
      reports: [{ report_id: NO_ID, time: task.epoch(Date.now()), value: told.value }],
    });
    const names = told.names.slice(0, NAMES_MOST);
    const rest = told.names.length - names.length;
    const list = h("ol", { class: "names" }, ...names.map((name) => h("li", {}, name)));
    return [
      h("p", { class: "stamped" }, h("span", { class: "not-sent" }, "Preview: not sent")),
      h("p", { class: "says" }, told.says),
      mechanism instanceof FrequencyOracle && names.length > FEW
        ? h("details", {}, h("summary", {}, "The answers in this report"), list, more(rest))
        : list,
      h("p", { class: "odds", id: "explained" }, h("span", { class: "soft" }, "Counting …")),
      h(
        "p",
        { class: "soft bytes-title" },
        `Everything it contains (${count(body.length)} bytes)`,
      ),
      h("pre", { class: "bytes", tabindex: 0, "aria-label": "The bytes of the preview" }, body),
      h(
        "p",
        { class: "soft" },
        "A real report has 22 random characters in place of the question marks. It is drawn again " +
          "when you send it, so expect it to say something else.",
      ),
    ];
  }

  private async explain(told: Told): Promise<void> {
    const place = this.told.querySelector<HTMLElement>("#explained")!;
    const { best, of } = await this.bench.explaining.of(told.number, told.names.length);
    const what = this.bench.bundle.task.isOracle ? "answers" : "public journeys";
    const times = timesOf(this.bench.bundle);
    Object.assign(place.dataset, { best, of });
    show(
      place,
      h("span", { class: "figure" }, count(best)),
      h(
        "span",
        {},
        `of ${count(of)} ${what} ${best === 1 ? "fits this report best" : "fit this report best, all equally well"}. ` +
          `Each of the others may be true as well. It fits at most ${times} times less well.`,
      ),
    );
  }

  /** How often it was near the truth: only here can that be known. */
  private count(journey: readonly number[], told: Told): void {
    const { bundle, explaining, chosen } = this.bench;
    this.seen.all += 1;
    this.tally.dataset.drawn = String(this.seen.all);
    const { mechanism } = bundle;
    const { chance } = explaining;
    Object.assign(this.tally.dataset, {
      inHundred: (100 * chance).toFixed(2),
      guess: guessOf(mechanism, chance),
      posteriorBound: posteriorBoundOf(bundle),
    });
    if (mechanism instanceof FrequencyOracle) {
      if (mechanism instanceof Visits) {
        this.tally.textContent = `Previews so far: ${this.seen.all}.`;
        return;
      }
      const truth = trueAnswer(mechanism, journey, chosen!.hour);
      this.seen.near += Number(told.names.includes(truth));
      this.tally.dataset.near = String(this.seen.near);
      this.tally.textContent = `Previews so far: ${this.seen.all}. With the true answer: ${this.seen.near}. ${answersLaw(chance)} ${posteriorBound(bundle)}`;
      return;
    }
    this.seen.near += Number(explaining.isNear(journey, told.number!));
    this.tally.dataset.near = String(this.seen.near);
    this.tally.textContent = `Previews so far: ${this.seen.all}. Among the nearest to your journey: ${this.seen.near}. ${journeysLaw(chance)} ${posteriorBound(bundle)}`;
  }
}

/** What a reader's guess is that a report holds the truth, or is near to it. */
function guessOf(mechanism: Mechanism, chance: number): "certain" | "likely" | "unlikely" {
  if (chance === 1) return "certain"; // every report is: it tells nothing
  return mechanism instanceof FrequencyOracle && chance <= 0.5 ? "unlikely" : "likely";
}

/** How many of a hundred reports do, as the law has it. */
function inHundred(chance: number): string {
  if (chance > 0.995) return "More than 99";
  return chance < 0.005 ? "Fewer than 1" : `About ${Math.round(100 * chance)}`;
}

function reportsLaw(chance: number): string {
  return `${inHundred(chance)} in 100 reports like this`;
}

/** What a reader of one learns of it; half the time or less, the better guess is that it does not. */
function answersLaw(chance: number): string {
  if (chance === 1) return `Every report like this contains the true answer. ${SILENT}`;
  const law = `${reportsLaw(chance)} contain the true answer. `;
  return chance <= 0.5
    ? `${law}Nobody can tell whether yours does.`
    : `${law}Someone who guesses that yours does is right that often, but cannot be sure.`;
}

function journeysLaw(chance: number): string {
  if (chance === 1)
    return `Every report like this is among the nearest to any journey. ${SILENT}`;
  return (
    `${reportsLaw(chance)} are among the nearest to the true journey. Someone who guesses that ` +
    "yours is near is right that often, but cannot be sure."
  );
}

/** The most that anybody can learn. */
function posteriorBound(bundle: TaskBundle): string {
  return (
    `Someone who is 1 % sure of a guess about your journey can become at most ${posteriorBoundOf(bundle)} % ` +
    "sure after seeing your report."
  );
}

function more(rest: number): HTMLElement | null {
  return rest > 0 ? h("p", { class: "soft" }, `and ${count(rest)} more`) : null;
}

/** The name of the label that a journey has. */
function trueAnswer(
  question: FrequencyOracle,
  journey: readonly number[],
  hour: number | null,
): string {
  let found = "";
  question.perturb(
    journey,
    (_step, _law, secret) => {
      found = question.labelName(secret as number);
      return [] as never;
    },
    hour ?? undefined,
  );
  return found;
}
