/**
 * Fixes: points with times, as importers extract them.
 *
 * Restates `nomadp.formats.fixes`. Times are whole microseconds since 1970, in UTC and in local
 * time. Until the year 2200 they are below 2^53, so numbers are exact.
 */

import { type LatLng, onEarth } from "../geometry.js";

/** The year 2200: later times are mistakes. */
const LATEST_US = 7_258_118_400_000_000;
const OFFSET_MAX_MINUTES = 18 * 60;
const MINUTE_US = 60_000_000;
/** Some old files have E7 coordinates that overflowed 32 bits, and are too large by this. */
const WRAP = 2 ** 32;

const DECIMAL = "[-+]?[0-9]+(?:\\.[0-9]+)?(?:[eE][-+]?[0-9]+)?";
const NUMBER = new RegExp(`^${DECIMAL}$`);
const PLACE = new RegExp(
  `^\\s*(?:geo:)?\\s*(${DECIMAL})\\s*°?\\s*,\\s*(${DECIMAL})\\s*°?\\s*(?:,\\s*${DECIMAL}[^,]*)?$`,
);
const MOMENT =
  /^([0-9]{4})-([0-9]{2})-([0-9]{2})[T ]([0-9]{2}):([0-9]{2})(?::([0-9]{2})(?:\.([0-9]{1,9}))?)?(Z|[-+][0-9]{2}:?[0-9]{2})?$/;

export interface Instant {
  readonly momentUs: number;
  /** The local time, as if it were UTC. */
  readonly localUs: number;
}

/** A point with a time. */
export interface Fix extends LatLng, Instant {}

/** A point of a trajectory. Its times are null if the file has none. */
export interface TrackPoint extends LatLng {
  readonly momentUs: number | null;
  readonly localUs: number | null;
}

/** A finite number, or text that denotes one; otherwise null. */
export function number(value: unknown): number | null {
  const parsed = typeof value === "string" && NUMBER.test(value) ? Number(value) : value;
  return typeof parsed === "number" && Number.isFinite(parsed) ? parsed : null;
}

/** The point at these degrees; null if they are none. Longitudes are wrapped. */
export function place(lat: unknown, lng: unknown): LatLng | null {
  return onEarth(number(lat), number(lng));
}

/** A point from `40.7128°, -74.006°` or `geo:40.7128,-74.006`; a third number is an altitude. */
export function textPlace(value: unknown): LatLng | null {
  const match = typeof value === "string" ? PLACE.exec(value) : null;
  return match && place(match[1], match[2]);
}

/** A point from ten-millionths of a degree. */
export function e7Place(lat: unknown, lng: unknown): LatLng | null {
  return place(e7(lat, 90), e7(lng, 180));
}

function e7(value: unknown, limit: number): number | null {
  const e7 = number(value);
  return e7 && (e7 > limit * 1e7 ? e7 - WRAP : e7) / 1e7;
}

/**
 * A time from ISO 8601 text. `zone` is for text without an offset; `offsetMinutes` overrides the
 * offset of the local time.
 */
export function instant(
  value: unknown,
  zone: string | null = null,
  offsetMinutes?: unknown,
): Instant | null {
  const match = typeof value === "string" ? MOMENT.exec(value) : null;
  if (match === null) return null;
  const [year, month, day, hour, minute] = match.slice(1, 6).map(Number) as number[];
  const second = Number(match[6] ?? 0);
  const local = new Date(Date.UTC(year!, month! - 1, day, hour, minute, second));
  // Date.UTC accepts February 30th: refuse what it had to change.
  const text = local.toISOString().slice(0, 16).replace("T", " ");
  if (text !== (value as string).slice(0, 16).replace("T", " ") || second > 59) return null;
  const fractionUs = Number((match[7] ?? "").padEnd(6, "0").slice(0, 6));
  const localUs = local.getTime() * 1000 + fractionUs;
  const offsetUs = match[8] === undefined ? zoneOffset(localUs, zone) : offsetOf(match[8]);
  if (offsetUs === null) return null;
  const minutes = number(offsetMinutes);
  const clockOffsetUs =
    minutes !== null && Math.abs(minutes) <= OFFSET_MAX_MINUTES
      ? minutes * MINUTE_US
      : offsetUs;
  return plausible(localUs - offsetUs, clockOffsetUs);
}

function offsetOf(text: string): number | null {
  if (text === "Z") return 0;
  const [hours, minutes] = [Number(text.slice(1, 3)), Number(text.slice(-2))];
  if (hours > 23 || minutes > 59) return null;
  return (text.startsWith("-") ? -1 : 1) * (60 * hours + minutes) * MINUTE_US;
}

/** The UTC offset of a zone at a local time. */
function zoneOffset(localUs: number, zone: string | null): number | null {
  if (zone === null) return null;
  // Two steps: the offset at the wrong moment gives a better moment, near a change of the clocks.
  const approximateUs = localUs - aheadUs(localUs, zone);
  return aheadUs(approximateUs, zone);
}

const clocks = new Map<string, Intl.DateTimeFormat>();

/** The UTC offset of a zone at a moment. */
function aheadUs(momentUs: number, zone: string): number {
  const clock =
    clocks.get(zone) ??
    new Intl.DateTimeFormat("en-CA", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
    });
  clocks.set(zone, clock);
  const seconds = Math.floor(momentUs / 1e6);
  const parts = clock.formatToParts(seconds * 1000);
  const part = (name: string) => Number(parts.find(({ type }) => type === name)?.value);
  const day = [part("year"), part("month") - 1, part("day")] as const;
  const local = Date.UTC(...day, part("hour"), part("minute"), part("second")) / 1000;
  return (local - seconds) * 1e6;
}

/** A UTC time from a number of seconds (`unitUs` is a million) or milliseconds (a thousand). */
export function since1970(value: unknown, unitUs: number): Instant | null {
  const count = number(value);
  if (count === null || Math.abs(count) * unitUs > LATEST_US) return null;
  return plausible(Math.floor(count * unitUs), 0);
}

function plausible(momentUs: number, offsetUs: number): Instant | null {
  if (momentUs < 0 || momentUs >= LATEST_US) return null;
  return { momentUs, localUs: momentUs + offsetUs };
}

/** The time `us` microseconds later. */
export function later({ momentUs, localUs }: Instant, us: number): Instant {
  return { momentUs: momentUs + us, localUs: localUs + us };
}

export function fixAt(at: Instant | null, where: LatLng | null): Fix | null {
  if (at === null || where === null) return null;
  return { lat: where.lat, lng: where.lng, momentUs: at.momentUs, localUs: at.localUs };
}

/**
 * Places at evenly spaced times: the first at the beginning, the last at the end.
 *
 * Without an end, all are at the beginning. Without a beginning, all are null.
 */
export function spread(
  begin: Instant | null,
  end: Instant | null,
  places: readonly (LatLng | null)[],
): (Fix | null)[] {
  if (begin === null || (end !== null && end.momentUs < begin.momentUs)) {
    return places.map(() => null);
  }
  const whole = BigInt(end === null ? 0 : end.momentUs - begin.momentUs);
  const steps = BigInt(Math.max(1, places.length - 1));
  return places.map((where, k) =>
    fixAt(later(begin, Number((whole * BigInt(k)) / steps)), where),
  );
}

/** Fixes sorted by time, in a stable order, without duplicates of a place at the same time. */
export function ordered(fixes: readonly Fix[]): Fix[] {
  const sorted = [...fixes].sort((a, b) => a.momentUs - b.momentUs);
  const distinct: Fix[] = [];
  let places = new Set<string>();
  let moment = -1;
  for (const fix of sorted) {
    if (fix.momentUs !== moment) {
      places = new Set();
      moment = fix.momentUs;
    }
    const key = `${fix.lat + 0} ${fix.lng + 0}`;
    if (!places.has(key)) distinct.push(fix);
    places.add(key);
  }
  return distinct;
}

export type Entries = AsyncIterable<Fix | null>;

/** An object of a JSON file whose members are unchecked, or null. */
export type Loose = { readonly [name: string]: unknown } | null;

export function loose(value: unknown): Loose {
  const isMap = typeof value === "object" && value !== null && !Array.isArray(value);
  return isMap ? (value as Loose) : null;
}

/** The value of a member of an object; undefined if there is none. */
export function member(value: unknown, name: string): unknown {
  const members = loose(value);
  return members !== null && Object.hasOwn(members, name) ? members[name] : undefined;
}

export function listed(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
