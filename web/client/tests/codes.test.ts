/** Every refusal has a class and a code, as in Python, and facts that hold nothing private. */

import { readdirSync, readFileSync } from "node:fs";

import { expect, test } from "vitest";

import * as client from "../src/index.js";
import { DomainError, NomadpError, TaskRefused, UploadFailed } from "../src/index.js";
import { ImportRefused } from "../src/imports/index.js";
import { asTaskRefused } from "../src/protocol/task.js";

const SOURCE = new URL("../src/", import.meta.url);
const CLASSES = Object.values(client).filter(
  (each): each is typeof NomadpError => typeof each === "function" && "kind" in each,
);
/** A call that makes an error: Prettier ends the last line of every one with `);`. */
const MADE = /new (\w*Error|\w+(?:Refused|Unavailable|Failed|Argument)|OutOfRange)\(.*?\);$/gms;

test("a refusal has the code that it was made with, and its facts", () => {
  const cause = new Error("why");
  const refused = new DomainError("three", { code: "unknown_locations", unknown: 3, cause });
  expect(refused).toMatchObject({
    name: "DomainError",
    kind: "domain",
    message: "three",
    cause,
  });
  expect([refused.code, refused.facts]).toEqual(["unknown_locations", { unknown: 3 }]);
  expect(refused).toBeInstanceOf(NomadpError);
});

test("a refusal without a code has that of its class", () => {
  const refused = new DomainError("something does not fit");
  expect([refused.code, refused.facts]).toEqual(["domain", {}]);
  expect(new UploadFailed("not reached").status).toBe(0);
});

test("a refusal of a task's file keeps its code and its facts", () => {
  const refused = new DomainError("three", { code: "location_ids_repeated", repeated: 3 });
  const task = asTaskRefused(refused) as TaskRefused;
  expect([task.name, task.kind, task.code]).toEqual([
    "TaskRefused",
    "task",
    "location_ids_repeated",
  ]);
  expect(task.facts).toEqual({ repeated: 3 });
});

test("every class has a code of its own, in Python's form", () => {
  const kinds = CLASSES.map(({ kind }) => kind);
  expect(new Set(kinds).size).toBe(CLASSES.length);
  expect(kinds.length).toBe(12);
  expect(kinds.filter((kind) => !/^[a-z]+(_[a-z]+)*$/.test(kind))).toEqual([]);
  expect(new ImportRefused("not-json")).toMatchObject({ kind: "schema", code: "not_json" });
});

test("every error of the client is made with a code", () => {
  const without: string[] = [];
  let made = 0;
  for (const name of readdirSync(SOURCE, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".ts") || name === "errors.ts") continue;
    for (const [call, kind] of String(readFileSync(new URL(name, SOURCE))).matchAll(MADE)) {
      made += 1;
      if (kind !== "ImportRefused" && !/\bcode\b/.test(call)) without.push(`${name}: ${call}`);
    }
  }
  expect(without).toEqual([]);
  expect(made).toBeGreaterThan(120);
});
