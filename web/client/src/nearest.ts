/** A k-d tree over points of the unit sphere, for nearest-neighbour search. */

/** Points in three dimensions, split at the median of their widest axis again and again. */
export class SearchTree {
  readonly #points: Float64Array;
  readonly #order: Int32Array;
  readonly #axis: Uint8Array;

  /** `points` contains x, y and z of each point, one point after the other. */
  constructor(points: Float64Array) {
    const count = points.length / 3;
    this.#points = points;
    this.#order = Int32Array.from({ length: count }, (_, k) => k);
    this.#axis = new Uint8Array(count);
    this.#split(0, count);
  }

  /** All points at most `slack` farther than the nearest one. */
  nearest(vector: readonly number[], slack: number): number[] {
    const nearest = { square: Infinity };
    this.#descend(vector, 0, this.#order.length, nearest, null);
    const radius = Math.sqrt(nearest.square) + slack;
    const points: number[] = [];
    this.#descend(vector, 0, this.#order.length, { square: radius * radius }, points);
    return points;
  }

  #split(from: number, to: number): void {
    if (to - from < 2) return;
    const points = this.#order.subarray(from, to);
    const axis = this.#widestAxis(points);
    points.sort((a, b) => this.#points[3 * a + axis]! - this.#points[3 * b + axis]!);
    const middle = (from + to) >> 1;
    this.#axis[middle] = axis;
    this.#split(from, middle);
    this.#split(middle + 1, to);
  }

  #widestAxis(points: Int32Array): number {
    const width = [0, 1, 2].map((axis) => {
      let [low, high] = [Infinity, -Infinity];
      for (const k of points) {
        const value = this.#points[3 * k + axis]!;
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
      return high - low;
    });
    return width.indexOf(Math.max(...width));
  }

  /** Shrink `radius` to the nearest point or, given a list, add all points within it to the list. */
  #descend(
    vector: readonly number[],
    from: number,
    to: number,
    radius: { square: number },
    within: number[] | null,
  ): void {
    if (from >= to) return;
    const middle = (from + to) >> 1;
    const point = this.#order[middle]!;
    const square = this.#square(vector, point);
    if (square <= radius.square) {
      if (within === null) radius.square = square;
      else within.push(point);
    }
    const axis = this.#axis[middle]!;
    const beyond = vector[axis]! - this.#points[3 * point + axis]!;
    const halves = [
      [from, middle],
      [middle + 1, to],
    ] as const;
    const [near, far] = beyond < 0 ? halves : [halves[1], halves[0]];
    this.#descend(vector, ...near, radius, within);
    // The far half can only contain a closer point if the splitting plane is within the radius.
    if (beyond * beyond <= radius.square) this.#descend(vector, ...far, radius, within);
  }

  #square(vector: readonly number[], point: number): number {
    const x = vector[0]! - this.#points[3 * point]!;
    const y = vector[1]! - this.#points[3 * point + 1]!;
    const z = vector[2]! - this.#points[3 * point + 2]!;
    return x * x + y * y + z * z;
  }
}
