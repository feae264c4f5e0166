/** Mechanisms: short programs around one function, `choose`, their only source of randomness. */

import { asEpsilon, MIN_EPSILON } from "./budget.js";
import { BudgetError } from "./errors.js";
import type { Fraction } from "./fraction.js";
import type { Law } from "./laws/law.js";
import type { LocationSet } from "./locations.js";
import type { Word } from "./randomness.js";

/** A private trajectory: indices into a public location set, in order. */
export type Trajectory = ArrayLike<number>;

/** Makes one random choice by a law; `step` names the step of the budget split that it uses. */
export type Choose = <Secret, Output>(
  step: string,
  law: Law<Secret, Output>,
  secret: Secret,
) => Output;

/** What a mechanism releases for one trajectory. It costs epsilon. */
export interface Released {
  /** The reported locations, or the numbers that a frequency oracle reports. */
  readonly values: readonly number[];
  /** The index of the codeword, if the mechanism reports one. */
  readonly number: number | null;
}

/** A mechanism: public parameters with an exact law. It contains no data and no randomness. */
export interface Mechanism {
  readonly name: string;
  /** The law of a pair (name, version) never changes. */
  readonly version: number;
  /** The privacy budget of one report of a whole trajectory. */
  readonly epsilon: Fraction;
  readonly locations: LocationSet;
  /** Whether the mechanism also reads the hour of a trajectory. */
  readonly timed: boolean;
  /** The number of random words that a report of a trajectory of this length takes. */
  wordCount(length: number): number;
  /** Perturb a trajectory; `hour` is the hour of the week, where 0 is Monday from 0 to 1 h. */
  perturb(trajectory: Trajectory, choose: Choose, hour?: number): Released;
}

/** A `Choose` that draws from the laws with these random words. */
export function drawing(word: Word): Choose {
  return (_step, law, secret) => law.draw(secret, word);
}

/** The epsilon of a whole trajectory, within the range for which the laws' arithmetic is proved. */
export function checkedEpsilon(value: string | number | Fraction): Fraction {
  const epsilon = asEpsilon(value);
  if (epsilon.compare(MIN_EPSILON) < 0) {
    throw new BudgetError(`epsilon must be a number from 1e-06 to 20, got epsilon=${epsilon}`, {
      code: "epsilon_out_of_range",
    });
  }
  return epsilon;
}
