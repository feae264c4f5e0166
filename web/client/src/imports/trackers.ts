/**
 * Trackers that send to a server of one's own: OwnTracks and Overland.
 *
 * Restates `nomadp.formats.owntracks`: the OwnTracks recorder's lines of time, kind and JSON; OwnTracks
 * JSON, one object or many; and Overland's batches of GeoJSON points.
 */

import {
  type Entries,
  type Fix,
  fixAt,
  instant,
  listed,
  loose,
  member,
  place,
  since1970,
} from "./fixes.js";
import type { JsonStream } from "./json_stream.js";
import { lines } from "./lines.js";
import type { Chunks } from "./source.js";

const SECOND_US = 1_000_000;

/** The fixes of a recorder's file (.rec). */
export async function* recordedFixes(chunks: Chunks): Entries {
  for await (const line of lines(chunks)) {
    const parts = line.split("\t");
    const payload = (parts.length > 2 ? parts.slice(2).join("\t") : parts.at(-1)!).trim();
    // Other kinds of lines contain no JSON.
    if (payload.startsWith("{")) yield* located(parsed(payload));
  }
}

/** The fixes of OwnTracks objects, one after the other or in an array. */
export async function* ownTracksFixes(stream: JsonStream): Entries {
  for (let mark = await stream.peek(); mark; mark = await stream.peek()) {
    if (mark === "[") {
      for await (const message of stream.elements()) yield* located(message);
    } else {
      yield* located(await stream.value());
    }
  }
}

function* located(message: unknown): Generator<Fix | null> {
  if (loose(message) === null) yield null;
  else if (member(message, "_type") === "location") {
    const where = place(member(message, "lat"), member(message, "lon"));
    yield fixAt(since1970(member(message, "tst"), SECOND_US), where);
  }
}

function parsed(payload: string): unknown {
  try {
    return JSON.parse(payload) as unknown;
  } catch {
    return null;
  }
}

/** The fixes of Overland batches, one after the other. */
export async function* overlandFixes(stream: JsonStream, zone: string | null): Entries {
  while (await stream.peek()) {
    for await (const name of stream.members()) {
      if (name === "locations") {
        for await (const feature of stream.elements()) yield overlandFix(feature, zone);
      } else {
        await stream.skip();
      }
    }
  }
}

function overlandFix(feature: unknown, zone: string | null): Fix | null {
  const geometry = member(feature, "geometry");
  const [lng, lat] = listed(member(geometry, "coordinates"));
  if (member(geometry, "type") !== "Point") return null;
  const at = instant(member(member(feature, "properties"), "timestamp"), zone);
  return fixAt(at, place(lat, lng));
}
