/**
 * Google Timeline as phones export it: Android's object and iOS's array of segments.
 *
 * Restates `nomadp.formats.timeline`. `userLocationProfile`, which says where somebody lives and
 * works, is never parsed: the scanner passes over it.
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
const MINUTES_MOST = 1e6;

/** Of a whole export, either shape; null for each entry that cannot be understood. */
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

/** A segment may hold a path beside a visit or an activity; memories of trips hold none. */
function* segmentFixes(segment: unknown, zone: string | null): Generator<Fix | null> {
  if (loose(segment) === null) {
    yield null;
    return;
  }
  const clock = member(segment, "startTimeTimezoneUtcOffsetMinutes");
  const begin = instant(member(segment, "startTime"), zone, clock);
  const end = instant(member(segment, "endTime"), zone, clock);
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

/** Positions only; scans for networks and guesses of activity are passed over. */
function* rawFixes(signal: unknown, zone: string | null): Generator<Fix | null> {
  const position = loose(member(signal, "position"));
  if (position !== null) {
    yield fixAt(instant(member(position, "timestamp"), zone), where(position));
  }
}

/** At its own time if it has a valid one, otherwise so many minutes after the beginning. */
function pathFix(
  point: unknown,
  begin: Instant | null,
  end: Instant | null,
  zone: string | null,
): Fix | null {
  const time = member(point, "time");
  let at = instant(time, zone);
  if (at !== null && begin !== null && String(time).endsWith("Z")) {
    // A time in UTC, by the clock of its segment.
    at = { ...at, localUs: at.momentUs + begin.localUs - begin.momentUs };
  }
  at ??= after(begin, end, member(point, "durationMinutesOffsetFromStartTime"));
  return fixAt(at, textPlace(member(point, "point")));
}

/** Null of a number that is negative or leads beyond the segment. */
function after(begin: Instant | null, end: Instant | null, minutes: unknown): Instant | null {
  const count = number(minutes);
  if (begin === null || end === null || count === null) return null;
  if (count < 0 || count > MINUTES_MOST) return null;
  const us = roundHalfEven(count * MINUTE_US);
  return begin.momentUs + us > end.momentUs ? null : later(begin, us);
}

/** Text, or text under latLng, which raw signals spell LatLng. */
function where(value: unknown): LatLng | null {
  if (loose(value) === null) return textPlace(value);
  return textPlace(member(value, "latLng") ?? member(value, "LatLng"));
}
