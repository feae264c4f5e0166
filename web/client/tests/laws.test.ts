/** The laws give the answers that Python's gave when they were made. */

import { describe, expect, test } from "vitest";

import { asFraction } from "../src/budget.js";
import { checkWords } from "../src/laws/law.js";
import {
  BudgetError,
  Channel,
  expLower,
  Fraction,
  heaviest,
  type LabelLaw,
  largestUnit,
  labelLaw,
  type LocationSet,
  ProjectiveResponse,
  RandomizedResponse,
  Subset,
  SubsetSelection,
  Uniform,
} from "../src/index.js";
import { casesOf, load, readable, row, worldOf } from "./known_answers.js";
import { refusal } from "./refusal.js";
import { stated } from "./stated.js";

const exact = (text: string): Fraction => asFraction(text)!;
const words = (given: readonly string[]) => given.map((word) => BigInt(`0x${word}`));

/** What only a desk needs: the client states no law of theirs. */
const NOT_HERE = new Set(["SquareWave", "Exponential", "TableExponential", "Staircase"]);

function channelOf({ name, share, size, near_count }: any, world: LocationSet | null): any {
  if (name === "RandomizedResponse") return new RandomizedResponse(size, exact(share));
  if (name === "Uniform") return new Uniform(size);
  const to = (secret: number) =>
    Float64Array.from({ length: world!.size }, (_, k) => world!.distanceKm(secret, k));
  return new Subset<number>(world!.size, near_count, exact(share), to);
}

function labelLawOf({ name, size, count, order, dimensions, share }: any): LabelLaw {
  return name === "SubsetSelection"
    ? new SubsetSelection(size, count, exact(share))
    : new ProjectiveResponse(size, order, dimensions, exact(share));
}

describe("laws by weights", () => {
  const every = casesOf("laws", "law");
  const ours = every.filter(({ ask }) => !NOT_HERE.has(ask.name));

  test("are all known here but for those that no device draws from", () => {
    expect(new Set(ours.map(({ ask }) => ask.name))).toEqual(
      new Set(["RandomizedResponse", "Subset", "Uniform"]),
    );
    expect([ours.length, every.length]).toEqual([27, 72]);
  });

  test.each(ours)("$title", ({ ask, answer }) => {
    const world = ask.world === undefined ? null : worldOf("laws", ask.world);
    const channel: Channel<any> & { bound: Fraction } = channelOf(ask, world);
    const rows = ask.secrets.map((secret: number | null) => ({
      weights: row(channel.weights(secret)),
      draws: words(ask.words).map((word) => channel.draw(secret, () => word)),
    }));
    expect({ outputs: channel.size, bound: String(channel.bound), rows }).toEqual(answer);
  });
});

test.each(casesOf("laws", "heaviest_weights"))("$title", ({ ask, answer }) => {
  const shares: Fraction[] = ask.shares.map(exact);
  expect(shares.map((share) => String(expLower(share)))).toEqual(answer.exp_lower);
  const weights = (unit: number) => shares.map((x) => readable(heaviest(BigInt(unit), x)));
  expect(ask.units.map(weights)).toEqual(answer.heaviest);
  const units = (size: number) => shares.map((x) => Number(largestUnit(size, x)));
  expect(ask.sizes.map(units)).toEqual(answer.largest_unit);
});

test.each(casesOf("labels", "label_laws"))("$title", ({ ask, answer }) => {
  const chosen = ask.sizes.map((size: number) =>
    ask.shares.map((share: string) => stated(labelLaw(size, exact(share)))),
  );
  expect(chosen).toEqual(answer);
});

test.each(casesOf("labels", "label_law"))("$title", ({ ask, answer }) => {
  const law = labelLawOf(ask);
  const draws = ask.secrets.map((secret: number) =>
    ask.words.map((given: string[]) => {
      const left = words(given);
      const drawn = law.draw(secret, () => left.shift()!);
      expect(law.possible(drawn)).toBe(true);
      expect(given.length - left.length).toBe(law.wordCount);
      return drawn;
    }),
  );
  const chances = { true_chance: `${law.trueChance}`, other_chance: `${law.otherChance}` };
  expect({ ...stated(law), ...chances, draws }).toEqual(answer);
});

test.each(casesOf("labels", "supports"))("$title", ({ ask, answer }) => {
  const law = new ProjectiveResponse(ask.size, ask.order, ask.dimensions, exact("1"));
  const found = Array.from({ length: ask.size }, (_, label) =>
    ask.points.reduce(
      (sum: number, point: number, k: number) =>
        sum + (law.supports([point], label) ? ask.counts[k] : 0),
      0,
    ),
  );
  expect(row(found)).toEqual(answer);
});

test("the first word says whether the truth is supported, to the last of 2^64", () => {
  const law = new SubsetSelection(5, 2, exact("1"));
  const first = law.trueChance.times(new Fraction(2n ** 64n)).ceil();
  const holds = (word: bigint) => {
    const left = [word, 2n ** 63n, 2n ** 62n];
    return law.supports(
      law.draw(3, () => left.shift()!),
      3,
    );
  };
  expect([first - 1n, first].map(holds)).toEqual([true, false]);
});

test.each([
  ["-1/2", -1n, 0n],
  ["-2", -2n, -2n],
  ["7/3", 2n, 3n],
  ["0", 0n, 0n],
])("%s is between %s and %s", (text, floor, ceil) => {
  expect([exact(text).floor(), exact(text).ceil()]).toEqual([floor, ceil]);
});

test("no kind of known answer about labels is left out", () => {
  const kinds = new Set(load("labels").cases.map(({ kind }) => kind));
  expect(kinds).toEqual(new Set(["label_laws", "label_law", "supports"]));
});

test.each([24n, 28n])("a share of 2^-%s tells nothing and has no variance", (power) => {
  const share = new Fraction(1n, 2n ** power);
  const small = refusal(BudgetError, "share_too_small", { share: share.toNumber() });
  for (const size of [2, 12]) {
    expect(() => labelLaw(size, share).variance).toThrow(small);
  }
  expect(() => labelLaw(100_000, share)).toThrow(small);
  expect(labelLaw(1, share).variance.compare(new Fraction(0))).toBe(0);
});

test.each([2, 12, 100_000])("a share of 2^-23 tells something of %i labels", (size) => {
  const { variance } = labelLaw(size, new Fraction(1n, 2n ** 23n));
  expect(variance.compare(new Fraction(0))).toBe(1);
});

describe("weights that 64-bit words keep apart", () => {
  const room = 2n ** 33n;
  const imprecise = refusal(BudgetError, "word_precision_exceeded");

  test("are at most 2^33 times the lightest together", () => {
    for (const lightest of [1n, 3n, 2n ** 24n]) {
      expect(() => checkWords(lightest, lightest * room)).not.toThrow();
      expect(() => checkWords(lightest, lightest * room + 1n)).toThrow(imprecise);
    }
  });

  test("are below 2^63 together", () => {
    expect(() => checkWords(2n ** 40n, 2n ** 63n - 1n)).not.toThrow();
    expect(() => checkWords(2n ** 40n, 2n ** 63n)).toThrow(imprecise);
  });
});
