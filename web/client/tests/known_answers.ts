/** tests/vectors of the repository, read as they are: what every implementation must answer. */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

import { LocationSet, Zones } from "../src/index.js";

export interface Case {
  readonly kind: string;
  readonly ask: any;
  readonly answer: any;
}

interface File {
  readonly worlds: Record<string, any>;
  readonly cases: readonly Case[];
}

/** Rows of up to so many numbers are written down as they are. */
const SHORT = 48;

export function load(name: string): File {
  const path = new URL(`../../../tests/vectors/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(path, "utf8")) as File;
}

/** The cases of a file that are of a kind, each with a title of its own. */
export function casesOf(name: string, kind: string): (Case & { title: string })[] {
  const found = load(name).cases.map((one, k) => ({ ...one, title: `${name} ${kind} ${k}` }));
  return found.filter((one) => one.kind === kind);
}

const worlds = new Map<string, LocationSet>();

export function worldOf(file: string, name: string): LocationSet {
  const key = JSON.stringify(load(file).worlds[name]);
  const found = worlds.get(key) ?? made(JSON.parse(key));
  worlds.set(key, found);
  return found;
}

function made(world: any): LocationSet {
  if (world.locations === undefined) return generated(world.generated);
  return new LocationSet(
    world.locations.map(({ id, lat, lng }: Record<string, string>) => ({
      id,
      lat: Number(lat),
      lng: Number(lng),
    })),
  );
}

/** A large set by integer arithmetic: tests/vectors/README.md, "Generated worlds". */
function generated({ size, state, lat, lng }: any): LocationSet {
  let now = BigInt(state);
  const next = (box: any) => {
    now = BigInt.asUintN(64, now * 6364136223846793005n + 1442695040888963407n);
    return (box.from + (Number(now >> 33n) % box.count)) / 10 ** 6;
  };
  return new LocationSet(
    Array.from({ length: size }, (_, k) => ({ id: `g${k}`, lat: next(lat), lng: next(lng) })),
  );
}

/** A grid of N by N cells over the box of the set, those that hold a location. */
export function gridZones(locations: LocationSet, rule: string): Zones {
  const grid = Number(rule.split(":")[1]);
  const rows = Array.from({ length: locations.size }, (_, k) => locations.at(k));
  const from = rows[0]!.lng;
  const turned = rows.map(
    ({ lng }) => from + (lng - from - 360 * Math.round((lng - from) / 360)),
  );
  const [column, row] = [
    cells(turned, grid),
    cells(
      rows.map(({ lat }) => lat),
      grid,
    ),
  ];
  const numbers = row.map((each, k) => each * grid + column[k]!);
  const kept = [...new Set(numbers)].sort((a, b) => a - b);
  const position = new Map(kept.map((cell, k) => [cell, k]));
  const names = kept.map((cell) => `r${Math.floor(cell / grid)}_c${cell % grid}`);
  return new Zones(
    locations,
    numbers.map((cell) => position.get(cell)!),
    names,
  );
}

function cells(values: number[], grid: number): number[] {
  const low = values.reduce((a, b) => Math.min(a, b));
  const width = values.reduce((a, b) => Math.max(a, b)) - low;
  return values.map((value) =>
    Math.min(Math.floor(((value - low) / (width > 0 ? width : 1)) * grid), grid - 1),
  );
}

/** The words of a case and none besides. */
export class Given {
  readonly #words: bigint[];

  constructor(words: readonly string[]) {
    this.#words = words.map((word) => BigInt(`0x${word}`));
  }

  get left(): number {
    return this.#words.length;
  }

  next(): bigint {
    const word = this.#words.shift();
    if (word === undefined) throw new Error("more words were drawn than the case gives");
    return word;
  }
}

/** Integers as they are (above 2^53 as text), as runs, or as the hash of their lines. */
export function row(values: readonly (bigint | number)[]): unknown {
  const numbers = values.map(BigInt);
  if (numbers.length <= SHORT) return numbers.map(readable);
  const runs: [number | string, number][] = [];
  numbers.forEach((number, k) => {
    if (k && number === numbers[k - 1]) runs.at(-1)![1] += 1;
    else runs.push([readable(number), 1]);
  });
  return runs.length <= SHORT ? { runs } : { count: numbers.length, sha256: hashed(numbers) };
}

export function readable(number: bigint): number | string {
  return number <= 2n ** 53n ? Number(number) : String(number);
}

export function hashed(lines: readonly unknown[]): string {
  const text = lines.map((line) => `${line}\n`).join("");
  return createHash("sha256").update(text).digest("hex");
}
