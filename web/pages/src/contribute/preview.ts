/** Step 4: simulated reports, which are never sent. */
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
import type { Contents } from "./report_contents";

/** Stands for the random id of a report. No id contains question marks, so no collector accepts it. */
const NO_ID = "?".repeat(22);
const NAMES_MAX = 40;
/** The most answers that are listed without a click. */
const FEW = 8;
const GHOSTS_MAX = 40;
/** For a law that is the same for every journey. */
const UNINFORMATIVE =
  "It is drawn the same way for every journey, so it says nothing about yours.";

export class Preview implements Step {
  readonly title = "See a preview";
  readonly says =
    "This is an example. It is drawn at random, like a real report. This page cannot send it.";
  readonly body = h("div", {});
  private readonly shown = h("div", { class: "preview" });
  private readonly tally = h("p", { class: "soft", role: "status" });
  private readonly again: HTMLButtonElement;
  private ghosts: (readonly Position[])[] = [];
  private seen = { all: 0, near: 0 };
  private journey: unknown;

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
    this.body.append(this.shown, this.tally, h("p", { class: "buttons" }, next, this.again));
  }

  get isOpen(): boolean {
    return this.bench.isComplete;
  }

  enter(): void {
    if (this.journey !== this.bench.chosen) {
      this.journey = this.bench.chosen;
      this.ghosts = [];
      this.seen = { all: 0, near: 0 };
    }
    this.bench.wasPreviewed = true;
    this.bench.onChange();
    void this.draw();
  }

  /** Draw with a key that is discarded. The result is a `SimulatedReport`, which cannot be sent. */
  private async draw(): Promise<void> {
    const { bundle, chosen } = this.bench;
    const journey = this.bench.snapped;
    const source = SeededRandom.ofKey(crypto.getRandomValues(new Uint8Array(32)));
    const stream = await source.stream(0, bundle.mechanism.wordCount(journey.length));
    // Meanwhile the person may have left this step, or chosen another journey.
    if (!this.body.isConnected || this.bench.chosen !== chosen) return;
    const hour = chosen!.hour ?? undefined;
    const report = SimulatedReport.draw(bundle.mechanism, journey, stream, hour);
    const contents = this.bench.contents.of(report);
    this.count(journey, contents);
    show(this.shown, ...this.paragraphs(contents));
    void this.explain(contents);
    const label = `Your journey, and a preview of a report: ${contents.sentence}`;
    const { track } = this.bench;
    this.bench.draw(
      { track, ghosts: this.ghosts, report: contents.lines, areas: contents.areas, label },
      "all",
    );
    if (contents.lines.length === 1)
      this.ghosts = [...this.ghosts, contents.lines[0]!].slice(-GHOSTS_MAX);
  }

  private paragraphs(contents: Contents): HTMLElement[] {
    const { task, mechanism } = this.bench.bundle;
    const body = JSON.stringify({
      reports: [{ report_id: NO_ID, time: task.epoch(Date.now()), value: contents.value }],
    });
    const names = contents.names.slice(0, NAMES_MAX);
    const rest = contents.names.length - names.length;
    const list = h("ol", { class: "names" }, ...names.map((name) => h("li", {}, name)));
    return [
      h("p", { class: "stamped" }, h("span", { class: "not-sent" }, "Preview: not sent")),
      h("p", { class: "says" }, contents.sentence),
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

  private async explain(contents: Contents): Promise<void> {
    const place = this.shown.querySelector<HTMLElement>("#explained")!;
    const { best, of } = await this.bench.bestFits.of(contents.number, contents.names.length);
    const kind = this.bench.bundle.task.isOracle ? "answers" : "public journeys";
    const times = timesOf(this.bench.bundle);
    Object.assign(place.dataset, { best, of });
    show(
      place,
      h("span", { class: "figure" }, count(best)),
      h(
        "span",
        {},
        `of ${count(of)} ${kind} ${best === 1 ? "fits this report best" : "fit this report best, all equally well"}. ` +
          `Each of the others may be the true one, too. They fit at most ${times} times less well.`,
      ),
    );
  }

  /** Count how often a preview contained or was near the truth, which only this page knows. */
  private count(journey: readonly number[], contents: Contents): void {
    const { bundle, bestFits, chosen } = this.bench;
    this.seen.all += 1;
    this.tally.dataset.drawn = String(this.seen.all);
    const { mechanism } = bundle;
    const { chance } = bestFits;
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
      this.seen.near += Number(contents.names.includes(truth));
      this.tally.dataset.near = String(this.seen.near);
      this.tally.textContent = `Previews so far: ${this.seen.all}. With the true answer: ${this.seen.near}. ${answersLaw(chance)} ${posteriorBound(bundle)}`;
      return;
    }
    this.seen.near += Number(bestFits.isNear(journey, contents.number!));
    this.tally.dataset.near = String(this.seen.near);
    this.tally.textContent = `Previews so far: ${this.seen.all}. Among the nearest to your journey: ${this.seen.near}. ${journeysLaw(chance)} ${posteriorBound(bundle)}`;
  }
}

/** How likely a report contains the truth, or is near it, in the eyes of its reader. */
function guessOf(mechanism: Mechanism, chance: number): "certain" | "likely" | "unlikely" {
  if (chance === 1) return "certain"; // every report does, so it reveals nothing
  return mechanism instanceof FrequencyOracle && chance <= 0.5 ? "unlikely" : "likely";
}

/** A probability as a number of reports in a hundred. */
function inHundred(chance: number): string {
  if (chance > 0.995) return "More than 99";
  return chance < 0.005 ? "Fewer than 1" : `About ${Math.round(100 * chance)}`;
}

function reportsLaw(chance: number): string {
  return `${inHundred(chance)} in 100 reports like this`;
}

/** What a report reveals. At 50 % or less, the better guess is that it misses the true answer. */
function answersLaw(chance: number): string {
  if (chance === 1) return `Every report like this contains the true answer. ${UNINFORMATIVE}`;
  const law = `${reportsLaw(chance)} contain the true answer. `;
  return chance <= 0.5
    ? `${law}Nobody can tell whether yours does.`
    : `${law}Someone who guesses that yours does is right that often, but cannot be sure.`;
}

function journeysLaw(chance: number): string {
  if (chance === 1)
    return `Every report like this is among the nearest to any journey. ${UNINFORMATIVE}`;
  return (
    `${reportsLaw(chance)} are among the nearest to the true journey. Someone who guesses that ` +
    "yours is near is right that often, but cannot be sure."
  );
}

/** The largest posterior probability, as a sentence. */
function posteriorBound(bundle: TaskBundle): string {
  return (
    `Someone who is 1 % sure of a guess about your journey can become at most ${posteriorBoundOf(bundle)} % ` +
    "sure after seeing your report."
  );
}

function more(rest: number): HTMLElement | null {
  return rest > 0 ? h("p", { class: "soft" }, `and ${count(rest)} more`) : null;
}

/** The name of the true label of a journey. */
function trueAnswer(
  oracle: FrequencyOracle,
  journey: readonly number[],
  hour: number | null,
): string {
  let name = "";
  // A `choose` that records the secret instead of drawing.
  oracle.perturb(
    journey,
    (_step, _law, secret) => {
      name = oracle.labelName(secret as number);
      return [] as never;
    },
    hour ?? undefined,
  );
  return name;
}
