/** What cannot be private, or is not public data as it must be, is refused; nothing is shown. */

import { describe, expect, test } from "vitest";

import {
  asEpsilon,
  Book,
  BudgetError,
  DomainError,
  drawing,
  type Journey,
  LocationSet,
  NomadpError,
  ProjectiveResponse,
  RandomizedResponse,
  Subset,
  SubsetSelection,
  Trips,
  Visits,
  WholeJourney,
  Zones,
} from "../src/index.js";
import { gridZones, worldOf } from "./known_answers.js";

const town = worldOf("trips-1", "town");
const zones = gridZones(town, "grid:2");
const zero = drawing(() => 0n);
const book = new Book(
  town,
  [
    [0, 1],
    [2, 3],
    [4, 5],
  ],
  1,
);
const atlas = new WholeJourney({ epsilon: 2, locations: town, books: [book] });

/** The message of a refusal. */
function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error("this must be refused, and was not");
}

describe("epsilon", () => {
  test.each([
    ["0.1", "1/10"],
    [" 1/3 ", "1/3"],
    ["2e1", "20"],
    [".5", "1/2"],
    ["+4.", "4"],
    [0.1, "1/10"],
    [4, "4"],
    [1e-7, "1/10000000"],
  ])("%j means %s", (value, exact) => {
    expect(String(asEpsilon(value))).toBe(exact);
  });

  test.each([
    "",
    "0",
    "-1",
    "21",
    "20.0000001",
    "1_0",
    "١",
    "1/0",
    "nan",
    "1 2",
    "1e-31",
    "e1",
  ])("%j is refused", (value) => {
    expect(() => asEpsilon(value)).toThrow(BudgetError);
  });

  test.each([0, NaN, Infinity, -1, null, undefined, true, {}, 4n])("%s is refused", (value) => {
    expect(() => asEpsilon(value as number)).toThrow(BudgetError);
  });

  test("is at least a millionth of a whole journey's", () => {
    expect(() => new Trips({ epsilon: "1/10000000", zones })).toThrow(BudgetError);
  });
});

describe("laws", () => {
  const one = asEpsilon(1);

  test("refuse a share below what they give away", () => {
    const tiny = asEpsilon("0.000000001");
    expect(() => new RandomizedResponse(2, tiny)).toThrow(BudgetError);
    expect(() => new SubsetSelection(5, 2, tiny)).toThrow(BudgetError);
  });

  test("refuse what 64-bit words cannot keep", () => {
    expect(() => new RandomizedResponse(10, asEpsilon(20))).not.toThrow();
    expect(() => new RandomizedResponse(2 ** 31, asEpsilon(20))).toThrow(BudgetError);
    const far = () => new Float64Array(2 ** 20);
    expect(() => new Subset(2 ** 20, 2 ** 19, asEpsilon(15), far)).toThrow(BudgetError);
    expect(() => new SubsetSelection(2 ** 17, 2 ** 16, one)).toThrow(BudgetError);
    expect(() => new ProjectiveResponse(7, 2, 32, one)).toThrow(BudgetError);
    // A level must own 2^32 words.
    expect(() => new SubsetSelection(9, 8, asEpsilon(20))).not.toThrow();
    expect(() => new SubsetSelection(10, 9, asEpsilon(20))).toThrow(BudgetError);
  });

  test.each([
    [0, 1],
    [2, 2],
    [5, 0],
    [5, 1.5],
    [2 ** 24 + 1, 1],
  ])("refuse sets of %s labels, %s at a time", (size, count) => {
    expect(() => new SubsetSelection(size, count, one)).toThrow();
  });

  test.each([
    [7, 4, 3],
    [7, 2, 3],
    [7, 7, 1],
  ])("refuse a space for %s labels of order %s and %s coordinates", (size, order, t) => {
    expect(() => new ProjectiveResponse(size, order, t, one)).toThrow(RangeError);
  });

  test.each([[[0, 1, 2]], [[1, 0]], [[0, 0]], [[-1, 0]], [[0, 5]], [[0.5, 1]], [[]]])(
    "say that %j is no report of two of five",
    (report) => {
      expect(new SubsetSelection(5, 2, one).possible(report)).toBe(false);
    },
  );

  test.each([[[-1]], [[57]], [[1, 2]], [[]], [[1.5]]])(
    "say that %j is no point of a plane of order seven",
    (report) => {
      expect(new ProjectiveResponse(40, 7, 3, one).possible(report)).toBe(false);
    },
  );

  test.each([-1, 5, 0.5, NaN])("withhold a label that is none", (label) => {
    const said = refusal(() => new SubsetSelection(5, 2, one).draw(label, () => 0n));
    expect(said).toBe("input must be in [0, 5); its value is withheld");
  });
});

describe("journeys", () => {
  const wrong: Journey[] = [[77, 1], [0, -3], [0, 1.5], [0, NaN], ["1", 2] as never];

  test.each(wrong.map((journey) => ({ journey })))(
    "outside of the set are refused without being shown",
    ({ journey }) => {
      for (const mechanism of [atlas, new Trips({ epsilon: 2, zones })]) {
        const said = refusal(() => mechanism.perturb(journey, zero));
        expect(said).toBe(
          "every location must be in the public set of 7; the value is withheld because it is private",
        );
      }
    },
  );

  test("of no point are refused", () => {
    expect(() => atlas.perturb([], zero)).toThrow(DomainError);
    expect(() => new Visits({ epsilon: 2, zones }).perturb([], zero)).toThrow(DomainError);
  });

  test("of a length that has no book are refused", () => {
    expect(refusal(() => atlas.perturb([0, 1, 2], zero))).toMatch(/a book .* of length 3/);
  });

  test.each([-1, 168, 1.5, NaN])("at no hour of the week are refused", (hour) => {
    const asked = new Trips({ epsilon: 2, zones, when: "weekday" });
    const said = refusal(() => asked.perturb([0, 1], zero, hour));
    expect(said).toMatch(/from 0 to 167.*withheld/);
    expect(refusal(() => asked.perturb([0, 1], zero))).toMatch(/was told none/);
  });
});

describe("public data", () => {
  const a = { id: "a", lat: 1, lng: 2 };

  test.each([
    [[a]],
    [[a, { ...a }]],
    [[a, { ...a, id: "" }]],
    [[a, { id: "b", lat: 91, lng: 0 }]],
    [[a, { id: "b", lat: 0, lng: 180.1 }]],
    [[a, { id: "b", lat: NaN, lng: 0 }]],
  ])("is no location set: %j", (rows) => {
    expect(() => new LocationSet(rows)).toThrow(DomainError);
  });

  test.each([
    [[], 1],
    [[[]], 1],
    [[[0, 1], [2]], 1],
    [[[0, 7]], 1],
    [
      [
        [0, 1],
        [0, 1],
      ],
      1,
    ],
    [[[0, 1]], 0],
    [[[0, 1]], 2],
    [[[0, 1]], 0.5],
    [Array.from({ length: 1025 }, () => [0, 1]), 1],
  ])("is no book: %j with %s near", (journeys, near) => {
    expect(() => new Book(town, journeys, near)).toThrow(DomainError);
  });

  test.each([
    [[0, 0, 0], ["a"]],
    [
      [0, 0, 0, 0, 0, 0, 0],
      ["a", "b"],
    ],
    [
      [0, 0, 0, 0, 0, 0, 2],
      ["a", "b"],
    ],
    [[0, 0, 0, 0, 0, 0, -1], ["a"]],
    [
      [0, 0, 0, 0, 0, 0, 1],
      ["a", "a"],
    ],
    [
      [0, 0, 0, 0, 0, 0, 1],
      ["a", ""],
    ],
  ])("is no partition: %j called %j", (of, names) => {
    expect(() => new Zones(town, of, names)).toThrow(DomainError);
  });

  test("has one book for a length", () => {
    const options = { epsilon: 2, locations: town, books: [book, book] };
    expect(() => new WholeJourney(options)).toThrow(DomainError);
  });

  test("asks when by a known name", () => {
    expect(() => new Trips({ epsilon: 2, zones, when: "toString" as never })).toThrow(
      NomadpError,
    );
  });
});
