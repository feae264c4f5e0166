/** ATLAS and the questions draw, word for word, what Python's do. */

import { describe, expect, test } from "vitest";

import { asFraction } from "../src/budget.js";
import {
  Codebook,
  codebooksSha256,
  type Fraction,
  type LocationSet,
  type Mechanism,
  ORACLES,
  type OracleName,
  Atlas,
} from "../src/index.js";
import { casesOf, Given, gridZones, hashed, load, worldOf } from "./known_answers.js";
import { recording } from "./recording.js";

const GRIDS = { trips: "grid:4", starts: "grid:16", ends: "grid:16", visits: "grid:16" };

/** As Python writes JSON with sorted keys. */
function pythonJson(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const keys = Object.keys(value).sort();
  const fields = keys.map((k) => `"${k}": ${pythonJson((value as any)[k])}`);
  return `{${fields.join(", ")}}`;
}

async function answered(mechanism: Mechanism, ask: any, params: object): Promise<unknown> {
  const [words, steps] = [new Given(ask.words), [] as unknown[]];
  const choose = recording(words, steps);
  const { values } = mechanism.perturb(ask.trajectory, choose, ask.hour);
  expect(mechanism.wordCount(ask.trajectory.length)).toBe(ask.words.length);
  const { name, version, epsilon, locations } = mechanism;
  const identity = pythonJson({
    mechanism: name,
    version,
    params: { epsilon: String(epsilon), ...params },
    locations: await locations.sha256(),
  });
  const step = name === "atlas" ? "journey" : "label";
  const shares = [[step, 0, 1, String(epsilon)]];
  return { identity, shares, steps, words_left: words.left, report: values };
}

/** All books of a world for an epsilon, of the size that was asked for. */
function booksOf(world: string, epsilon: Fraction, size: number | null): Codebook[] {
  const here = casesOf("books", "book").filter(
    ({ ask }) =>
      ask.world === world &&
      ask.size === size &&
      asFraction(ask.epsilon)!.compare(epsilon) === 0,
  );
  const locations = worldOf("atlas-3", world);
  return here.map(({ answer }) => new Codebook(locations, answer.journeys, answer.near_count));
}

function pinnedBooks(locations: LocationSet, pages: any[]): Codebook[] {
  return pages.map((page) => new Codebook(locations, page.journeys, page.near_count));
}

test.each(casesOf("atlas-3", "report"))("$title", async ({ ask, answer }) => {
  const locations = worldOf("atlas-3", ask.world);
  const { size = null, near_count = null, control_points = null, pinned } = ask.options;
  const epsilon = asFraction(ask.epsilon)!;
  const books =
    pinned === undefined
      ? booksOf(ask.world, epsilon, size)
      : pinnedBooks(locations, pinned.pages);
  const mechanism = new Atlas({
    epsilon: ask.epsilon,
    locations,
    codebooks: books,
    ...(near_count !== null && { nearCount: near_count }),
    ...(control_points !== null && { controlPoints: control_points }),
  });
  const named = pinned && { pinned: await codebooksSha256(locations, epsilon, books) };
  const params = { control_points, near_count, size, ...named };
  expect(await answered(mechanism, ask, params)).toEqual(answer);
});

test("the books that are handed out are those of the recipe", () => {
  const known = casesOf("atlas-3", "atlas").flatMap(({ ask, answer }) => {
    const books = booksOf(ask.world, asFraction(ask.epsilon)!, ask.size);
    const book = books.find(({ length }) => length === ask.length);
    return book === undefined ? [] : [[book, answer]];
  });
  expect(known.length).toBe(2);
  for (const [book, answer] of known) {
    const trajectories = Array.from({ length: book.size }, (_, k) => book.codeword(k));
    expect(hashed(trajectories.map((trajectory) => trajectory.join(" ")))).toBe(answer.sha256);
    expect(book.nearCount).toBe(answer.near_count);
  }
});

describe.each(Object.keys(ORACLES) as OracleName[])("%s", (name) => {
  test.each(casesOf(`${name}-1`, "report"))("$title", async ({ ask, answer }) => {
    const { zones: rule = GRIDS[name], when } = ask.options;
    const zones = gridZones(worldOf(`${name}-1`, ask.world), rule);
    const mechanism = new ORACLES[name]({
      epsilon: ask.epsilon,
      zones,
      ...(when !== undefined && { when }),
    });
    const params = { when: when ?? null, zones: rule };
    expect(await answered(mechanism, ask, params)).toEqual(answer);
  });

  test("has no known answers but these", () => {
    expect(new Set(load(`${name}-1`).cases.map(({ kind }) => kind))).toEqual(
      new Set(["report"]),
    );
  });
});
