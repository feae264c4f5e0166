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

  /**
   * Draw one report of one trajectory. Each call uses epsilon again.
   *
   * `hour` is the hour of the week, where 0 is Monday from 0 to 1 h, for mechanisms that read it.
   *
   * @throws DomainError if a location is not in the mechanism's set; the error does not show it.
   * @throws RandomnessUnavailable if the system provides no randomness.
   */
  static draw(mechanism: Mechanism, trajectory: Trajectory, hour?: number): Report {
    const source = new SystemRandom();
    const choose = drawing(() => source.next());
    return new Report(CREATED_HERE, mechanism, mechanism.perturb(trajectory, choose, hour));
  }

  /** Whether a value is a `Report` and may be sent, whatever its type claims. */
  static is(report: unknown): report is Report {
    return typeof report === "object" && report !== null && #released in report;
  }

  /** The reported locations, or the numbers that a frequency oracle reports. */
  get values(): readonly number[] {
    return this.#released.values;
  }

  /** The index of the codeword, if the mechanism reports one. */
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

  /** Draw a simulated report from words of a `SeededRandom`. */
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
