/** A Timeline of as many segments as are asked for, read whole: 53,000 are more than 45 MB. */

import { expect } from "vitest";

import { readTrajectories } from "../src/imports/index.js";

export async function readLarge(count: number): Promise<number> {
  const segment = (k: number) => {
    const time = new Date(Date.UTC(2024, 0, 1) + k * 60_000).toISOString();
    const path = Array.from({ length: 4 }, (_, j) => ({
      point: `${30 + (k % 50) / 100}°, ${-40 - j / 100}°`,
      time,
    }));
    return JSON.stringify({
      startTime: time,
      endTime: time,
      timelinePath: path,
      padding: "x".repeat(500),
    });
  };
  const parts = Array.from(
    { length: count },
    (_, k) => `${k ? "," : '{"semanticSegments":['}${segment(k)}`,
  );
  const blob = new Blob([...parts, "]}"]);
  let seen = 0;
  const { trajectories } = await readTrajectories(blob, {
    onProgress: (bytes) => void (seen = bytes),
  });
  expect(trajectories.reduce((sum, { length }) => sum + length, 0)).toBe(4 * count);
  expect(seen).toBe(blob.size);
  return blob.size;
}
