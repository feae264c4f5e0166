/**
 * Frequency oracles: a report is about one public label of a trajectory, and nothing else.
 *
 * The label is a zone or a pair of zones, and optionally a part of the day or a weekday. It gets
 * all of epsilon. The size of a report does not depend on the trajectory.
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

/** The hours in a week. */
export const HOURS = 168;

/** How the week is divided: recurring slots of a number of hours each. */
export const WHEN = {
  "day-part": { hours: 6, names: ["0-6 h", "6-12 h", "12-18 h", "18-24 h"] },
  weekday: { hours: 24, names: ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"] },
} as const;

/** A division of the week into slots. */
export type When = keyof typeof WHEN;
/** The name of a frequency oracle. */
export type OracleName = "trips" | "starts" | "ends" | "visits";

/** The parameters of a frequency oracle. */
export interface OracleOptions {
  readonly epsilon: string | number | Fraction;
  readonly zones: Zones;
  /** The division of time that the label includes (default: none). */
  readonly when?: When;
}

/** Reports one label of each trajectory, by subset selection or projective response. */
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
    void this.channel; // throws now if there are more labels than a law supports
  }

  /** The number of zones or pairs of zones. */
  get places(): number {
    return this.zones.size;
  }

  /** The name of a zone or pair of zones. */
  placeName(place: number): string {
    return this.zones.names[place]!;
  }

  /** The zone or pair of zones of a trajectory with these ends. */
  protected abstract place(first: number, last: number): number;

  get timed(): boolean {
    return this.when !== null;
  }

  /** The names of the time slots; one without a name if the label has no time. */
  get slots(): readonly string[] {
    return this.when === null ? [""] : WHEN[this.when].names;
  }

  /** The number of labels. */
  get labelCount(): number {
    return this.places * this.slots.length;
  }

  /** The name of a label; its index is `place * slots + slot`. */
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
    const supported = labels.filter((label) => this.channel.supports(report, label));
    return supported.map((label) => this.labelName(label));
  }

  wordCount(_length: number): number {
    return this.channel.wordCount;
  }

  perturb(trajectory: Trajectory, choose: Choose, hour?: number): Released {
    this.locations.checkTrajectory(trajectory);
    const slot = this.slot(hour);
    return this.report(trajectory[0]!, trajectory[trajectory.length - 1]!, slot, choose);
  }

  /** A report of the label of these locations and this time slot. */
  protected report(first: number, last: number, slot: number, choose: Choose): Released {
    const label = this.place(first, last) * this.slots.length + slot;
    return { values: choose("label", this.channel, label), number: null };
  }

  /** The time slot of an hour; 0 if the label has no time. */
  protected slot(hour: number | undefined): number {
    if (this.when === null) return 0;
    if (hour === undefined) {
      throw new DomainError(
        `every trajectory must have an hour, because when=${this.when}; use data with times, or ` +
          "leave out when",
        { code: "hour_missing" },
      );
    }
    if (!Number.isSafeInteger(hour) || hour < 0 || hour >= HOURS) {
      throw new DomainError(
        `an hour must be a whole number from 0 to ${HOURS - 1}, counted from Monday; ` +
          "its value is withheld because it is private",
        { code: "hour_out_of_range" },
      );
    }
    const { hours, names } = WHEN[this.when];
    return Math.floor(hour / hours) % names.length;
  }
}

/** Reports the origin-destination pair: the zones where a trajectory starts and ends. */
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

/** Reports the origin: the zone where a trajectory starts. */
export class Starts extends FrequencyOracle {
  readonly name = "starts";

  protected place(first: number): number {
    return this.zones.of(first);
  }
}

/** Reports the destination: the zone where a trajectory ends. */
export class Ends extends FrequencyOracle {
  readonly name = "ends";

  protected place(_first: number, last: number): number {
    return this.zones.of(last);
  }
}

/** Reports the zone of one point, which the device picks at random and reveals to nobody. */
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
    return this.report(point, point, slot, choose);
  }
}

/** The frequency oracles by name. */
export const ORACLES = { trips: Trips, starts: Starts, ends: Ends, visits: Visits } as const;
