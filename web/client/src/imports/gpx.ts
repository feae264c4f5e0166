/** GPX 1.0 and 1.1: every track segment is a trajectory; waypoints and routes are skipped. */

import { instant, place, type TrackPoint } from "./fixes.js";
import { type Extracted, oneTrajectory, combined, untimed } from "./extracted.js";
import type { Chunks } from "./source.js";
import { type Attributes, XmlStream } from "./xml_stream.js";

export async function gpxTrajectories(chunks: Chunks, zone: string | null): Promise<Extracted> {
  const gpx = new Gpx(zone);
  for await (const _ of gpx.feed(chunks));
  return combined(gpx.segments.map(oneTrajectory));
}

class Gpx extends XmlStream {
  readonly segments: (TrackPoint | null)[][] = [];

  constructor(readonly zone: string | null) {
    super();
  }

  protected override start(name: string, attributes: Attributes): boolean {
    const parent = this.open.at(-1);
    if (name === "trkseg") this.segments.push([]);
    else if (name === "trkpt" && parent === "trkseg") {
      const where = place(attributes.get("lat"), attributes.get("lon"));
      this.segments.at(-1)!.push(where && untimed(where));
    }
    return name === "time" && parent === "trkpt";
  }

  protected override end(name: string, text: string): void {
    if (name !== "time" || this.open.at(-1) !== "trkpt") return;
    const segment = this.segments.at(-1) ?? [];
    const point = segment.pop();
    if (point !== undefined)
      segment.push(point && { ...point, ...instant(text.trim(), this.zone) });
  }
}
