/** Splits a history into trajectories at gaps, and groups trajectories by day. */

import { HOURS } from "../oracles.js";
import type { TrackPoint } from "./fixes.js";

/** By default, a history is split into trajectories at gaps of more than this many hours. */
export const SPLIT_HOURS = 3;
const HOUR_US = 3_600_000_000;
const DAY_US = 24 * HOUR_US;
/** 1970 began on a Thursday, three days after a Monday. */
const FIRST_HOUR = 3 * 24;

/** Split a history at gaps of more than `hours`. Points without times are not split. */
export function splitAtGaps(
  points: readonly TrackPoint[],
  hours: number,
): (readonly TrackPoint[])[] {
  const trajectories: TrackPoint[][] = [];
  let previousUs: number | null = null;
  for (const point of points) {
    const { momentUs } = point;
    const gap = momentUs === null || previousUs === null ? 0 : momentUs - previousUs;
    if (trajectories.length === 0 || gap > hours * HOUR_US) trajectories.push([]);
    trajectories.at(-1)!.push(point);
    previousUs = momentUs;
  }
  return trajectories;
}

/** A local date (2024-05-06, or empty if there is no time) and its trajectories. */
export interface Day {
  readonly date: string;
  readonly trajectories: readonly (readonly TrackPoint[])[];
}

/** Group trajectories by the local date on which they begin, the earliest first. */
export function byDay(trajectories: readonly (readonly TrackPoint[])[]): Day[] {
  const days = new Map<string, (readonly TrackPoint[])[]>();
  for (const trajectory of trajectories) {
    const local = trajectory[0]?.localUs ?? null;
    const day = local === null ? null : Math.floor(local / DAY_US) * DAY_US;
    const date = day === null ? "" : new Date(day / 1000).toISOString().slice(0, 10);
    days.set(date, [...(days.get(date) ?? []), trajectory]);
  }
  const sorted = [...days].sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
  return sorted.map(([date, ofDay]) => ({ date, trajectories: ofDay }));
}

/** The local hour of the week at which a trajectory begins, counted from Monday 0 h. */
export function hourOfWeek(trajectory: readonly TrackPoint[]): number | null {
  const local = trajectory[0]?.localUs ?? null;
  if (local === null) return null;
  return (((Math.floor(local / HOUR_US) + FIRST_HOUR) % HOURS) + HOURS) % HOURS;
}
