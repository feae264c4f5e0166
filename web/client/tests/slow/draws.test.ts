/** A million draws with the system's words follow their law (chi-square, alpha 1e-6). */

import { expect, test } from "vitest";

import {
  asEpsilon,
  Codebook,
  Channel,
  LabelLaw,
  type Law,
  ProjectiveResponse,
  Report,
  SubsetSelection,
  SystemRandom,
  Visits,
  Atlas,
} from "../../src/index.js";
import { casesOf, gridZones, worldOf } from "../known_answers.js";

const DRAWS = 1_000_000;
/** What chi-square exceeds once in a million times, by degrees of freedom (scipy's chi2.isf). */
const LIMIT: Record<number, number> = { 7: 40.522, 12: 50.825, 14: 54.635 };

const town = worldOf("atlas-3", "town");

/** How far counts are from a law with these weights. */
function chiSquare(counts: ReadonlyMap<string, number>, weights: ReadonlyMap<string, number>) {
  const total = [...weights.values()].reduce((a, b) => a + b);
  let sum = 0;
  for (const [output, weight] of weights) {
    const expected = (DRAWS * weight) / total;
    sum += ((counts.get(output) ?? 0) - expected) ** 2 / expected;
  }
  const strangers = [...counts.keys()].filter((output) => !weights.has(output));
  expect(strangers).toEqual([]);
  return sum;
}

function counted(draw: () => unknown): Map<string, number> {
  const counts = new Map<string, number>();
  for (let k = 0; k < DRAWS; k += 1) {
    const output = String(draw());
    counts.set(output, (counts.get(output) ?? 0) + 1);
  }
  return counts;
}

function drawn<Secret>(law: Law<Secret, unknown>, secret: Secret): Map<string, number> {
  const words = new SystemRandom();
  return counted(() => law.draw(secret, () => words.next()));
}

function weightsOf(law: LabelLaw, outputs: number[][], secret: number): Map<string, number> {
  const weight = (output: number[]) => (law.supports(output, secret) ? law.heavy : law.light);
  return new Map(outputs.map((output) => [String(output), Number(weight(output))]));
}

function sets(size: number, count: number): number[][] {
  if (count === 0) return [[]];
  return sets(size, count - 1).flatMap((some) => {
    const next = (some.at(-1) ?? -1) + 1;
    return Array.from({ length: size - next }, (_, k) => [...some, next + k]);
  });
}

function fits(counts: Map<string, number>, weights: Map<string, number>): void {
  expect(chiSquare(counts, weights)).toBeLessThan(LIMIT[weights.size - 1]!);
}

test.each([
  ["1", 0],
  ["1", 3],
  ["4", 5],
])("subset selection at epsilon %s of label %s", (epsilon, secret) => {
  const law = new SubsetSelection(6, 2, asEpsilon(epsilon));
  fits(drawn(law, secret), weightsOf(law, sets(6, 2), secret));
});

test.each([
  ["1", 0],
  ["4", 8],
])("projective response at epsilon %s of label %s", (epsilon, secret) => {
  const law = new ProjectiveResponse(9, 3, 3, asEpsilon(epsilon));
  const points = Array.from({ length: 13 }, (_, k) => [k]);
  fits(drawn(law, secret), weightsOf(law, points, secret));
});

/** The book of eight trajectories of three points. */
function whole(): Atlas {
  const { answer } = casesOf("books", "book").find(({ ask }) => ask.length === 3)!;
  const book = new Codebook(town, answer.journeys, answer.near_count);
  return new Atlas({ epsilon: 4, locations: town, codebooks: [book] });
}

test("ATLAS' response", () => {
  const law: Channel<ArrayLike<number>> = whole().channel(3);
  const weights = law
    .weights([2, 3, 6])
    .map((weight, k) => [String(k), Number(weight)] as const);
  fits(drawn(law, [2, 3, 6]), new Map(weights));
});

test("whole reports of ATLAS", () => {
  const mechanism = whole();
  const weights = mechanism.channel(3).weights([5, 1, 4]);
  const known = new Map(weights.map((weight, k) => [String(k), Number(weight)]));
  fits(
    counted(() => Report.draw(mechanism, [5, 1, 4]).number),
    known,
  );
});

test("whole reports of visits, of a point that is drawn, too", () => {
  const mechanism = new Visits({ epsilon: 1, zones: gridZones(town, "grid:16") });
  const law = mechanism.channel;
  expect([law.size, law.entries]).toEqual([6, 2]);
  const trajectory = [0, 4, 4];
  const each = trajectory.map((place) => weightsOf(law, sets(6, 2), mechanism.zones.of(place)));
  const mixed = [...each[0]!.keys()].map(
    (output) => [output, each.reduce((sum, one) => sum + one.get(output)!, 0)] as const,
  );
  fits(
    counted(() => Report.draw(mechanism, trajectory).values),
    new Map(mixed),
  );
});
