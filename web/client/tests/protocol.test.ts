/** Tasks, files, values and the bytes that are sent, as Python makes them. */

import { expect, test } from "vitest";

import { resampled, Task } from "../src/index.js";
import { base64url } from "../src/protocol/base64url.js";
import { canonicalBytes, canonicalText, parseObject } from "../src/protocol/canonical.js";
import { parseAtlas, parseLocations, parseZones } from "../src/protocol/files.js";
import { bodyOf } from "../src/protocol/upload.js";
import { casesOf, Given, load } from "./known_answers.js";
import { bytes, contentOf, bundleOf } from "./protocol_worlds.js";
import { recording } from "./recording.js";

const KINDS = ["canonical", "task", "public_files", "resampled", "value_size", "sent"];

test("there are no known answers of the protocol but these", () => {
  const cases = load("protocol").cases;
  const asked = KINDS.flatMap((kind) => casesOf("protocol", kind));
  expect(asked.length).toBe(cases.length);
  expect(asked.length).toBeGreaterThanOrEqual(134);
});

test.each(casesOf("protocol", "canonical"))("$title", ({ ask, answer }) => {
  const found = canonicalText(parseObject(bytes(ask.text), "it", 10 ** 6));
  expect({ bytes: found }).toEqual(answer);
});

test.each(casesOf("protocol", "task"))("$title", async ({ ask, answer }) => {
  const task = await Task.fromBytes(canonicalBytes(ask.fields), answer.task_id);
  const found = { bytes: new TextDecoder().decode(task.bytes), task_id: task.id };
  expect(found).toEqual(answer);
});

test.each(casesOf("protocol", "public_files"))("$title", async ({ ask, answer }) => {
  const locations = parseLocations(bytes(ask.locations));
  const found: Record<string, string> = { locations_sha256: await locations.sha256() };
  if (ask.atlas !== undefined) {
    found["atlas_sha256"] = (await parseAtlas(bytes(ask.atlas), locations)).sha256;
  }
  if (ask.zones !== undefined) {
    found["zones_sha256"] = (await parseZones(bytes(ask.zones), locations)).sha256;
  }
  expect(found).toEqual(answer);
});

test.each(casesOf("protocol", "resampled"))("$title", ({ ask, answer }) => {
  const points = Array.from({ length: ask.count }, (_, k) => k);
  expect(resampled(points, ask.length)).toEqual(answer);
});

test.each(casesOf("protocol", "value_size"))("$title", async ({ ask, answer }) => {
  const { entries, size, bits, byteCount, characters } = (await bundleOf("protocol", ask.world))
    .code;
  expect({ entries, size, bits, bytes: byteCount, characters }).toEqual(answer);
});

test.each(casesOf("protocol", "sent"))("$title", async ({ ask, answer }) => {
  const bundle = await bundleOf("protocol", ask.world);
  const points = ask.points.map(([lat, lng]: string[]) => ({
    lat: Number(lat),
    lng: Number(lng),
  }));
  const [words, steps] = [new Given(ask.words), [] as unknown[]];
  const read = bundle.read(points);
  const { values, number } = bundle.mechanism.perturb(read, recording(words, steps), ask.hour);
  const numbers = number === null ? values : [number];
  const value = bundle.code.text(numbers);
  const reportId = base64url(contentOf({ hexadecimal: ask.random }));
  const found = {
    task_id: bundle.task.id,
    snapped: points.map((point: any) => bundle.locations.nearest(point)),
    read,
    steps,
    words_left: words.left,
    numbers,
    value,
    upload: new TextDecoder().decode(bodyOf(reportId, ask.time, value)),
  };
  expect(found).toEqual(answer);
  expect(bundle.code.parse(value)).toEqual(numbers);
});
