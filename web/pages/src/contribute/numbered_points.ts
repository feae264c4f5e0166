/** Points of a journey with their position in it, which the map shows beside them. */
import type { Position } from "../api";

export interface Numbered {
  readonly number: number;
  readonly at: Position;
}

export function inOrder(places: readonly Position[]): Numbered[] {
  return places.map((at, k) => ({ number: k + 1, at }));
}
