/**
 * One person's history: places with their moments, as importers find them.
 *
 * Restates `nomadp.formats.fixes`. Moments are whole microseconds since 1970, in UTC and as the
 * clock showed where it was: below 2^53 until the year 2200.
 */

import { type LatLng, onEarth } from "../geometry.js";

/** The year 2200: what a clock says beyond is a mistake. */
const LATEST_US = 7_258_118_400_000_000;
const FAR_OFFSET_MINUTES = 18 * 60;
const MINUTE_US = 60_000_000;
/** Some old files have E7 numbers that ran over: they are so much too large. */
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
  /** What the clock showed. */
  readonly localUs: number;
}

/** A place at a moment. */
export interface Fix extends LatLng, Instant {}

/** A point of a trajectory; without a time where the file has none. */
export interface TrackPoint extends LatLng {
  readonly momentUs: number | null;
  readonly localUs: number | null;
}

/** A finite number, also one written as text. */
export function number(value: unknown): number | null {
  const found = typeof value === "string" && NUMBER.test(value) ? Number(value) : value;
  return typeof found === "number" && Number.isFinite(found) ? found : null;
}

/** Two numbers, if they are degrees; a longitude beyond the date line is wrapped. */
export function place(lat: unknown, lng: unknown): LatLng | null {
  return onEarth(number(lat), number(lng));
}

/** From `40.7128°, -74.006°` or `geo:40.7128,-74.006`; a third number is a height. */
export function textPlace(value: unknown): LatLng | null {
  const written = typeof value === "string" ? PLACE.exec(value) : null;
  return written && place(written[1], written[2]);
}

/** From ten-millionths of a degree. */
export function e7Place(lat: unknown, lng: unknown): LatLng | null {
  return place(e7(lat, 90), e7(lng, 180));
}

function e7(value: unknown, limit: number): number | null {
  const found = number(value);
  return found && (found > limit * 1e7 ? found - WRAP : found) / 1e7;
}

/** From ISO 8601 text; `zone` is for text without one, `offsetMinutes` is of the clock. */
export function instant(
  value: unknown,
  zone: string | null = null,
  offsetMinutes?: unknown,
): Instant | null {
  const written = typeof value === "string" ? MOMENT.exec(value) : null;
  if (written === null) return null;
  const [year, month, day, hour, minute] = written.slice(1, 6).map(Number) as number[];
  const second = Number(written[6] ?? 0);
  const shown = new Date(Date.UTC(year!, month! - 1, day, hour, minute, second));
  const text = shown.toISOString().slice(0, 16).replace("T", " ");
  if (text !== (value as string).slice(0, 16).replace("T", " ") || second > 59) return null;
  const rest = Number((written[7] ?? "").padEnd(6, "0").slice(0, 6));
  const localUs = shown.getTime() * 1000 + rest;
  const offsetUs = written[8] === undefined ? zoneOffset(localUs, zone) : offsetOf(written[8]);
  if (offsetUs === null) return null;
  const said = number(offsetMinutes);
  const clock =
    said !== null && Math.abs(said) <= FAR_OFFSET_MINUTES ? said * MINUTE_US : offsetUs;
  return plausible(localUs - offsetUs, clock);
}

function offsetOf(text: string): number | null {
  if (text === "Z") return 0;
  const [hours, minutes] = [Number(text.slice(1, 3)), Number(text.slice(-2))];
  if (hours > 23 || minutes > 59) return null;
  return (text.startsWith("-") ? -1 : 1) * (60 * hours + minutes) * MINUTE_US;
}

/** How far the clocks of a zone were ahead when they showed this. */
function zoneOffset(localUs: number, zone: string | null): number | null {
  if (zone === null) return null;
  const first = localUs - aheadUs(localUs, zone);
  return aheadUs(first, zone);
}

const clocks = new Map<string, Intl.DateTimeFormat>();

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
  const shown = Date.UTC(...day, part("hour"), part("minute"), part("second")) / 1000;
  return (shown - seconds) * 1e6;
}

/** From a number of seconds (`unitUs` is a million) or milliseconds (a thousand); UTC. */
export function since1970(value: unknown, unitUs: number): Instant | null {
  const found = number(value);
  if (found === null || Math.abs(found) * unitUs > LATEST_US) return null;
  return plausible(Math.floor(found * unitUs), 0);
}

function plausible(momentUs: number, offsetUs: number): Instant | null {
  if (momentUs < 0 || momentUs >= LATEST_US) return null;
  return { momentUs, localUs: momentUs + offsetUs };
}

/** The same, so much later. */
export function later({ momentUs, localUs }: Instant, us: number): Instant {
  return { momentUs: momentUs + us, localUs: localUs + us };
}

export function fixAt(at: Instant | null, where: LatLng | null): Fix | null {
  if (at === null || where === null) return null;
  return { lat: where.lat, lng: where.lng, momentUs: at.momentUs, localUs: at.localUs };
}

/**
 * The first at the beginning, the last at the end, the others evenly between.
 *
 * Without an end, all are at the beginning; nothing without a beginning.
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

/** In order of time, equal times in the order of the file; a place twice at a time once. */
export function ordered(fixes: readonly Fix[]): Fix[] {
  const sorted = [...fixes].sort((a, b) => a.momentUs - b.momentUs);
  const found: Fix[] = [];
  let here = new Set<string>();
  let moment = -1;
  for (const fix of sorted) {
    if (fix.momentUs !== moment) {
      here = new Set();
      moment = fix.momentUs;
    }
    const key = `${fix.lat + 0} ${fix.lng + 0}`;
    if (!here.has(key)) found.push(fix);
    here.add(key);
  }
  return found;
}

export type Entries = AsyncIterable<Fix | null>;

/** A value that may be an object, to look into. */
export type Loose = { readonly [name: string]: unknown } | null;

export function loose(value: unknown): Loose {
  const isMap = typeof value === "object" && value !== null && !Array.isArray(value);
  return isMap ? (value as Loose) : null;
}

/** What an object holds under its own name. */
export function member(value: unknown, name: string): unknown {
  const found = loose(value);
  return found !== null && Object.hasOwn(found, name) ? found[name] : undefined;
}

export function listed(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
