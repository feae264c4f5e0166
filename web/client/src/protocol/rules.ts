/** The rules that a device checks before it takes part in a task. */

import { asEpsilon } from "../budget.js";
import { hasBlanks, hasForbidden } from "../characters.js";
import { TaskRefused } from "../errors.js";
import { Fraction } from "../fraction.js";
import { ORACLES, type OracleName, WHEN, type When } from "../oracles.js";
import { isReportId } from "./base64url.js";
import { INTEGER_MAX, type Json, type JsonObject } from "./canonical.js";
import * as limits from "./ceilings.js";

/** The version of the protocol. */
export const WIRE_VERSION = 1;
export const ATLAS = "atlas";
/** The mechanism of a task. */
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

/** The parameters of a task, checked. */
export interface TaskFacts {
  /** The purpose in a sentence, for contributors. */
  readonly purpose: string;
  readonly mechanism: TaskMechanism;
  readonly version: number;
  /** The zones rule of a frequency oracle, such as grid:4. */
  readonly zones: string | null;
  /** The division of time in the labels of a frequency oracle. */
  readonly when: When | null;
  /** The epsilon of one report. */
  readonly epsilon: Fraction;
  /** The number of points of every report to ATLAS; null for a frequency oracle. */
  readonly length: number | null;
  /** The hash of the location set. */
  readonly locationsSha256: string;
  /** The hash of the codebook, or of the zones of a frequency oracle. */
  readonly domainSha256: string;
  /** The unit of all times, in seconds. Times are counted since 1970, and never more precise. */
  readonly timePrecision: number;
  /** The first time at which reports are accepted. */
  readonly start: number;
  /** The first time at which reports are no longer accepted. */
  readonly end: number;
  /** The largest random delay of a report, in seconds. */
  readonly sendWithin: number;
  /** The most reports of one person. */
  readonly reportsPerContributor: number;
  /** The smallest number of reports that are analysed together. */
  readonly minBatchSize: number;
  /** How long a report is kept, in units of `timePrecision`. */
  readonly retention: number;
  /** Whether counts are deleted with the reports; otherwise they can still be queried. */
  readonly deleteCounts: boolean;
  /** 22 characters that distinguish tasks whose other parameters are equal. */
  readonly salt: string;
}

/** The parameters of a task; throws if the object breaks a rule. */
export function checkedFacts(members: JsonObject): TaskFacts {
  const law = checkedMechanism(members);
  const isOracle = law.name !== ATLAS;
  const domain = isOracle ? "zones_sha256" : "atlas_sha256";
  checkTexts(members, domain);
  const numbers = Object.fromEntries(NUMBERS.map((name) => [name, members[name]!]));
  const length = isOracle ? null : within("length", members["length"]!, 1, limits.LENGTH_MAX);
  const params = checkedParams(law.params, isOracle, members[domain] as string);
  const epsilon = checkedBudget(members);
  checkTimes(numbers);
  return {
    purpose: members["purpose"] as string,
    mechanism: law.name,
    version: VERSIONS[law.name],
    ...params,
    epsilon,
    length,
    locationsSha256: members["locations_sha256"] as string,
    domainSha256: members[domain] as string,
    timePrecision: numbers["time_precision"] as number,
    start: numbers["start"] as number,
    end: numbers["end"] as number,
    sendWithin: numbers["send_within"] as number,
    reportsPerContributor: numbers["reports_per_contributor"] as number,
    minBatchSize: within("min_batch_size", members["min_batch_size"]!, 1, limits.BATCH_MAX),
    retention: numbers["retention"] as number,
    deleteCounts: "delete_counts" in members,
    salt: members["salt"] as string,
  };
}

function checkedMechanism(members: JsonObject): { name: TaskMechanism; params: Json } {
  const law = members["mechanism"];
  if (!isObject(law) || String(Object.keys(law).sort()) !== "name,params,version") {
    throw new TaskRefused(
      "mechanism must have the members name, version and params, and no others",
      { code: "mechanism_malformed" },
    );
  }
  const { name, params, version } = law;
  const isOracle = typeof name === "string" && Object.hasOwn(ORACLES, name);
  const required = [...TEXTS, ...NUMBERS, "wire_version", "mechanism"];
  required.push(...(isOracle ? ["zones_sha256"] : ["atlas_sha256", "length"]));
  const missing = required.filter((key) => !(key in members));
  const allowed = [...required, "delete_counts"];
  const unknown = Object.keys(members).filter((key) => !allowed.includes(key)).length;
  if (missing.length || unknown) {
    throw new TaskRefused(
      `a task must have the fields of its mechanism and no others, got ${unknown} unknown, and ` +
        `${missing.sort().join(", ") || "none"} missing`,
      { code: "fields_mismatch", file: "task", unknown, missing },
    );
  }
  if ("delete_counts" in members && members["delete_counts"] !== true) {
    throw new TaskRefused("delete_counts must be true or absent, but is not", {
      code: "delete_counts_not_true",
    });
  }
  if (members["wire_version"] !== WIRE_VERSION) {
    throw new TaskRefused(`wire_version must be ${WIRE_VERSION}, got another; update nomadp`, {
      code: "wire_version_unknown",
      known: WIRE_VERSION,
    });
  }
  if (!isOracle && name !== ATLAS) {
    throw new TaskRefused(
      `the mechanism of a task must be one of ${Object.keys(VERSIONS).join(", ")}, got another`,
      { code: "mechanism_not_for_tasks" },
    );
  }
  const mechanism = name as TaskMechanism;
  if (version !== VERSIONS[mechanism]) {
    throw new TaskRefused(
      `${mechanism} must have version ${VERSIONS[mechanism]}, got another; update nomadp`,
      { code: "mechanism_version_unknown", mechanism, known: VERSIONS[mechanism] },
    );
  }
  return { name: mechanism, params: params! };
}

function checkTexts(members: JsonObject, domain: string): void {
  for (const name of [...TEXTS, domain]) {
    if (typeof members[name] !== "string")
      throw new TaskRefused(`${name} must be a string, but is not`, {
        code: "field_not_text",
        field: name,
      });
  }
  const purpose = members["purpose"] as string;
  const characters = [...purpose].length;
  const isPadded = purpose.startsWith(" ") || purpose.endsWith(" ");
  const hidden = hasForbidden(purpose) || hasBlanks(purpose);
  if (characters < 1 || characters > limits.PURPOSE_MAX || hidden || isPadded) {
    throw new TaskRefused(
      `purpose must be a sentence of 1 to ${limits.PURPOSE_MAX} characters, without spaces at ` +
        "either end and without control, format or private-use characters, got " +
        `${characters} characters`,
      { code: "purpose_malformed", limit: limits.PURPOSE_MAX, size: characters },
    );
  }
  if (
    ![members["locations_sha256"], members[domain]].every((hash) => HASH.test(hash as string))
  ) {
    throw new TaskRefused("hashes must have 64 hexadecimal digits, but one does not", {
      code: "hash_malformed",
    });
  }
  if (!isReportId(members["salt"])) {
    throw new TaskRefused("salt must be 22 characters (16 bytes in base64url), but is not", {
      code: "salt_malformed",
    });
  }
}

function checkedParams(
  params: Json,
  isOracle: boolean,
  domainSha256: string,
): { zones: string | null; when: When | null } {
  const known = isOracle ? ["zones", "when"] : [];
  const fits =
    isObject(params) &&
    Object.keys(params).every((name) => known.includes(name)) &&
    Object.values(params).every((value) => typeof value === "string") &&
    "zones" in params === isOracle;
  if (!fits) {
    throw new TaskRefused(
      `params must be strings named ${known.join(" and ") || "nothing"}, but are not`,
      { code: "params_malformed" },
    );
  }
  if (!isOracle) return { zones: null, when: null };
  const { zones, when = null } = params as { zones: string; when?: string };
  const isPolygons = zones.startsWith("polygons:");
  if (!RULE.test(zones) || (isPolygons && zones !== `polygons:${domainSha256}`)) {
    throw new TaskRefused(
      "zones must be grid:N, h3:R, or polygons: and the hash of the zones, but are not",
      { code: "zones_rule_malformed" },
    );
  }
  if (when !== null && !Object.hasOwn(WHEN, when)) {
    throw new TaskRefused(
      `when must be ${Object.keys(WHEN).join(" or ")}, or absent, but is not`,
      {
        code: "when_unknown",
      },
    );
  }
  return { zones, when: when as When | null };
}

function checkedBudget(members: JsonObject): Fraction {
  const epsilon = asEpsilon(members["epsilon"] as string);
  if (String(epsilon) !== members["epsilon"]) {
    throw new TaskRefused(`epsilon must be written as ${epsilon}, but is not`, {
      code: "epsilon_not_canonical",
    });
  }
  if (epsilon.compare(new Fraction(limits.EPSILON_REPORT_MAX)) > 0) {
    throw new TaskRefused(
      `the epsilon of a report must be above 0 and at most ${limits.EPSILON_REPORT_MAX}, got ` +
        String(epsilon),
      { code: "report_epsilon_out_of_range", limit: limits.EPSILON_REPORT_MAX },
    );
  }
  const reports = within(
    "reports_per_contributor",
    members["reports_per_contributor"]!,
    1,
    limits.REPORTS_MAX,
  );
  const total = epsilon.times(new Fraction(reports));
  if (total.compare(new Fraction(limits.EPSILON_LIFETIME_MAX)) > 0) {
    throw new TaskRefused(
      `one person must use at most epsilon ${limits.EPSILON_LIFETIME_MAX} in a task, got ${reports} ` +
        `reports of ${epsilon}`,
      { code: "task_epsilon_too_large", limit: limits.EPSILON_LIFETIME_MAX },
    );
  }
  return epsilon;
}

function checkTimes(members: Record<string, Json>): void {
  const [low, high] = [limits.PRECISION_MIN_S, limits.PRECISION_MAX_S];
  const unitS = within("time_precision", members["time_precision"]!, low, high);
  const [start, end, retention] = ["start", "end", "retention"].map((name) =>
    within(name, members[name]!, 0, Math.floor(INTEGER_MAX / high)),
  ) as [number, number, number];
  const delay = within("send_within", members["send_within"]!, 0, limits.SEND_WITHIN_MAX_S);
  const duration = end - start;
  if (duration < 1 || duration * unitS > limits.TASK_MAX_S) {
    throw new TaskRefused(
      `a task must end after it starts and last at most two years, got a start of ${start} and ` +
        `an end of ${end} in units of ${unitS} s`,
      { code: "task_period_invalid", startS: start * unitS, endS: end * unitS },
    );
  }
  const isTooLong = retention * unitS > limits.RETENTION_MAX_S;
  if (isTooLong || duration > retention) {
    throw new TaskRefused(
      isTooLong
        ? "retention must be at most five years, but is longer"
        : `retention must be at least as long as the task, got ${retention} for a task of ` +
            `${duration}; lengthen retention or end sooner`,
      {
        code: isTooLong ? "retention_too_long" : "retention_shorter_than_task",
        retentionS: retention * unitS,
      },
    );
  }
  if (delay > (retention - 1) * unitS) {
    throw new TaskRefused(
      `send_within must be at least one unit of time shorter than retention, got ${delay} s and ` +
        `${retention} units of ${unitS} s; lengthen retention by one or send sooner`,
      {
        code: "retention_shorter_than_delay",
        retentionS: retention * unitS,
        sendWithin: delay,
      },
    );
  }
}

function within(name: string, value: Json, low: number, high: number): number {
  if (!Number.isSafeInteger(value) || (value as number) < low || (value as number) > high) {
    throw new TaskRefused(
      `${name} must be an integer from ${low} to ${high}, got ${String(value).slice(0, 40)}`,
      { code: "task_field_out_of_range", field: name },
    );
  }
  return value as number;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && !Array.isArray(value);
}
