/**
 * One report of one trajectory, and what is no report: a simulated one.
 *
 * Only `Report.draw` makes a `Report`, and only with fresh words of the system. Whoever sends
 * asks `Report.is`, which no cast, copy or look-alike passes.
 */

import { NotPrivateError } from "./errors.js";
import { drawing, type Trajectory, type Mechanism, type Released } from "./mechanism.js";
import type { SimulatedStream } from "./seeded.js";
import { SystemRandom } from "./randomness.js";

const OURS = Symbol("made by Report.draw");

/** What may be sent: drawn with the system's words, at the cost of the mechanism's epsilon. */
export class Report implements Released {
  readonly simulated = false;
  readonly #released: Released;

  private constructor(
    ours: symbol,
    readonly mechanism: Mechanism,
    released: Released,
  ) {
    if (ours !== OURS) {
      throw new NotPrivateError("a report must be drawn from a trajectory; use Report.draw", {
        code: "report_not_drawn",
      });
    }
    this.#released = Object.freeze({
      values: Object.freeze([...released.values]),
      number: released.number,
    });
    Object.freeze(this);
  }

  /** One report for one trajectory; each call uses epsilon again. */
  static draw(mechanism: Mechanism, trajectory: Trajectory, hour?: number): Report {
    const words = new SystemRandom();
    const choose = drawing(() => words.next());
    return new Report(OURS, mechanism, mechanism.perturb(trajectory, choose, hour));
  }

  /** Whether this may be sent, whatever its type claims. */
  static is(report: unknown): report is Report {
    return typeof report === "object" && report !== null && #released in report;
  }

  get values(): readonly number[] {
    return this.#released.values;
  }

  get number(): number | null {
    return this.#released.number;
  }
}

/** What a report might be: for previews and experiments, and never sent. */
export class SimulatedReport implements Released {
  readonly simulated = true;

  private constructor(
    readonly mechanism: Mechanism,
    readonly values: readonly number[],
    readonly number: number | null,
  ) {
    Object.freeze(this);
  }

  static draw(
    mechanism: Mechanism,
    trajectory: Trajectory,
    words: SimulatedStream,
    hour?: number,
  ): SimulatedReport {
    const choose = drawing(() => words.next());
    const { values, number } = mechanism.perturb(trajectory, choose, hour);
    return new SimulatedReport(mechanism, values, number);
  }
}
