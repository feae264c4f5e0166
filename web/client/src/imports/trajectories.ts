/** A history cut into trajectories at gaps, and trajectories by the day on which they begin. */

import { HOURS } from "../oracles.js";
import type { TrackPoint } from "./fixes.js";

/** A history of months is no trajectory: gaps longer than this split it, by default. */
export const SPLIT_HOURS = 3;
const HOUR_US = 3_600_000_000;
const DAY_US = 24 * HOUR_US;
/** 1970 began on a Thursday, three days after a Monday. */
const FIRST_HOUR = 3 * 24;

/** A new trajectory begins after a gap of more than this many hours; without times there is one. */
export function splitAtGaps(
  points: readonly TrackPoint[],
  hours: number,
): (readonly TrackPoint[])[] {
  const trajectories: TrackPoint[][] = [];
  let before: number | null = null;
  for (const point of points) {
    const { momentUs } = point;
    const gap = momentUs === null || before === null ? 0 : momentUs - before;
    if (trajectories.length === 0 || gap > hours * HOUR_US) trajectories.push([]);
    trajectories.at(-1)!.push(point);
    before = momentUs;
  }
  return trajectories;
}

/** A day as its clock named it (2024-05-06, or empty where there is no time) and its trajectories. */
export interface Day {
  readonly date: string;
  readonly trajectories: readonly (readonly TrackPoint[])[];
}

/** By the local day on which each begins, the first day first. */
export function byDay(trajectories: readonly (readonly TrackPoint[])[]): Day[] {
  const days = new Map<string, (readonly TrackPoint[])[]>();
  for (const trajectory of trajectories) {
    const local = trajectory[0]?.localUs ?? null;
    const day = local === null ? null : Math.floor(local / DAY_US) * DAY_US;
    const date = day === null ? "" : new Date(day / 1000).toISOString().slice(0, 10);
    days.set(date, [...(days.get(date) ?? []), trajectory]);
  }
  const sorted = [...days].sort(([a], [b]) => (a < b ? -1 : Number(a > b)));
  return sorted.map(([date, found]) => ({ date, trajectories: found }));
}

/** The hour of the week at which a trajectory begins by its own clock, from Monday 0 h on. */
export function hourOfWeek(trajectory: readonly TrackPoint[]): number | null {
  const local = trajectory[0]?.localUs ?? null;
  if (local === null) return null;
  return (((Math.floor(local / HOUR_US) + FIRST_HOUR) % HOURS) + HOURS) % HOURS;
}
