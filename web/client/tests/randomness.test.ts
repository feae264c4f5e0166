/** Words of the system, and words of a seed, which nothing that is sent is drawn with. */

import { afterEach, describe, expect, test, vi } from "vitest";

import * as client from "../src/index.js";
import {
  InvalidArgument,
  NotPrivateError,
  RandomnessUnavailable,
  Report,
  SimulatedReport,
  Starts,
  SystemRandom,
} from "../src/index.js";
import { SeededRandom } from "../src/seeded.js";
import { casesOf, gridZones, worldOf } from "./known_answers.js";
import { refusal } from "./refusal.js";

const locations = worldOf("trips-1", "town");
const starts = new Starts({ epsilon: 2, zones: gridZones(locations, "grid:2") });

afterEach(() => {
  vi.unstubAllGlobals();
});

describe("words of a seed", () => {
  const every = casesOf("randomness", "stream");
  // Names tell the trajectories of one job apart; a device has one.
  const numbered = every.filter(({ ask }) => ask.names === null);

  test("are known for all that is numbered and not named", () => {
    expect([numbered.length, every.length]).toEqual([49, 109]);
  });

  test.each(numbered)("$title", async ({ ask, answer }) => {
    const { seed, key } = ask.source;
    const source =
      key === undefined
        ? await SeededRandom.ofSeed(seed)
        : SeededRandom.ofKey(Buffer.from(key, "hex"));
    const bound = ask.bound_to === null ? source : await source.boundTo(ask.bound_to);
    const stream = await bound.stream(ask.index, ask.count);
    const words = Array.from({ length: ask.count }, () => stream.next());
    expect(words.map((word) => word.toString(16).padStart(16, "0"))).toEqual(answer);
    expect(() => stream.next()).toThrow(refusal(InvalidArgument, "words_exhausted"));
  });
});

describe("words of the system", () => {
  test("are the little-endian words of getRandomValues, a block at a time", () => {
    let calls = 0;
    vi.stubGlobal("crypto", {
      getRandomValues(block: Uint8Array) {
        calls += 1;
        block.set(block.map((_, k) => (k + calls) % 256));
      },
    });
    const words = new SystemRandom();
    const first = Array.from({ length: 65 }, () => words.next());
    expect(first[0]).toBe(0x0807060504030201n);
    expect(first[1]).toBe(0x100f0e0d0c0b0a09n);
    expect(first[64]).toBe(0x0908070605040302n);
    expect(calls).toBe(2);
  });

  test("are fresh at every use", () => {
    const words = new SystemRandom();
    const some = Array.from({ length: 1000 }, () => words.next());
    expect(new Set([...some, new SystemRandom().next()]).size).toBe(1001);
    expect(some.every((word) => word >= 0n && word < 1n << 64n)).toBe(true);
  });

  const broken = () => {
    throw new Error("no entropy");
  };

  test.each([
    ["fails", "randomness_failed", broken],
    ["is missing", "randomness_failed", undefined],
    ["fills nothing", "randomness_incomplete", (block: Uint8Array) => block],
  ])("nothing is released where the source %s", (_how, code, getRandomValues) => {
    vi.stubGlobal("crypto", { getRandomValues });
    const refused = refusal(RandomnessUnavailable, code);
    expect(() => new SystemRandom().next()).toThrow(refused);
    expect(() => Report.draw(starts, [1, 2])).toThrow(refused);
  });
});

describe("what may be sent", () => {
  test("is drawn with the system's words", () => {
    const report = Report.draw(starts, [1, 2]);
    expect(Report.is(report)).toBe(true);
    expect(starts.channel.possible(report.values)).toBe(true);
    expect(Object.isFrozen(report.values)).toBe(true);
  });

  test("is nothing that was simulated, and nothing that looks like a report", async () => {
    const words = await (await SeededRandom.ofSeed(1)).stream(0, starts.wordCount(2));
    const simulated = SimulatedReport.draw(starts, [1, 2], words);
    const report = Report.draw(starts, [1, 2]);
    const alike = { ...report, values: report.values, number: null, simulated: false };
    const cast = Object.create(Report.prototype);
    for (const other of [simulated, alike, cast, Object.create(report), null, "report"]) {
      expect(Report.is(other)).toBe(false);
    }
  });

  test("is not made by calling the constructor", () => {
    const constructor = Report as unknown as new (...args: unknown[]) => Report;
    const released = { values: [0], number: null };
    expect(() => new constructor(Symbol("ours"), starts, released)).toThrow(
      refusal(NotPrivateError, "report_not_drawn"),
    );
  });

  test("is told from simulated words by their types, too", async () => {
    const words = await (await SeededRandom.ofSeed(1)).stream(0, 2);
    // @ts-expect-error Words of a seed are none of the system.
    const wrong: SystemRandom = words;
    expect(SystemRandom.is(wrong)).toBe(false);
    expect(SystemRandom.is(new SystemRandom())).toBe(true);
    const simulated = SimulatedReport.draw(starts, [1, 2], {
      simulated: true,
      next: () => 0n,
    } as never);
    // @ts-expect-error What was simulated is no report.
    const sent: Report = simulated;
    expect(Report.is(sent)).toBe(false);
  });

  test("simulated words are not among the names that an app imports", () => {
    expect(Object.keys(client).filter((name) => name.endsWith("Random"))).toEqual([
      "SystemRandom",
    ]);
  });
});
