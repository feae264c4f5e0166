/** What every mechanism is: a short program over one `choose`, which alone is random. */

import { asEpsilon, MIN_EPSILON } from "./budget.js";
import { BudgetError } from "./errors.js";
import type { Fraction } from "./fraction.js";
import type { Law } from "./laws/law.js";
import type { LocationSet } from "./locations.js";
import type { Word } from "./randomness.js";

/** Indices into a public location set, in the order of a trajectory: private. */
export type Trajectory = ArrayLike<number>;

/** How a program makes random choices; `step` names the share that a choice uses. */
export type Choose = <Secret, Output>(
  step: string,
  law: Law<Secret, Output>,
  secret: Secret,
) => Output;

/** What one trajectory became: public, at the cost of epsilon. */
export interface Released {
  /** The locations, or the numbers of a label's law, that are reported. */
  readonly values: readonly number[];
  /** The row of the atlas, where a report is one. */
  readonly number: number | null;
}

/** A frozen public value with an exact law. */
export interface Mechanism {
  readonly name: string;
  /** The law of (name, version) never changes. */
  readonly version: number;
  readonly epsilon: Fraction;
  readonly locations: LocationSet;
  /** Whether the hour of a trajectory is read, too. */
  readonly timed: boolean;
  /** How many words a report of a trajectory of this many points takes. */
  wordCount(length: number): number;
  /** What is reported of a trajectory; `hour` is of the week, 0 being Monday from 0 to 1 h. */
  perturb(trajectory: Trajectory, choose: Choose, hour?: number): Released;
}

/** A `Choose` that draws. */
export function drawing(word: Word): Choose {
  return (_step, law, secret) => law.draw(secret, word);
}

/** A whole trajectory's epsilon, where the arithmetic of the laws is proved. */
export function checkedEpsilon(value: string | number | Fraction): Fraction {
  const epsilon = asEpsilon(value);
  if (epsilon.compare(MIN_EPSILON) < 0) {
    throw new BudgetError(`epsilon must be a number from 1e-06 to 20, got epsilon=${epsilon}`, {
      code: "epsilon_out_of_range",
    });
  }
  return epsilon;
}
