/** How far outside the area of a task the map shows a journey. */
import type { Position } from "../api";
import type { Box } from "../features";

const MARGIN = 0.5;
/** The smallest margin, for areas as small as a street. */
const LEAST_DEGREES = 0.02;

/** Whether a position is in the area, or outside it by at most half of its longer side. */
export function isAround([low, high]: Box, at: Position): boolean {
  const side = Math.max(high[0] - low[0], high[1] - low[1]);
  const margin = Math.max(MARGIN * side, LEAST_DEGREES);
  return ([0, 1] as const).every(
    (axis) => at[axis] >= low[axis] - margin && at[axis] <= high[axis] + margin,
  );
}
