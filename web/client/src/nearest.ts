/** A k-d tree over points of the unit sphere: what is near a point, without looking at all. */

/** Points in three dimensions, halved again and again across their widest side. */
export class SearchTree {
  readonly #points: Float64Array;
  readonly #order: Int32Array;
  readonly #axis: Uint8Array;

  /** Of x, y, z for each point, one after the other. */
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
    const reach = Math.sqrt(nearest.square) + slack;
    const found: number[] = [];
    this.#descend(vector, 0, this.#order.length, { square: reach * reach }, found);
    return found;
  }

  #split(from: number, to: number): void {
    if (to - from < 2) return;
    const some = this.#order.subarray(from, to);
    const axis = this.#widest(some);
    some.sort((a, b) => this.#points[3 * a + axis]! - this.#points[3 * b + axis]!);
    const middle = (from + to) >> 1;
    this.#axis[middle] = axis;
    this.#split(from, middle);
    this.#split(middle + 1, to);
  }

  #widest(some: Int32Array): number {
    const width = [0, 1, 2].map((axis) => {
      let [low, high] = [Infinity, -Infinity];
      for (const k of some) {
        const value = this.#points[3 * k + axis]!;
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
      return high - low;
    });
    return width.indexOf(Math.max(...width));
  }

  /** Shrink `reach` to the nearest point or, with a list, put into it all within reach. */
  #descend(
    vector: readonly number[],
    from: number,
    to: number,
    reach: { square: number },
    found: number[] | null,
  ): void {
    if (from >= to) return;
    const middle = (from + to) >> 1;
    const point = this.#order[middle]!;
    const square = this.#square(vector, point);
    if (square <= reach.square) {
      if (found === null) reach.square = square;
      else found.push(point);
    }
    const axis = this.#axis[middle]!;
    const beyond = vector[axis]! - this.#points[3 * point + axis]!;
    const halves = [
      [from, middle],
      [middle + 1, to],
    ] as const;
    const [near, far] = beyond < 0 ? halves : [halves[1], halves[0]];
    this.#descend(vector, ...near, reach, found);
    if (beyond * beyond <= reach.square) this.#descend(vector, ...far, reach, found);
  }

  #square(vector: readonly number[], point: number): number {
    const x = vector[0]! - this.#points[3 * point]!;
    const y = vector[1]! - this.#points[3 * point + 1]!;
    const z = vector[2]! - this.#points[3 * point + 2]!;
    return x * x + y * y + z * z;
  }
}
