/**
 * Frequency oracles: a report is about one public label of a trajectory, and nothing else.
 *
 * The label is the zone, or the pair of zones, that the question is about, and, if it asks when,
 * a part of the day or a weekday beside it. All of epsilon is spent on it. A report has the same
 * size for trajectories of every length, and tells of none.
 */

import { DomainError } from "./errors.js";
import type { Fraction } from "./fraction.js";
import { Uniform } from "./laws/response.js";
import type { LabelLaw } from "./laws/labels.js";
import { labelLaw } from "./laws/oracles.js";
import type { LocationSet } from "./locations.js";
import {
  checkedEpsilon,
  type Choose,
  type Trajectory,
  type Mechanism,
  type Released,
} from "./mechanism.js";
import type { Zones } from "./zones.js";

/** Hours of a week. */
export const HOURS = 168;

/** Parts of a week, each a run of hours that comes again and again. */
export const WHEN = {
  "day-part": { hours: 6, names: ["0-6 h", "6-12 h", "12-18 h", "18-24 h"] },
  weekday: { hours: 24, names: ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"] },
} as const;

export type When = keyof typeof WHEN;
export type OracleName = "trips" | "starts" | "ends" | "visits";

export interface OracleOptions {
  readonly epsilon: string | number | Fraction;
  readonly zones: Zones;
  /** The time that the query includes, if any. */
  readonly when?: When;
}

/** A label of each trajectory, reported by subset selection or projective response. */
export abstract class FrequencyOracle implements Mechanism {
  abstract readonly name: OracleName;
  readonly version = 1;
  readonly epsilon: Fraction;
  readonly locations: LocationSet;
  readonly zones: Zones;
  readonly when: When | null;
  #law: LabelLaw | undefined;

  constructor({ epsilon, zones, when }: OracleOptions) {
    if (when !== undefined && !Object.hasOwn(WHEN, when)) {
      throw new DomainError(
        `when must be ${Object.keys(WHEN).join(" or ")}, or left out, got ` +
          `when=${String(when).slice(0, 80)}`,
        { code: "unknown_time_division", choices: Object.keys(WHEN) },
      );
    }
    this.epsilon = checkedEpsilon(epsilon);
    this.zones = zones;
    this.locations = zones.locations;
    this.when = when ?? null;
    void this.channel; // refused now if there are more labels than a law takes
  }

  /** How many answers there are to where. */
  get places(): number {
    return this.zones.size;
  }

  /** How an answer to where is called. */
  placeName(place: number): string {
    return this.zones.names[place]!;
  }

  /** What is asked, of the trajectory's first and last location. */
  protected abstract place(first: number, last: number): number;

  get timed(): boolean {
    return this.when !== null;
  }

  /** The answers to when; one without a name if the query has no time. */
  get slots(): readonly string[] {
    return this.when === null ? [""] : WHEN[this.when].names;
  }

  get labelCount(): number {
    return this.places * this.slots.length;
  }

  /** How a label is called; label `place * slots + slot` is of a place and a slot. */
  labelName(label: number): string {
    const slots = this.slots.length;
    const place = this.placeName(Math.floor(label / slots));
    return this.timed ? `${place}, ${this.slots[label % slots]}` : place;
  }

  /** The law of the report. */
  get channel(): LabelLaw {
    this.#law ??= labelLaw(this.labelCount, this.epsilon);
    return this.#law;
  }

  /** The names of all labels that a report supports. */
  labelsOf(report: readonly number[]): string[] {
    const labels = Array.from({ length: this.labelCount }, (_, label) => label);
    const held = labels.filter((label) => this.channel.supports(report, label));
    return held.map((label) => this.labelName(label));
  }

  wordCount(_length: number): number {
    return this.channel.wordCount;
  }

  perturb(trajectory: Trajectory, choose: Choose, hour?: number): Released {
    this.locations.checkTrajectory(trajectory);
    const slot = this.slot(hour);
    return this.ask(trajectory[0]!, trajectory[trajectory.length - 1]!, slot, choose);
  }

  /** The report of the label that these locations and this part of the week make. */
  protected ask(first: number, last: number, slot: number, choose: Choose): Released {
    const label = this.place(first, last) * this.slots.length + slot;
    return { values: choose("label", this.channel, label), number: null };
  }

  /** The part of the week that an hour is in; 0 if the query has no time. */
  protected slot(hour: number | undefined): number {
    if (this.when === null) return 0;
    if (hour === undefined) {
      throw new DomainError(
        `a question of when (${this.when}) must be given the hour of every trajectory, and got ` +
          "none; use data with times, or ask without when",
        { code: "hour_missing" },
      );
    }
    if (!Number.isSafeInteger(hour) || hour < 0 || hour >= HOURS) {
      throw new DomainError(
        `an hour must be a whole number from 0 to ${HOURS - 1}, of the week from Monday on; ` +
          "its value is withheld because it is private",
        { code: "hour_out_of_range" },
      );
    }
    const { hours, names } = WHEN[this.when];
    return Math.floor(hour / hours) % names.length;
  }
}

/** The pair of zones that a trajectory begins and ends in. */
export class Trips extends FrequencyOracle {
  readonly name = "trips";

  override get places(): number {
    return this.zones.size ** 2;
  }

  override placeName(place: number): string {
    const { names, size } = this.zones;
    return `${names[Math.floor(place / size)]} > ${names[place % size]}`;
  }

  protected place(first: number, last: number): number {
    return this.zones.of(first) * this.zones.size + this.zones.of(last);
  }
}

/** The zone that a trajectory begins in. */
export class Starts extends FrequencyOracle {
  readonly name = "starts";

  protected place(first: number): number {
    return this.zones.of(first);
  }
}

/** The zone that a trajectory ends in. */
export class Ends extends FrequencyOracle {
  readonly name = "ends";

  protected place(_first: number, last: number): number {
    return this.zones.of(last);
  }
}

/** The zone of one point of a trajectory, which the device draws and tells nobody. */
export class Visits extends FrequencyOracle {
  readonly name = "visits";

  protected place(first: number): number {
    return this.zones.of(first);
  }

  override wordCount(length: number): number {
    return 1 + super.wordCount(length);
  }

  override perturb(trajectory: Trajectory, choose: Choose, hour?: number): Released {
    this.locations.checkTrajectory(trajectory);
    const slot = this.slot(hour);
    const point = trajectory[choose("point", new Uniform(trajectory.length), null)]!;
    return this.ask(point, point, slot, choose);
  }
}

/** The questions by their name. */
export const ORACLES = { trips: Trips, starts: Starts, ends: Ends, visits: Visits } as const;
