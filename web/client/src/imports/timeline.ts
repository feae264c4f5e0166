/**
 * Google Timeline as phones export it: an object on Android, an array of segments on iOS.
 *
 * Restates `nomadp.formats.timeline`. `userLocationProfile`, which contains home and work addresses,
 * is skipped and never parsed.
 */

import { roundHalfEven } from "../geometry.js";
import type { LatLng } from "../geometry.js";
import {
  type Entries,
  type Fix,
  fixAt,
  type Instant,
  instant,
  later,
  listed,
  loose,
  member,
  number,
  spread,
  textPlace,
} from "./fixes.js";
import type { JsonStream } from "./json_stream.js";

const MINUTE_US = 60_000_000;
const MINUTES_MAX = 1e6;

/** The fixes of an export of either form; null for each entry that cannot be read. */
export async function* timelineFixes(
  stream: JsonStream,
  zone: string | null,
  rawSignals: boolean,
): Entries {
  if ((await stream.peek()) === "[") {
    for await (const segment of stream.elements()) yield* segmentFixes(segment, zone);
    return;
  }
  for await (const name of stream.members()) {
    if (name === "semanticSegments") {
      for await (const segment of stream.elements()) yield* segmentFixes(segment, zone);
    } else if (name === "rawSignals" && rawSignals) {
      for await (const signal of stream.elements()) yield* rawFixes(signal, zone);
    } else {
      await stream.skip();
    }
  }
}

/** The fixes of a segment: a path, and a visit or an activity. Memories of trips have none. */
function* segmentFixes(segment: unknown, zone: string | null): Generator<Fix | null> {
  if (loose(segment) === null) {
    yield null;
    return;
  }
  const offset = member(segment, "startTimeTimezoneUtcOffsetMinutes");
  const begin = instant(member(segment, "startTime"), zone, offset);
  const end = instant(member(segment, "endTime"), zone, offset);
  for (const point of listed(member(segment, "timelinePath"))) {
    yield pathFix(point, begin, end, zone);
  }
  const visit = loose(member(segment, "visit"));
  if (visit !== null) {
    const there = where(member(member(visit, "topCandidate"), "placeLocation"));
    yield* spread(begin, end, [there, there]);
  }
  const activity = loose(member(segment, "activity"));
  if (activity !== null) {
    const ends = ["start", "end"].map((name) => where(member(activity, name)));
    yield* spread(begin, end, ends);
  }
}

/** The fix of a position; network scans and activity guesses are skipped. */
function* rawFixes(signal: unknown, zone: string | null): Generator<Fix | null> {
  const position = loose(member(signal, "position"));
  if (position !== null) {
    yield fixAt(instant(member(position, "timestamp"), zone), where(position));
  }
}

/** A point of a path, at its own time or at a number of minutes after the segment begins. */
function pathFix(
  point: unknown,
  begin: Instant | null,
  end: Instant | null,
  zone: string | null,
): Fix | null {
  const time = member(point, "time");
  let at = instant(time, zone);
  if (at !== null && begin !== null && String(time).endsWith("Z")) {
    // A UTC time gets the offset of its segment.
    at = { ...at, localUs: at.momentUs + begin.localUs - begin.momentUs };
  }
  at ??= after(begin, end, member(point, "durationMinutesOffsetFromStartTime"));
  return fixAt(at, textPlace(member(point, "point")));
}

/** The time this many minutes after the beginning; null if it is outside the segment. */
function after(begin: Instant | null, end: Instant | null, minutes: unknown): Instant | null {
  const count = number(minutes);
  if (begin === null || end === null || count === null) return null;
  if (count < 0 || count > MINUTES_MAX) return null;
  const us = roundHalfEven(count * MINUTE_US);
  return begin.momentUs + us > end.momentUs ? null : later(begin, us);
}

/** A point from text, or from the member latLng (LatLng in raw signals). */
function where(value: unknown): LatLng | null {
  if (loose(value) === null) return textPlace(value);
  return textPlace(member(value, "latLng") ?? member(value, "LatLng"));
}
