/** Archives that unpack to far too much are refused early, whatever their format. */

import { deflateRawSync, gzipSync } from "node:zlib";

import { expect, test } from "vitest";

import { ImportRefused, readTrajectories } from "../src/imports/index.js";
import { blobSource, unpacked } from "../src/imports/source.js";
import { refusal } from "./refusal.js";

const ROWS = Buffer.from(`lat,lng\n${"41.8,-87.6\n".repeat(20_000_000)}`);

/** How much came out before it was refused. */
async function outOf(packed: Buffer, format: "gzip" | "deflate-raw"): Promise<number> {
  let out = 0;
  const source = blobSource(new Blob([Uint8Array.from(packed)]));
  const all = async () => {
    for await (const chunk of unpacked(source, format)) out += chunk.length;
  };
  await expect(all()).rejects.toThrow(refusal(ImportRefused, "bomb"));
  return out;
}

test.each([
  ["gzip", gzipSync],
  ["deflate-raw", deflateRawSync],
] as const)("a bomb of %s is refused before more than 16 MB came out", async (format, pack) => {
  const packed = pack(ROWS);
  expect(ROWS.length / packed.length).toBeGreaterThan(200);
  expect(await outOf(packed, format)).toBeLessThan(16_000_001);
});

test("a bomb behind bytes that cannot be packed is refused at the bomb", async () => {
  const noise = crypto.getRandomValues(new Uint8Array(65_536));
  const begun = Buffer.concat([...Array(4).fill(noise), ROWS]);
  expect(await outOf(gzipSync(begun), "gzip")).toBeLessThan(100_000_000);
});

async function refused(packed: Buffer, code: string): Promise<void> {
  const file = new Blob([Uint8Array.from(packed)]);
  await expect(readTrajectories(file)).rejects.toThrow(refusal(ImportRefused, code));
}

test("a table in a bomb is refused", async () => {
  await refused(gzipSync(ROWS), "bomb");
});

/** A zip file of one entry, which says that it unpacks to so many bytes. */
function zipOf(content: Buffer, said: number): Buffer {
  const packed = deflateRawSync(content);
  const sizes = Buffer.alloc(12);
  sizes.writeUInt32LE(packed.length, 4);
  sizes.writeUInt32LE(said, 8);
  const local = Buffer.alloc(30);
  local.writeUInt32LE(0x04034b50, 0);
  local.writeUInt16LE(8, 8);
  sizes.copy(local, 14);
  const entry = Buffer.alloc(46);
  entry.writeUInt32LE(0x02014b50, 0);
  entry.writeUInt16LE(8, 10);
  sizes.copy(entry, 16);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(1, 10);
  end.writeUInt32LE(entry.length, 12);
  end.writeUInt32LE(local.length + packed.length, 16);
  return Buffer.concat([local, packed, entry, end]);
}

test.each([
  ["what it is", ROWS.length, "bomb"],
  ["less than it is", 1000, "damaged_archive"],
])("a bomb in a zip file that says %s is refused", async (_how, said, code) => {
  const geojson = `{"type": "FeatureCollection", "features": [${" ".repeat(2e8)}]}`;
  await refused(zipOf(Buffer.from(geojson), said), code);
});
