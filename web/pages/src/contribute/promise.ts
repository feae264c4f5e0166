/**
 * What the task promises, derived here from the task and its files.
 *
 * The collector says the same at /tasks/ID/promise, in the words of `nomadp.protocol.promise`; a
 * contributor need not believe it.
 */
import { expLower, Fraction, type Kit, Question, WholeJourney } from "nomadp-client";
import type { Promised } from "../api";
import { span } from "./words";

const ASKS: Record<string, string> = {
  trips: "in which zone a journey begins and in which it ends",
  starts: "in which zone a journey begins",
  ends: "in which zone a journey ends",
  visits: "in which zone one point of a journey is, which the device draws",
};
const WHEN: Record<string, string> = {
  "day-part": ", and in which six hours of the day",
  weekday: ", and on which day of the week",
};
const HUNDRED = new Fraction(100);

export function promiseOf(kit: Kit): Promised {
  const { facts, epsilonInAll } = kit.task;
  const odds = expUpper(facts.epsilon);
  const inAll = rounded(expUpper(epsilonInAll), 2);
  const power = facts.epsilon.denominator === 1n ? facts.epsilon : `(${facts.epsilon})`;
  return {
    asks: asks(kit),
    from: moment(facts.start * facts.timePrecision),
    until: moment(facts.end * facts.timePrecision),
    guaranteed:
      "take any two journeys, of any length; whatever is sent is at most " +
      `e^${power} = ${rounded(odds, 2)} times likelier under one than under the other`,
    odds_at_most: rounded(odds, 2),
    odds_in_all_at_most: inAll,
    suspicions: suspicions(odds),
    adds_up:
      facts.reportsPerContributor === 1
        ? `you send one report, and spend ${facts.epsilon} of your device's budget; other ` +
          "tasks add to it"
        : `up to ${facts.reportsPerContributor} reports from you add up to epsilon ` +
          `${epsilonInAll}, odds of ${inAll} to 1; other tasks add to it`,
    not_covered: notCovered(kit),
    seen: seen(kit),
  };
}

/** e^epsilon of one report, rounded up. */
export function oddsOf(kit: Kit): string {
  return rounded(expUpper(kit.task.facts.epsilon), 2);
}

function asks({ mechanism, task }: Kit): string {
  if (mechanism instanceof Question) {
    const when = WHEN[task.facts.when ?? ""] ?? "";
    const { size } = mechanism.zones;
    return `${ASKS[mechanism.name]}${when}; ${size} zones by ${task.facts.zones}`;
  }
  const { book } = (mechanism as WholeJourney).channel(task.facts.length!);
  if (task.facts.length === 1) {
    return `which of ${book.size} public places the first point of a journey is like`;
  }
  return (
    `which of ${book.size} public journeys of ${task.facts.length} points yours is like, ` +
    "however long it is"
  );
}

function notCovered({ task }: Kit): string[] {
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

function seen({ task }: Kit): string[] {
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
function suspicions(odds: Fraction): Record<string, string> {
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
