/** What cannot be private, or is not public data as it must be, is refused; nothing is shown. */

import { describe, expect, test } from "vitest";

import {
  asEpsilon,
  Codebook,
  BudgetError,
  DomainError,
  drawing,
  InvalidArgument,
  type Trajectory,
  LocationSet,
  type NomadpError,
  OutOfRange,
  ProjectiveResponse,
  RandomizedResponse,
  Subset,
  SubsetSelection,
  Trips,
  Visits,
  WHEN,
  Atlas,
  Zones,
} from "../src/index.js";
import { gridZones, worldOf } from "./known_answers.js";
import { refusal } from "./refusal.js";

const town = worldOf("trips-1", "town");
const zones = gridZones(town, "grid:2");
const zero = drawing(() => 0n);
const book = new Codebook(
  town,
  [
    [0, 1],
    [2, 3],
    [4, 5],
  ],
  1,
);
const atlas = new Atlas({ epsilon: 2, locations: town, codebooks: [book] });

/** All facts of a refusal: a private one would be among them. */
function factsOf(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return (error as NomadpError).facts;
  }
  throw new Error("this must be refused, and was not");
}

describe("epsilon", () => {
  const unusable = refusal(BudgetError, "epsilon_out_of_range");

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

  test.each(["", "0", "-1", "21", "20.0000001", "1_0", "١", "1/0", "nan", "1 2", "e1"])(
    "%j is refused",
    (value) => {
      expect(() => asEpsilon(value)).toThrow(unusable);
    },
  );

  test("has no more decimals than are kept", () => {
    const precise = refusal(BudgetError, "epsilon_too_precise", { decimals: 30 });
    expect(() => asEpsilon("1e-31")).toThrow(precise);
  });

  test.each([0, NaN, Infinity, -1, null, undefined, true, {}, 4n])("%s is refused", (value) => {
    expect(() => asEpsilon(value as number)).toThrow(unusable);
  });

  test("is at least a millionth of a whole trajectory's", () => {
    expect(() => new Trips({ epsilon: "1/10000000", zones })).toThrow(unusable);
  });
});

describe("laws", () => {
  const one = asEpsilon(1);
  const imprecise = refusal(BudgetError, "word_precision_exceeded");

  test("refuse a share below what they give away", () => {
    const tiny = asEpsilon("0.000000001");
    const refused = refusal(BudgetError, "share_too_small", { share: 1e-9 });
    expect(() => new RandomizedResponse(2, tiny)).toThrow(refused);
    expect(() => new SubsetSelection(5, 2, tiny)).toThrow(refused);
  });

  test("refuse what 64-bit words cannot keep", () => {
    expect(() => new RandomizedResponse(10, asEpsilon(20))).not.toThrow();
    expect(() => new RandomizedResponse(2 ** 31, asEpsilon(20))).toThrow(imprecise);
    const far = () => new Float64Array(2 ** 20);
    expect(() => new Subset(2 ** 20, 2 ** 19, asEpsilon(15), far)).toThrow(imprecise);
    expect(() => new SubsetSelection(2 ** 17, 2 ** 16, one)).toThrow(imprecise);
    expect(() => new ProjectiveResponse(7, 2, 32, one)).toThrow(imprecise);
    const large = refusal(BudgetError, "projective_space_too_large");
    expect(() => new ProjectiveResponse(7, 2, 54, one)).toThrow(large);
    // A level must own 2^32 words.
    expect(() => new SubsetSelection(9, 8, asEpsilon(20))).not.toThrow();
    expect(() => new SubsetSelection(10, 9, asEpsilon(20))).toThrow(imprecise);
  });

  test.each([0, 2 ** 24 + 1])("refuse %s labels", (labels) => {
    const refused = refusal(DomainError, "label_count_out_of_range", { labels });
    expect(() => new SubsetSelection(labels, 1, one)).toThrow(refused);
  });

  test.each([
    [2, 2],
    [5, 0],
    [5, 1.5],
  ])("refuse sets of %s labels, %s at a time", (size, count) => {
    const refused = refusal(InvalidArgument, "count_out_of_range", { most: size - 1 });
    expect(() => new SubsetSelection(size, count, one)).toThrow(refused);
  });

  test.each([
    [7, 4, 3],
    [7, 2, 3],
    [7, 7, 1],
  ])("refuse a space for %s labels of order %s and %s coordinates", (size, order, t) => {
    const refused = refusal(InvalidArgument, "projective_space_unsuitable", { size, order });
    expect(() => new ProjectiveResponse(size, order, t, one)).toThrow(refused);
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
    const draw = () => new SubsetSelection(5, 2, one).draw(label, () => 0n);
    expect(draw).toThrow(refusal(OutOfRange, "input_out_of_range"));
    expect(factsOf(draw)).toEqual({ size: 5 });
  });
});

describe("journeys", () => {
  const wrong: Trajectory[] = [[77, 1], [0, -3], [0, 1.5], [0, NaN], ["1", 2] as never];

  test.each(wrong.map((trajectory) => ({ trajectory })))(
    "outside of the set are refused without being shown",
    ({ trajectory }) => {
      for (const mechanism of [atlas, new Trips({ epsilon: 2, zones })]) {
        const perturb = () => mechanism.perturb(trajectory, zero);
        expect(perturb).toThrow(refusal(DomainError, "unknown_locations"));
        expect(factsOf(perturb)).toEqual({ size: 7 });
        expect(perturb).not.toThrow(/77|-3|1\.5|NaN/);
      }
    },
  );

  test("of no point are refused", () => {
    const refused = refusal(DomainError, "trajectory_malformed");
    expect(() => atlas.perturb([], zero)).toThrow(refused);
    expect(() => new Visits({ epsilon: 2, zones }).perturb([], zero)).toThrow(refused);
  });

  test("of a length that has no book are refused", () => {
    const refused = refusal(DomainError, "codebook_length_missing", {
      length: 3,
      lengths: [2],
    });
    expect(() => atlas.perturb([0, 1, 2], zero)).toThrow(refused);
  });

  test.each([-1, 168, 1.5, NaN])("at no hour of the week are refused", (hour) => {
    const asked = new Trips({ epsilon: 2, zones, when: "weekday" });
    const perturb = () => asked.perturb([0, 1], zero, hour);
    expect(perturb).toThrow(refusal(DomainError, "hour_out_of_range"));
    expect(factsOf(perturb)).toEqual({});
    expect(perturb).not.toThrow(/-1|168|1\.5|NaN/);
    const untold = () => asked.perturb([0, 1], zero);
    expect(untold).toThrow(refusal(DomainError, "hour_missing"));
  });
});

describe("public data", () => {
  const a = { id: "a", lat: 1, lng: 2 };

  test.each([
    ["too_few_locations", [a]],
    ["location_ids_repeated", [a, { ...a }]],
    ["invalid_location_ids", [a, { ...a, id: "" }]],
    ["location_id_characters", [a, { ...a, id: "b\u202e" }]],
    ["coordinates_out_of_range", [a, { id: "b", lat: 91, lng: 0 }]],
    ["coordinates_out_of_range", [a, { id: "b", lat: 0, lng: 180.1 }]],
    ["coordinates_out_of_range", [a, { id: "b", lat: NaN, lng: 0 }]],
  ])("is no location set: %s of %j", (code, rows) => {
    expect(() => new LocationSet(rows)).toThrow(refusal(DomainError, code));
  });

  test.each([
    [[]],
    [[[]]],
    [[[0, 1], [2]]],
    [[[0, 7]]],
    [Array.from({ length: 1025 }, () => [0, 1])],
  ])("is no book: %j", (trajectories) => {
    const refused = refusal(DomainError, "codebook_invalid", {
      codewords: trajectories.length,
    });
    expect(() => new Codebook(town, trajectories, 1)).toThrow(refused);
  });

  test.each([
    [2, 1],
    [1, 0],
    [1, 2],
    [1, 0.5],
  ])("is no book: %s times one trajectory with %s near", (codewords, nearCount) => {
    const trajectories = Array.from({ length: codewords }, () => [0, 1]);
    const refused = refusal(DomainError, "codewords_invalid", { codewords, nearCount });
    expect(() => new Codebook(town, trajectories, nearCount)).toThrow(refused);
  });

  test.each([
    ["not_a_partition", [0, 0, 0], ["a"]],
    ["not_a_partition", [0, 0, 0, 0, 0, 0, 0], ["a", "b"]],
    ["not_a_partition", [0, 0, 0, 0, 0, 0, 2], ["a", "b"]],
    ["not_a_partition", [0, 0, 0, 0, 0, 0, -1], ["a"]],
    ["zone_name_repeated", [0, 0, 0, 0, 0, 0, 1], ["a", "a"]],
    ["zone_name_repeated", [0, 0, 0, 0, 0, 0, 1], ["a", ""]],
    ["zone_name_characters", [0, 0, 0, 0, 0, 0, 1], ["a", "\u202eb"]],
  ])("is no partition: %s of %j called %j", (code, of, names) => {
    expect(() => new Zones(town, of, names)).toThrow(refusal(DomainError, code));
  });

  test("has one book for a length", () => {
    const options = { epsilon: 2, locations: town, codebooks: [book, book] };
    const refused = refusal(DomainError, "codebook_length_repeated", { length: 2 });
    expect(() => new Atlas(options)).toThrow(refused);
  });

  test("has books over its own locations", () => {
    const options = {
      epsilon: 2,
      locations: worldOf("trips-1", "date line"),
      codebooks: [book],
    };
    const refused = refusal(DomainError, "codebook_of_other_locations");
    expect(() => new Atlas(options)).toThrow(refused);
  });

  test("asks when by a known name", () => {
    expect(() => new Trips({ epsilon: 2, zones, when: "toString" as never })).toThrow(
      refusal(DomainError, "unknown_time_division", { choices: Object.keys(WHEN) }),
    );
  });
});
