/** The public set of locations: ids, coordinates, content hash and nearest neighbours. */

import { hasForbidden } from "./characters.js";
import { DomainError, OutOfRange } from "./errors.js";
import { distanceKm, type LatLng, type Place, placeAt, unitVector } from "./geometry.js";
import { SearchTree } from "./nearest.js";

export const LOCATIONS_MAX = 2 ** 20;
/** Candidates within this chord of the nearest are compared by `distanceKm`: the tree may round. */
const CHORD_SLACK = 1e-12;

/** One location of the public set. */
export interface Location extends LatLng {
  readonly id: string;
}

/** The location nearest to a point, and its distance from the point. */
export interface Snapped {
  /** The location. */
  readonly index: number;
  /** Its distance from the point. */
  readonly movedKm: number;
}

/** Public locations in a fixed order. Everywhere else, a location is an index into this order. */
export class LocationSet {
  readonly #rows: readonly Location[];
  readonly #places: readonly Place[];
  #tree: SearchTree | undefined;

  constructor(rows: Iterable<Location>) {
    this.#rows = Array.from(rows, ({ id, lat, lng }) => Object.freeze({ id, lat, lng }));
    const count = this.#rows.length;
    if (count < 2 || count > LOCATIONS_MAX) {
      throw new DomainError(
        `a location set must have from 2 to ${LOCATIONS_MAX} locations, got ${count}`,
        { code: count < 2 ? "too_few_locations" : "location_set_too_large", locations: count },
      );
    }
    if (this.#rows.some(({ id }) => typeof id !== "string" || id === "")) {
      throw new DomainError(
        "location ids must be non-empty strings, got others; check the ids",
        { code: "invalid_location_ids" },
      );
    }
    const hidden = this.#rows.filter(({ id }) => hasForbidden(id)).length;
    if (hidden) {
      throw new DomainError(
        "location ids must not contain control, format or private-use characters, got " +
          `${hidden} of ${count} with such characters; rename them`,
        { code: "location_id_characters", ids: hidden },
      );
    }
    const repeated = count - new Set(this.#rows.map(({ id }) => id)).size;
    if (repeated) {
      throw new DomainError(
        `location ids must be unique, got ${repeated} duplicates among ${count}; remove them`,
        { code: "location_ids_repeated", repeated },
      );
    }
    this.#places = this.#rows.map(placeAt);
  }

  get size(): number {
    return this.#rows.length;
  }

  /** The location with this index. */
  at(index: number): Location {
    return this.#rows[this.#checked(index)]!;
  }

  /** The distance between two locations. */
  distanceKm(a: number, b: number): number {
    return distanceKm(this.#places[this.#checked(a)]!, this.#places[this.#checked(b)]!);
  }

  /** The nearest location to a point; the lowest index wins a tie. */
  nearest(point: LatLng): number {
    return this.snap(point).index;
  }

  /** The nearest location to a point, and its distance; the lowest index wins a tie. */
  snap(point: LatLng): Snapped {
    const place = placeAt(point);
    this.#tree ??= new SearchTree(Float64Array.from(this.#rows.flatMap(unitVector)));
    const candidates = this.#tree.nearest(unitVector(point), CHORD_SLACK).map((index) => ({
      index,
      movedKm: distanceKm(place, this.#places[index]!),
    }));
    return candidates.reduce((best, candidate) => {
      const order = candidate.movedKm - best.movedKm || candidate.index - best.index;
      return order < 0 ? candidate : best;
    });
  }

  /** Throw unless this is a sequence of indices into this set; the error contains no value. */
  checkTrajectory(trajectory: ArrayLike<number>): void {
    if (trajectory.length < 1) {
      throw new DomainError("a trajectory must be a sequence of at least one location index", {
        code: "trajectory_malformed",
      });
    }
    const isKnown = Array.from(trajectory).every((index) => this.#contains(index));
    if (!isKnown) {
      throw new DomainError(
        `every location must be in the public set of ${this.size}; the value is withheld ` +
          "because it is private",
        { code: "unknown_locations", size: this.size },
      );
    }
  }

  /** The hash of the ids (length-prefixed UTF-8) and the exact bits of the coordinates, in order. */
  async sha256(): Promise<string> {
    const encoder = new TextEncoder();
    const parts = [encoder.encode(`nomadp-locations-1\n${this.size}\n`)];
    for (const { id } of this.#rows) {
      const encoded = encoder.encode(id);
      parts.push(encoder.encode(`${encoded.length}:`), encoded);
    }
    for (const column of ["lat", "lng"] as const) {
      const bits = new DataView(new ArrayBuffer(8 * this.size));
      // Adding zero turns -0.0 into 0.0, so that equal coordinates have equal bits.
      this.#rows.forEach((row, k) => bits.setFloat64(8 * k, row[column] + 0, true));
      parts.push(new Uint8Array(bits.buffer));
    }
    return sha256Hex(parts);
  }

  #checked(index: number): number {
    if (!this.#contains(index)) {
      throw new OutOfRange(
        `locations must be indices in [0, ${this.size}); the values are not shown`,
        { code: "location_out_of_range", size: this.size },
      );
    }
    return index;
  }

  #contains(index: number): boolean {
    return Number.isSafeInteger(index) && index >= 0 && index < this.size;
  }
}

/** SHA-256 of the concatenated parts, in hexadecimal. */
export async function sha256Hex(parts: readonly Uint8Array[]): Promise<string> {
  const joined = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
  }
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", joined));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
