/** Distances and nearest locations. */

import { describe, expect, test } from "vitest";

import { DomainError, haversineKm, LocationSet } from "../src/index.js";
import { roundHalfEven } from "../src/geometry.js";
import { controlPositions } from "../src/long_trajectories.js";
import { worldOf } from "./known_answers.js";
import { refusal } from "./refusal.js";

const at = (lat: number, lng: number) => ({ lat, lng });

describe("a distance", () => {
  test.each([
    [at(0, 0), at(0, 180), Math.PI * 6371.0088],
    [at(0, 0), at(0, 90), (Math.PI / 2) * 6371.0088],
    [at(90, 12), at(90, -77), 0],
    [at(5, 180), at(5, -180), 0],
    [at(0, 0), at(0, 1e-9), (Math.PI / 180) * 1e-9 * 6371.0088],
  ])("from %j to %j is %s km", (a, b, km) => {
    expect(haversineKm(a, b)).toBeCloseTo(km, 12);
    expect(haversineKm(a, b)).toBe(haversineKm(b, a));
  });

  test.each([at(91, 0), at(0, -181), at(NaN, 0), at(0, Infinity)])(
    "is refused where there is no place, which is not shown",
    (nowhere) => {
      const refused = refusal(DomainError, "coordinates_out_of_range");
      expect(() => haversineKm(nowhere, at(0, 0))).toThrow(refused);
      expect(() => haversineKm(nowhere, at(0, 0))).not.toThrow(/91|181|NaN|Infinity/);
    },
  );
});

describe("the nearest location", () => {
  test("is that of looking at all of them", () => {
    const set = worldOf("trips-1", "5000");
    for (let k = 0; k < 300; k += 1) {
      const point = at(41.55 + ((k * 7919) % 500) / 1000, -87.95 + ((k * 104729) % 600) / 1000);
      const all = Array.from({ length: set.size }, (_, i) => haversineKm(point, set.at(i)));
      const least = all.reduce((a, b) => Math.min(a, b));
      expect(set.snap(point)).toEqual({ index: all.indexOf(least), movedKm: least });
    }
  });

  test("is the first of those at one place", () => {
    const town = worldOf("trips-1", "town");
    expect(town.nearest(at(41.86, -87.55))).toBe(2);
    const line = worldOf("trips-1", "date line");
    expect(line.nearest(at(-17, -179.999))).toBe(1);
  });

  test("is the first of those that are equally far", () => {
    const rows = [at(1, 0), at(-1, 0), at(0, 1), at(0, -1), at(5, 5)];
    const set = new LocationSet(rows.map((row, k) => ({ id: `${k}`, ...row })));
    expect(set.nearest(at(0, 0))).toBe(0);
  });

  test("of a location is itself", () => {
    const set = worldOf("atlas-3", "pole");
    const found = Array.from({ length: set.size }, (_, k) => set.snap(set.at(k)));
    expect(found.filter(({ movedKm }) => movedKm > 1e-9)).toEqual([]);
  });
});

test.each([
  [0.5, 0],
  [1.5, 2],
  [2.5, 2],
  [-0.5, -0],
  [-1.5, -2],
  [0.49, 0],
  [3.51, 4],
])("%s is rounded to %s", (x, rounded) => {
  expect(roundHalfEven(x) + 0).toBe(rounded + 0);
});

test.each([
  [11, 2, [0, 10]],
  [11, 3, [0, 5, 10]],
  [11, 4, [0, 3, 7, 10]],
  [2, 4, [0, 1]],
  [1, 4, [0]],
  [10, 3, [0, 4, 9]],
])("of %s points, %s control points are %j", (length, count, positions) => {
  expect(controlPositions(length, count)).toEqual(positions);
});
