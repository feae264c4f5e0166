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

/** Of Records.json, at any size. */
export async function* recordFixes(stream: JsonStream, zone: string | null): Entries {
  for await (const name of stream.members()) {
    if (name === "locations") {
      for await (const each of stream.elements()) {
        yield fixAt(when(each, "timestamp", zone), where(each));
      }
    } else {
      await stream.skip();
    }
  }
}

/** Of one month. */
export async function* monthFixes(stream: JsonStream, zone: string | null): Entries {
  for await (const name of stream.members()) {
    if (name === "timelineObjects") {
      for await (const each of stream.elements()) yield* objectFixes(each, zone);
    } else {
      await stream.skip();
    }
  }
}

/** A visit when it begins and ends; an activity's ends and what is known between. */
function* objectFixes(each: unknown, zone: string | null): Generator<Fix | null> {
  const visit = filled(member(each, "placeVisit"));
  const activity = filled(member(each, "activitySegment"));
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
    const known = timed.some((fix) => fix !== null);
    const way = known ? [] : listed(member(member(activity, "waypointPath"), "waypoints"));
    yield* spread(...endsOf(activity, zone), [from!, ...way.map(where), to!]);
    yield* timed;
  }
  if (visit === null && activity === null) yield null;
}

function filled(value: unknown): unknown {
  const found = loose(value);
  return found !== null && Object.keys(found).length > 0 ? found : null;
}

function endsOf(whole: unknown, zone: string | null): [Instant | null, Instant | null] {
  const duration = member(whole, "duration");
  return [when(duration, "startTimestamp", zone), when(duration, "endTimestamp", zone)];
}

/** Under its name as text, or under its name and Ms as a number. */
function when(found: unknown, name: string, zone: string | null): Instant | null {
  return (
    instant(member(found, name), zone) ?? since1970(member(found, `${name}Ms`), MILLISECOND_US)
  );
}

/** Paths say latE7 where places say latitudeE7. */
function where(found: unknown): LatLng | null {
  return (
    e7Place(member(found, "latitudeE7"), member(found, "longitudeE7")) ??
    e7Place(member(found, "latE7"), member(found, "lngE7"))
  );
}
