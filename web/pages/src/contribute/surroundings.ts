/** How far around a task's area a journey is on the map: a map of half the world shows nothing. */
import type { Position } from "../api";
import type { Box } from "../features";

const MARGIN = 0.5;
/** So that an area as small as a street has surroundings, too. */
const LEAST_DEGREES = 0.02;

/** Whether a place is in the area, or beside it by no more than half of its longer side. */
export function isAround([low, high]: Box, at: Position): boolean {
  const side = Math.max(high[0] - low[0], high[1] - low[1]);
  const beside = Math.max(MARGIN * side, LEAST_DEGREES);
  return ([0, 1] as const).every(
    (axis) => at[axis] >= low[axis] - beside && at[axis] <= high[axis] + beside,
  );
}
