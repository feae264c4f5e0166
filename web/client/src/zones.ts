/** Public zones: a partition of the location set, which a device receives with its task. */

import { hasForbidden } from "./characters.js";
import { DomainError, OutOfRange } from "./errors.js";
import type { LocationSet } from "./locations.js";

/** A partition: location k is in exactly one zone, `of(k)`, with the name `names[of(k)]`. */
export class Zones {
  readonly names: readonly string[];
  readonly #of: Int32Array;

  constructor(
    readonly locations: LocationSet,
    of: ArrayLike<number>,
    names: readonly string[],
  ) {
    if (of.length !== locations.size) {
      throw new DomainError(
        `every location must be in one zone, got zones for ${of.length} of ${locations.size}`,
        { code: "not_a_partition", zones: of.length, locations: locations.size },
      );
    }
    const zone = Array.from(of);
    const isKnown = zone.every((k) => Number.isSafeInteger(k) && k >= 0 && k < names.length);
    if (!isKnown || new Set(zone).size !== names.length) {
      throw new DomainError(
        `each of the ${names.length} zones must contain a location, and every location must be ` +
          "in one of them; remove empty zones",
        { code: "not_a_partition", zones: names.length, locations: locations.size },
      );
    }
    if (new Set(names).size < names.length || names.includes("")) {
      throw new DomainError(
        "every zone must have a unique, non-empty name, got some without; rename them",
        {
          code: "zone_name_repeated",
        },
      );
    }
    const hidden = names.filter(hasForbidden).length;
    if (hidden) {
      throw new DomainError(
        "zone names must not contain control, format or private-use characters, got " +
          `${hidden} of ${names.length} with such characters; rename them`,
        { code: "zone_name_characters", names: hidden },
      );
    }
    this.#of = Int32Array.from(zone);
    this.names = Object.freeze([...names]);
  }

  get size(): number {
    return this.names.length;
  }

  /** The zone of a location. */
  of(location: number): number {
    const zone = this.#of[location];
    if (zone === undefined) {
      throw new OutOfRange(`locations must be in the public set; the value is withheld`, {
        code: "location_out_of_range",
      });
    }
    return zone;
  }
}
