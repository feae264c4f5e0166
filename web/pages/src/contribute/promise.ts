/**
 * What the task promises, derived here from the task and its files.
 *
 * The collector says the same at /tasks/ID/promise, in the words of `nomadp.protocol.guarantee`; a
 * contributor need not believe it.
 */
import { expLower, Fraction, type TaskBundle, FrequencyOracle, Atlas } from "nomadp-client";
import type { Promised } from "../api";
import { span } from "./words";

const ASKS: Record<string, string> = {
  trips: "in which area a journey begins and in which it ends",
  starts: "in which area a journey begins",
  ends: "in which area a journey ends",
  visits: "in which area one point of a journey is, which the device draws",
};
const WHEN: Record<string, string> = {
  "day-part": ", and in which six hours of the day",
  weekday: ", and on which day of the week",
};
/** Areas with names of their own are named, up to so many. */
const NAMES_MOST = 12;
const HUNDRED = new Fraction(100);

export function promiseOf(bundle: TaskBundle): Promised {
  const { facts, epsilonInAll } = bundle.task;
  const odds = expUpper(facts.epsilon);
  const inAll = rounded(expUpper(epsilonInAll), 2);
  return {
    asks: asks(bundle),
    from: moment(facts.start * facts.timePrecision),
    until: moment(facts.end * facts.timePrecision),
    guaranteed:
      `take any two journeys, of any length; whatever is sent is at most ${plain(odds)} times ` +
      `likelier under one than under the other (epsilon ${facts.epsilon})`,
    odds_at_most: rounded(odds, 2),
    times_at_most: plain(odds),
    odds_in_all_at_most: inAll,
    posterior_bounds: posterior_bounds(odds),
    adds_up:
      facts.reportsPerContributor === 1
        ? `you send one report, and spend ${facts.epsilon} of your device's budget; other ` +
          "tasks add to it"
        : `up to ${facts.reportsPerContributor} reports from you add up to epsilon ` +
          `${epsilonInAll}, odds of ${plain(expUpper(epsilonInAll))} to 1; other tasks add to it`,
    not_covered: notCovered(bundle),
    seen: seen(bundle),
  };
}

/** e^epsilon of one report, as people say it. */
export function timesOf(bundle: TaskBundle): string {
  return plain(expUpper(bundle.task.facts.epsilon));
}

/** How sure in percent somebody can become who was 1 % sure, rounded up. */
export function suspicionOf(bundle: TaskBundle): string {
  return posterior_bounds(expUpper(bundle.task.facts.epsilon))["1"]!;
}

/** Rounded up: whole from 10 on, and with as many digits below as make a difference. */
function plain(odds: Fraction): string {
  const whole = odds.ceil();
  if (whole > 10n) return whole.toLocaleString("en");
  return rounded(odds, odds.minus(new Fraction(2)).numerator >= 0n ? 1 : 2);
}

/** Which areas there are, for somebody who knows the place and no rule. */
function areas(names: readonly string[], rule: string): string {
  const [kind, number] = rule.split(":");
  if (kind === "grid") return `${names.length} cells of a grid of ${number} by ${number}`;
  if (kind === "h3") return `${names.length} hexagons (H3, resolution ${number})`;
  if (names.length > NAMES_MOST) {
    const first = names.slice(0, NAMES_MOST - 2);
    return `${first.join(", ")} and ${names.length - first.length} more`;
  }
  return [names.slice(0, -1).join(", "), names.at(-1)].filter(Boolean).join(" and ");
}

function asks({ mechanism, task }: TaskBundle): string {
  if (mechanism instanceof FrequencyOracle) {
    const when = WHEN[task.facts.when ?? ""] ?? "";
    const told = areas(mechanism.zones.names, task.facts.zones!);
    return `${ASKS[mechanism.name]}${when}; the areas are ${told}`;
  }
  const { book } = (mechanism as Atlas).channel(task.facts.length!);
  if (task.facts.length === 1) {
    return `which of ${book.size} public places the first point of a journey is like`;
  }
  return (
    `which of ${book.size} public journeys of ${task.facts.length} points yours is like, ` +
    "however long it is"
  );
}

function notCovered({ task }: TaskBundle): string[] {
  const { sendWithin, timePrecision } = task.facts;
  const sent = sendWithin
    ? `at a random moment within ${span(sendWithin)} unless you ask for now`
    : "at once";
  return [
    "that you take part, and your address on the network",
    `when: a report tells its time to within ${span(timePrecision)}, and is sent ${sent}`,
    "what follows about everybody from all reports together",
    "a device that is not yours alone, or that lies to you",
  ];
}

function seen({ task }: TaskBundle): string[] {
  return [
    "the collector: the task, a random id for each report, its value and its day or other time " +
      "of the task's precision",
    "the network, and the collector unless a relay stands between: your address, when you " +
      "send, and that you take part; that collector also which reports came from there",
    `analysts: totals of at least ${task.facts.minBatchSize} reports; who subtracts one from ` +
      "another may be left with single reports, of which all this holds, too",
    "nobody but your device: the journey and its number of points",
  ];
}

/** In percent: what a suspicion can grow to at most by one report. */
function posterior_bounds(odds: Fraction): Record<string, string> {
  const one = new Fraction(1);
  const grown = [1, 10, 50].map((percent) => {
    const before = new Fraction(percent, 100);
    const raised = before.times(odds);
    const after = raised.over(raised.plus(one).minus(before));
    return [String(percent), rounded(after.times(HUNDRED), 1)] as const;
  });
  return Object.fromEntries(grown);
}

function expUpper(x: Fraction): Fraction {
  return expLower(x).times(new Fraction((1n << 100n) + 1n, 1n << 100n));
}

/** A decimal that is never below the value: a guarantee may only be rounded up. */
function rounded(value: Fraction, digits: number): string {
  const scale = 10n ** BigInt(digits);
  const up = value.times(new Fraction(scale)).ceil();
  const text = `${up / scale}.${String(up % scale).padStart(digits, "0")}`;
  return text.replace(/0+$/, "").replace(/\.$/, "");
}

function moment(unixS: number): string {
  const found = new Date(unixS * 1000);
  if (!(found.getTime() < Date.UTC(10_000, 0, 1))) return "9999-12-31 or later";
  return found.toISOString().slice(0, 16).replace("T", " ");
}
