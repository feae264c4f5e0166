/**
 * The privacy guarantee of a task, derived in the browser from the task and its files.
 *
 * The collector states the same at /tasks/ID/promise, in the words of `nomadp.protocol.guarantee`.
 * A contributor need not trust that statement.
 */
import { expLower, Fraction, type TaskBundle, FrequencyOracle, Atlas } from "nomadp-client";
import type { Guarantee } from "../api";
import { span } from "./words";

const SUBJECTS: Record<string, string> = {
  trips: "the area where a journey starts and the area where it ends",
  starts: "the area where a journey starts",
  ends: "the area where a journey ends",
  visits: "the area of one point of a journey, which the device picks at random",
};
const TIMES: Record<string, string> = {
  "day-part": ", and the part of the day (six hours)",
  weekday: ", and the day of the week",
};
/** If there are more areas with names of their own, only the first few are listed. */
const NAMES_MOST = 12;
const HUNDRED = new Fraction(100);

export function guaranteeOf(bundle: TaskBundle): Guarantee {
  const { facts, epsilonInAll } = bundle.task;
  const odds = expUpper(facts.epsilon);
  const inAll = rounded(expUpper(epsilonInAll), 2);
  return {
    asks: asks(bundle),
    from: moment(facts.start * facts.timePrecision),
    until: moment(facts.end * facts.timePrecision),
    guaranteed:
      "any journey of any length can lead to the same report, and no journey makes that " +
      `report more than ${plain(odds)} times as likely as another journey does (epsilon ` +
      `${facts.epsilon})`,
    odds_at_most: rounded(odds, 2),
    times_at_most: plain(odds),
    odds_in_all_at_most: inAll,
    posterior_bounds: posteriorBounds(odds),
    adds_up:
      facts.reportsPerContributor === 1
        ? `you can send one report to this task, and it uses ${facts.epsilon} of your device's ` +
          "privacy budget; reports to other tasks add to that"
        : `you can send up to ${facts.reportsPerContributor} reports to this task; together ` +
          `they use ${epsilonInAll} of your device's privacy budget and are at most ` +
          `${plain(expUpper(epsilonInAll))} times as likely for some journeys as for others; ` +
          "reports to other tasks add to that",
    not_covered: notCovered(bundle),
    seen: seen(bundle),
  };
}

/** e^epsilon of one report, as people say it. */
export function timesOf(bundle: TaskBundle): string {
  return plain(expUpper(bundle.task.facts.epsilon));
}

/** The largest posterior probability of a guess whose prior is 1 %, in percent, rounded up. */
export function posteriorBoundOf(bundle: TaskBundle): string {
  return posteriorBounds(expUpper(bundle.task.facts.epsilon))["1"]!;
}

/** Rounded up: a whole number from 10 on, one digit from 2 on, two digits below. */
function plain(odds: Fraction): string {
  const whole = odds.ceil();
  if (whole > 10n) return whole.toLocaleString("en");
  return rounded(odds, odds.minus(new Fraction(2)).numerator >= 0n ? 1 : 2);
}

/** The areas, in words for somebody who knows the place but not the zones rule. */
function areas(names: readonly string[], rule: string): string {
  const [kind, number] = rule.split(":");
  if (kind === "grid") return `the ${names.length} cells of a ${number}-by-${number} grid`;
  if (kind === "h3") return `${names.length} hexagons (H3, resolution ${number})`;
  if (names.length > NAMES_MOST) {
    const first = names.slice(0, NAMES_MOST - 2);
    return `${first.join(", ")} and ${names.length - first.length} more`;
  }
  return [names.slice(0, -1).join(", "), names.at(-1)].filter(Boolean).join(" and ");
}

function asks({ mechanism, task }: TaskBundle): string {
  if (mechanism instanceof FrequencyOracle) {
    const when = TIMES[task.facts.when ?? ""] ?? "";
    const listed = areas(mechanism.zones.names, task.facts.zones!);
    return `${SUBJECTS[mechanism.name]}${when}; the areas are ${listed}`;
  }
  const { codebook } = (mechanism as Atlas).channel(task.facts.length!);
  if (task.facts.length === 1) {
    return `which of ${codebook.size} public places the first point of a journey is close to`;
  }
  return (
    `which of ${codebook.size} public journeys of ${task.facts.length} points your journey ` +
    "resembles, whatever its length"
  );
}

function notCovered({ task }: TaskBundle): string[] {
  const { sendWithin, timePrecision } = task.facts;
  const sent = sendWithin
    ? `at a random moment within ${span(sendWithin)}, unless you choose to send it now`
    : "at once";
  return [
    "that you take part, and your network address",
    `when you report: a report gives its time to within ${span(timePrecision)}, and is sent ${sent}`,
    "what all reports together show about people in general",
    "a shared or compromised device",
  ];
}

function seen({ task }: TaskBundle): string[] {
  const n = task.facts.minBatchSize;
  return [
    "the collector: the task and, for each report, a random id, its value, and its time to the " +
      "precision of the task",
    "the network, and the collector if no relay is used: your address, when you send, and that " +
      "you take part; without a relay, the collector also sees which reports came from your " +
      "address",
    `analysts: totals over at least ${n} report${n === 1 ? "" : "s"}; by subtracting totals, ` +
      "they may isolate single reports, and the guarantee holds for those, too",
    "only your device: your journey and its number of points",
  ];
}

/**
 * The largest posterior probability of a guess after one report, by its prior; in percent.
 *
 * By Bayes' theorem, with a likelihood ratio of at most e^epsilon.
 */
function posteriorBounds(odds: Fraction): Record<string, string> {
  const one = new Fraction(1);
  const bounds = [1, 10, 50].map((percent) => {
    const prior = new Fraction(percent, 100);
    const weighted = prior.times(odds);
    const posterior = weighted.over(weighted.plus(one).minus(prior));
    return [String(percent), rounded(posterior.times(HUNDRED), 1)] as const;
  });
  return Object.fromEntries(bounds);
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
  const at = new Date(unixS * 1000);
  if (!(at.getTime() < Date.UTC(10_000, 0, 1))) return "9999-12-31 or later";
  return at.toISOString().slice(0, 16).replace("T", " ");
}
