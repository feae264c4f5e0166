/** Points of a journey with their places in it, which the map writes beside them. */
import type { Position } from "../api";

export interface Numbered {
  readonly number: number;
  readonly at: Position;
}

export function inOrder(places: readonly Position[]): Numbered[] {
  return places.map((at, k) => ({ number: k + 1, at }));
}
