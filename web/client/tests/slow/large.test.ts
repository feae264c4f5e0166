/** An export as large as people's are. */

import { expect, test } from "vitest";

import { readLarge } from "../large_timeline.js";

test("45 MB of a Timeline are read as they stream by", async () => {
  expect(await readLarge(53_000)).toBeGreaterThan(45e6);
});
