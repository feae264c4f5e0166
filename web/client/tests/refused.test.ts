/** What whoever wrote a task, a file or a value could try, and is refused. */

import { describe, expect, test } from "vitest";

import {
  isReportId,
  TaskBundle,
  type NomadpError,
  NotPrivateError,
  Report,
  SchemaError,
  SimulatedReport,
  Task,
  TaskRefused,
  uploadBytes,
} from "../src/index.js";
import { parseCanonical, parseObject } from "../src/protocol/canonical.js";
import { parseLocations } from "../src/protocol/files.js";
import { SeededRandom } from "../src/seeded.js";
import { casesOf, load } from "./known_answers.js";
import { reasonOf } from "./reasons.js";
import { refusal } from "./refusal.js";
import { contentOf, filesOf, bundleOf, worldText } from "./protocol_worlds.js";

const KINDS = ["refused_canonical", "refused_task", "refused_files", "refused_upload"];

test("there are no known refusals but these", () => {
  const cases = load("refused").cases;
  const asked = KINDS.flatMap((kind) => casesOf("refused", kind));
  expect(asked.length).toBe(cases.length);
  expect(asked.length).toBeGreaterThanOrEqual(235);
});

/** What was refused, and why. */
async function refusalOf(attempt: () => unknown): Promise<NomadpError> {
  try {
    await attempt();
  } catch (error) {
    return error as NomadpError;
  }
  throw new Error("this must be refused, and was not");
}

test.each(casesOf("refused", "refused_canonical"))("$title", async ({ ask, answer }) => {
  const refused = await refusalOf(() => parseCanonical(contentOf(ask), "it", 4096));
  expect([refused.kind, reasonOf(refused)]).toEqual(["schema", answer.refused]);
});

test("a name that stands twice is refused in what need not be canonical, too", () => {
  expect(() => parseObject(contentOf({ text: '{"a":1, "a":1}' }), "it", 100)).toThrow(
    refusal(SchemaError, "not_json_object"),
  );
});

test.each(casesOf("refused", "refused_task"))("$title", async ({ ask, answer }) => {
  const refused = await refusalOf(() => Task.fromBytes(contentOf(ask), ask.expected_id));
  expect([refused.kind, reasonOf(refused)]).toEqual(["task", answer.refused]);
});

test.each(casesOf("refused", "refused_files"))("$title", async ({ ask, answer }) => {
  const { task } = await bundleOf("refused", ask.world);
  const files = filesOf({ ...worldText("refused", ask.world).files, ...ask.files });
  const refused = await refusalOf(() => TaskBundle.fromFiles(task, files));
  expect(refused.kind).toBe("task");
  // A location outside of the set is seen here before hashes are compared.
  const isEarly = answer.refused === "file_hash" && refused.code === "codebook_invalid";
  if (!isEarly) expect(reasonOf(refused)).toBe(answer.refused);
});

const MEMBERS = { report_id: "string", time: "number", value: "string" } as const;

/** The reports of an upload as a collector reads them; null if it is none. */
function reportsOf(content: Uint8Array): any[] | null {
  let said: any;
  try {
    said = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(content));
  } catch {
    return null;
  }
  const named = said !== null && typeof said === "object" && !Array.isArray(said);
  if (!named || String(Object.keys(said)) !== "reports") return null;
  const reports = said.reports;
  if (!Array.isArray(reports) || reports.length < 1 || reports.length > 100) return null;
  return reports.every(isWritten) ? reports : null;
}

function isWritten(report: any): boolean {
  if (report === null || typeof report !== "object" || Array.isArray(report)) return false;
  const names = Object.keys(report).filter((name) => name !== "simulated");
  const kinds = Object.entries(MEMBERS).every(([name, kind]) => typeof report[name] === kind);
  return (
    String(names.sort()) === "report_id,time,value" &&
    kinds &&
    Number.isSafeInteger(report.time) &&
    isReportId(report.report_id)
  );
}

function failureOf({ task, code }: TaskBundle, report: any, { now, closed = false }: any) {
  const { start, end, retention } = task.facts;
  try {
    code.parse(report.value);
  } catch {
    return "invalid_message";
  }
  if ("simulated" in report) return "invalid_message";
  if (closed) return "report_dropped";
  if (report.time < start) return "task_not_started";
  if (report.time >= end) return "task_expired";
  if (report.time > now + 1) return "report_too_early";
  return now >= report.time + retention ? "report_replayed" : null;
}

test.each(casesOf("refused", "refused_upload"))("$title", async ({ ask, answer }) => {
  const bundle = await bundleOf("refused", ask.world);
  const reports = reportsOf(contentOf(ask));
  const failures = reports?.flatMap((each) => {
    const error = failureOf(bundle, each, ask);
    return error === null ? [] : [{ id: each.report_id, error }];
  });
  const problem = { status: 400, type: "urn:nomadp:error:invalid_message" };
  expect(failures === undefined ? problem : { status: 200, failures }).toEqual(answer);
});

test("more locations than a device takes are refused", () => {
  const rows = Array.from({ length: 65_537 }, (_, k) => `p${k},1,${k / 1000}\n`);
  const text = (some: string[]) => contentOf({ text: `location_id,lat,lng\n${some.join("")}` });
  expect(parseLocations(text(rows.slice(1))).size).toBe(65_536);
  expect(() => parseLocations(text(rows))).toThrow(
    refusal(TaskRefused, "too_many_locations", { limit: 65_536, locations: 65_537 }),
  );
});

describe("an upload", () => {
  const charge = { reportId: "AAECAwQFBgcICQoLDA0ODw", time: 20773 };

  test("is of one size for every trajectory", async () => {
    const bundle = await bundleOf("protocol", "trips as bits");
    const sizes = [[0], [1, 2, 3], [6, 5]].map(
      (trajectory) =>
        uploadBytes(bundle, Report.draw(bundle.mechanism, trajectory), charge).length,
    );
    expect(new Set(sizes).size).toBe(1);
  });

  test("is never of something simulated", async () => {
    const bundle = await bundleOf("protocol", "atlas");
    const words = await (await SeededRandom.ofSeed(1)).stream(0, 8);
    const simulated = refusal(NotPrivateError, "report_not_drawn");
    const preview: any = SimulatedReport.draw(bundle.mechanism, [0, 1, 2], words);
    for (const fake of [preview, { ...preview }, { mechanism: bundle.mechanism, number: 1 }]) {
      expect(() => uploadBytes(bundle, fake, charge)).toThrow(simulated);
    }
    expect(() => uploadBytes(bundle, Object.create(Report.prototype), charge)).toThrow(
      simulated,
    );
  });

  test("is never of another task's report", async () => {
    const [bundle, other] = await Promise.all(
      ["atlas", "trips"].map((name) => bundleOf("protocol", name)),
    );
    const report = Report.draw(other!.mechanism, [0, 1, 2]);
    expect(() => uploadBytes(bundle!, report, charge)).toThrow(
      refusal(NotPrivateError, "report_of_another_mechanism"),
    );
  });
});
