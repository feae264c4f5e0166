/**
 * A report of one trajectory, and a simulated report, which cannot be sent.
 *
 * Only `Report.draw` creates a `Report`, and only with fresh system randomness. Code that sends
 * reports checks `Report.is`, which rejects casts, copies and look-alikes.
 */

import { NotPrivateError } from "./errors.js";
import { drawing, type Trajectory, type Mechanism, type Released } from "./mechanism.js";
import type { SimulatedStream } from "./seeded.js";
import { SystemRandom } from "./randomness.js";

const CREATED_HERE = Symbol("made by Report.draw");

/** A report that may be sent, drawn with system randomness at the cost of the mechanism's epsilon. */
export class Report implements Released {
  readonly simulated = false;
  readonly #released: Released;

  private constructor(
    key: symbol,
    readonly mechanism: Mechanism,
    released: Released,
  ) {
    if (key !== CREATED_HERE) {
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

  /** Draw one report of one trajectory. Each call uses epsilon again. */
  static draw(mechanism: Mechanism, trajectory: Trajectory, hour?: number): Report {
    const source = new SystemRandom();
    const choose = drawing(() => source.next());
    return new Report(CREATED_HERE, mechanism, mechanism.perturb(trajectory, choose, hour));
  }

  /** Whether a value is a `Report` and may be sent, whatever its type claims. */
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

/** A possible report, for previews and experiments. It cannot be sent. */
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
    stream: SimulatedStream,
    hour?: number,
  ): SimulatedReport {
    const choose = drawing(() => stream.next());
    const { values, number } = mechanism.perturb(trajectory, choose, hour);
    return new SimulatedReport(mechanism, values, number);
  }
}
