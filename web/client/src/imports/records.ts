/**
 * Google Takeout until 2024: Records.json, and the months of a Semantic Location History.
 *
 * Restates `nomadp.formats.records`.
 */

import type { LatLng } from "../geometry.js";
import {
  e7Place,
  type Entries,
  type Fix,
  fixAt,
  type Instant,
  instant,
  listed,
  loose,
  member,
  since1970,
  spread,
} from "./fixes.js";
import type { JsonStream } from "./json_stream.js";

const MILLISECOND_US = 1000;

/** The fixes of Records.json, at any size. */
export async function* recordFixes(stream: JsonStream, zone: string | null): Entries {
  for await (const name of stream.members()) {
    if (name === "locations") {
      for await (const record of stream.elements()) {
        yield fixAt(when(record, "timestamp", zone), where(record));
      }
    } else {
      await stream.skip();
    }
  }
}

/** The fixes of one monthly file. */
export async function* monthFixes(stream: JsonStream, zone: string | null): Entries {
  for await (const name of stream.members()) {
    if (name === "timelineObjects") {
      for await (const object of stream.elements()) yield* objectFixes(object, zone);
    } else {
      await stream.skip();
    }
  }
}

/** A visit has a fix at its begin and its end; an activity also has its known path in between. */
function* objectFixes(object: unknown, zone: string | null): Generator<Fix | null> {
  const visit = filled(member(object, "placeVisit"));
  const activity = filled(member(object, "activitySegment"));
  if (visit !== null) {
    const there =
      where(member(visit, "location")) ??
      where(listed(member(visit, "otherCandidateLocations"))[0]);
    yield* spread(...endsOf(visit, zone), [there, there]);
  }
  if (activity !== null) {
    const [from, to] = ["startLocation", "endLocation"].map((name) =>
      where(member(activity, name)),
    );
    const timed = listed(member(member(activity, "simplifiedRawPath"), "points")).map((point) =>
      fixAt(when(point, "timestamp", zone), where(point)),
    );
    const hasTimes = timed.some((fix) => fix !== null);
    const waypoints = hasTimes
      ? []
      : listed(member(member(activity, "waypointPath"), "waypoints"));
    yield* spread(...endsOf(activity, zone), [from!, ...waypoints.map(where), to!]);
    yield* timed;
  }
  if (visit === null && activity === null) yield null;
}

/** An object that has members; otherwise null. */
function filled(value: unknown): unknown {
  const members = loose(value);
  return members !== null && Object.keys(members).length > 0 ? members : null;
}

function endsOf(whole: unknown, zone: string | null): [Instant | null, Instant | null] {
  const duration = member(whole, "duration");
  return [when(duration, "startTimestamp", zone), when(duration, "endTimestamp", zone)];
}

/** The time in the member `name` as text, or in `name` + "Ms" as a number. */
function when(object: unknown, name: string, zone: string | null): Instant | null {
  return (
    instant(member(object, name), zone) ??
    since1970(member(object, `${name}Ms`), MILLISECOND_US)
  );
}

/** The point of an object: places have latitudeE7, paths have latE7. */
function where(object: unknown): LatLng | null {
  return (
    e7Place(member(object, "latitudeE7"), member(object, "longitudeE7")) ??
    e7Place(member(object, "latE7"), member(object, "lngE7"))
  );
}
