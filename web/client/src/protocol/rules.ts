/** Every line that a task must keep to: what a device checks before it takes part. */

import { asEpsilon } from "../budget.js";
import { hasBlanks, hasForbidden } from "../characters.js";
import { TaskRefused } from "../errors.js";
import { Fraction } from "../fraction.js";
import { ORACLES, type OracleName, WHEN, type When } from "../oracles.js";
import { isReportId } from "./base64url.js";
import { INTEGER_MAX, type Json, type JsonObject } from "./canonical.js";
import * as most from "./ceilings.js";

export const WIRE_VERSION = 1;
export const ATLAS = "atlas";
export type TaskMechanism = typeof ATLAS | OracleName;
const VERSIONS: Record<TaskMechanism, number> = {
  atlas: 3,
  trips: 1,
  starts: 1,
  ends: 1,
  visits: 1,
};
const TEXTS = ["purpose", "epsilon", "locations_sha256", "salt"];
const NUMBERS = [
  "time_precision",
  "start",
  "end",
  "send_within",
  "reports_per_contributor",
  "min_batch_size",
  "retention",
];
const HASH = /^[0-9a-f]{64}$/;
const RULE = /^(?:(?:grid|h3):(?:0|[1-9][0-9]{0,3})|polygons:[0-9a-f]{64})$/;

/** All that a task says, checked. */
export interface TaskFacts {
  /** A sentence that a contributor reads. */
  readonly purpose: string;
  readonly mechanism: TaskMechanism;
  readonly version: number;
  /** The zones rule of a frequency oracle, and the part of the time it includes. */
  readonly zones: string | null;
  readonly when: When | null;
  /** Of one report. */
  readonly epsilon: Fraction;
  /** Of every trajectory reported to ATLAS; a frequency oracle has none. */
  readonly length: number | null;
  readonly locationsSha256: string;
  /** Of the codebook, or of the zones of a frequency oracle. */
  readonly domainSha256: string;
  /** Seconds: times are counted in these, since 1970, and never told finer. */
  readonly timePrecision: number;
  readonly start: number;
  readonly end: number;
  /** The longest random delay of a report, in seconds. */
  readonly sendWithin: number;
  readonly reportsPerContributor: number;
  readonly minBatchSize: number;
  readonly retention: number;
  /** Whether the counts of reports go with them; else they stay to be asked. */
  readonly deleteCounts: boolean;
  readonly salt: string;
}

/** What an object says that may be a task; refused if it may not. */
export function checkedFacts(said: JsonObject): TaskFacts {
  const law = checkedMechanism(said);
  const asks = law.name !== ATLAS;
  const book = asks ? "zones_sha256" : "atlas_sha256";
  checkTexts(said, book);
  const numbers = Object.fromEntries(NUMBERS.map((name) => [name, said[name]!]));
  const length = asks ? null : within("length", said["length"]!, 1, most.LENGTH_MAX);
  const params = checkedParams(law.params, asks, said[book] as string);
  const epsilon = checkedBudget(said);
  checkTimes(numbers);
  return {
    purpose: said["purpose"] as string,
    mechanism: law.name,
    version: VERSIONS[law.name],
    ...params,
    epsilon,
    length,
    locationsSha256: said["locations_sha256"] as string,
    domainSha256: said[book] as string,
    timePrecision: numbers["time_precision"] as number,
    start: numbers["start"] as number,
    end: numbers["end"] as number,
    sendWithin: numbers["send_within"] as number,
    reportsPerContributor: numbers["reports_per_contributor"] as number,
    minBatchSize: within("min_batch_size", said["min_batch_size"]!, 1, most.BATCH_MAX),
    retention: numbers["retention"] as number,
    deleteCounts: "delete_counts" in said,
    salt: said["salt"] as string,
  };
}

function checkedMechanism(said: JsonObject): { name: TaskMechanism; params: Json } {
  const law = said["mechanism"];
  if (!isObject(law) || String(Object.keys(law).sort()) !== "name,params,version") {
    throw new TaskRefused(
      "mechanism must have a name, a version and params, and nothing else",
      { code: "mechanism_malformed" },
    );
  }
  const { name, params, version } = law;
  const asks = typeof name === "string" && Object.hasOwn(ORACLES, name);
  const known = [...TEXTS, ...NUMBERS, "wire_version", "mechanism"];
  known.push(...(asks ? ["zones_sha256"] : ["atlas_sha256", "length"]));
  const missing = known.filter((each) => !(each in said));
  const may = [...known, "delete_counts"];
  const strange = Object.keys(said).filter((each) => !may.includes(each)).length;
  if (missing.length || strange) {
    throw new TaskRefused(
      `a task must have the fields of its kind and no others, got ${strange} unknown and ` +
        `without ${missing.sort().join(", ") || "none"}`,
      { code: "fields_mismatch", file: "task", unknown: strange, missing },
    );
  }
  if ("delete_counts" in said && said["delete_counts"] !== true) {
    throw new TaskRefused("delete_counts must be true, or left out, and is not", {
      code: "delete_counts_not_true",
    });
  }
  if (said["wire_version"] !== WIRE_VERSION) {
    throw new TaskRefused(`wire_version must be ${WIRE_VERSION}, got another; update nomadp`, {
      code: "wire_version_unknown",
      known: WIRE_VERSION,
    });
  }
  if (!asks && name !== ATLAS) {
    throw new TaskRefused(
      `the mechanism of a task must be one of ${Object.keys(VERSIONS).join(", ")}, whose ` +
        "reports are of one size, got another",
      { code: "mechanism_not_for_tasks" },
    );
  }
  const found = name as TaskMechanism;
  if (version !== VERSIONS[found]) {
    throw new TaskRefused(
      `${found} must be of version ${VERSIONS[found]}, the one known here, got another; ` +
        "update nomadp",
      { code: "mechanism_version_unknown", mechanism: found, known: VERSIONS[found] },
    );
  }
  return { name: found, params: params! };
}

function checkTexts(said: JsonObject, book: string): void {
  for (const name of [...TEXTS, book]) {
    if (typeof said[name] !== "string")
      throw new TaskRefused(`${name} must be text, and is not`, {
        code: "field_not_text",
        field: name,
      });
  }
  const purpose = said["purpose"] as string;
  const characters = [...purpose].length;
  const edged = purpose.startsWith(" ") || purpose.endsWith(" ");
  const hidden = hasForbidden(purpose) || hasBlanks(purpose);
  if (characters < 1 || characters > most.PURPOSE_MAX || hidden || edged) {
    throw new TaskRefused(
      `purpose must be a sentence of up to ${most.PURPOSE_MAX} printable characters that ` +
        `neither begins nor ends with a blank, got ${characters}`,
      { code: "purpose_malformed", limit: most.PURPOSE_MAX, size: characters },
    );
  }
  if (![said["locations_sha256"], said[book]].every((hash) => HASH.test(hash as string))) {
    throw new TaskRefused("hashes must have 64 hexadecimal digits, and one has not", {
      code: "hash_malformed",
    });
  }
  if (!isReportId(said["salt"])) {
    throw new TaskRefused("salt must be 22 characters that stand for 16 bytes, and is not", {
      code: "salt_malformed",
    });
  }
}

function checkedParams(
  params: Json,
  asks: boolean,
  domainSha256: string,
): { zones: string | null; when: When | null } {
  const known = asks ? ["zones", "when"] : [];
  const fits =
    isObject(params) &&
    Object.keys(params).every((name) => known.includes(name)) &&
    Object.values(params).every((value) => typeof value === "string") &&
    "zones" in params === asks;
  if (!fits) {
    throw new TaskRefused(
      `params must be texts named ${known.join(" and ") || "nothing"}, and are not`,
      { code: "params_malformed" },
    );
  }
  if (!asks) return { zones: null, when: null };
  const { zones, when = null } = params as { zones: string; when?: string };
  const polygons = zones.startsWith("polygons:");
  if (!RULE.test(zones) || (polygons && zones !== `polygons:${domainSha256}`)) {
    throw new TaskRefused(
      "zones must be grid:N, h3:R, or polygons: and the hash of the zones, and are not",
      { code: "zones_rule_malformed" },
    );
  }
  if (when !== null && !Object.hasOwn(WHEN, when)) {
    throw new TaskRefused(`when must be ${Object.keys(WHEN).join(" or ")}, or left out`, {
      code: "when_unknown",
    });
  }
  return { zones, when: when as When | null };
}

function checkedBudget(said: JsonObject): Fraction {
  const epsilon = asEpsilon(said["epsilon"] as string);
  if (String(epsilon) !== said["epsilon"]) {
    throw new TaskRefused(`epsilon must be written as ${epsilon}, and is written otherwise`, {
      code: "epsilon_not_canonical",
    });
  }
  if (epsilon.compare(new Fraction(most.EPSILON_REPORT_MAX)) > 0) {
    throw new TaskRefused(
      `epsilon of a report must be above 0 and at most ${most.EPSILON_REPORT_MAX}, got ${epsilon}`,
      { code: "report_epsilon_out_of_range", limit: most.EPSILON_REPORT_MAX },
    );
  }
  const reports = within(
    "reports_per_contributor",
    said["reports_per_contributor"]!,
    1,
    most.REPORTS_MAX,
  );
  const all = epsilon.times(new Fraction(reports));
  if (all.compare(new Fraction(most.EPSILON_LIFETIME_MAX)) > 0) {
    throw new TaskRefused(
      `one person must use at most ${most.EPSILON_LIFETIME_MAX} in a task, got ${reports} ` +
        `reports of ${epsilon}`,
      { code: "task_epsilon_too_large", limit: most.EPSILON_LIFETIME_MAX },
    );
  }
  return epsilon;
}

function checkTimes(said: Record<string, Json>): void {
  const [low, high] = [most.PRECISION_MIN_S, most.PRECISION_MAX_S];
  const second = within("time_precision", said["time_precision"]!, low, high);
  const [start, end, retention] = ["start", "end", "retention"].map((name) =>
    within(name, said[name]!, 0, Math.floor(INTEGER_MAX / high)),
  ) as [number, number, number];
  const delay = within("send_within", said["send_within"]!, 0, most.SEND_WITHIN_MAX_S);
  const lasts = end - start;
  if (lasts < 1 || lasts * second > most.TASK_MAX_S) {
    throw new TaskRefused(
      `a task must end after it starts, and within two years, got a start of ${start} and an ` +
        `end of ${end} in units of ${second} s`,
      { code: "task_period_invalid", startS: start * second, endS: end * second },
    );
  }
  const isLong = retention * second > most.RETENTION_MAX_S;
  if (isLong || lasts > retention) {
    throw new TaskRefused(
      "reports must be kept until the task ends, and for at most five years, got a retention " +
        `of ${retention} and ${lasts} from start to end`,
      {
        code: isLong ? "retention_too_long" : "retention_shorter_than_task",
        retentionS: retention * second,
      },
    );
  }
  if (delay > (retention - 1) * second) {
    throw new TaskRefused(
      `reports must be sent while they are still kept, got send_within of ${delay} s and a ` +
        `retention of ${retention} times ${second} s`,
      {
        code: "retention_shorter_than_delay",
        retentionS: retention * second,
        sendWithin: delay,
      },
    );
  }
}

function within(name: string, value: Json, low: number, high: number): number {
  if (!Number.isSafeInteger(value) || (value as number) < low || (value as number) > high) {
    throw new TaskRefused(
      `${name} must be a whole number from ${low} to ${high}, got ${String(value).slice(0, 40)}`,
      { code: "task_field_out_of_range", field: name },
    );
  }
  return value as number;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && !Array.isArray(value);
}
