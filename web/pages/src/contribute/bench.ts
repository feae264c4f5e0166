/** What the steps share: the task, the one journey that was chosen, and the map. */
import type { FetchedBundle, TaskBundle, LatLng } from "nomadp-client";
import type { Position } from "../api";
import type { Account } from "./account";
import { boundsOf } from "../features";
import { Explaining } from "./explained";
import type { Fit, JourneyMap, Marks } from "./journey_map";
import { MapKey } from "./map_key";
import { Reading } from "./reading";
import { Telling } from "./telling";

/** The journey that is looked at: private, and nowhere but in this tab. */
export interface Journey {
  /** How it is called in the list. */
  readonly name: string;
  readonly points: readonly LatLng[];
  /** Of the week, if it is known. */
  readonly hour: number | null;
}

export interface Step {
  readonly title: string;
  readonly says: string;
  readonly body: HTMLElement;
  /** Whether what comes before is done. */
  readonly isOpen: boolean;
  /** It is looked at now. */
  enter(): void;
  leave?(): void;
}

export class Bench {
  readonly bundle: TaskBundle;
  readonly reading = new Reading();
  readonly key: MapKey;
  readonly telling: Telling;
  readonly explaining: Explaining;
  /** Whether a preview of the chosen journey was seen. */
  wasPreviewed = false;
  private journey: Journey | undefined;
  private map: JourneyMap | undefined;
  private shown: [Marks, Fit | undefined] | undefined;
  private placed: ((at: Position) => void) | undefined;

  constructor(
    readonly fetched: FetchedBundle,
    readonly account: Account,
    /** Go to a step, from 0. */
    readonly go: (step: number) => void,
    /** What is open may have changed. */
    readonly changed: () => void,
  ) {
    this.bundle = fetched.bundle;
    this.key = new MapKey(boundsOf(this.places));
    this.telling = new Telling(this.bundle);
    this.explaining = new Explaining(this.bundle);
  }

  /** The public locations. */
  get places(): Position[] {
    const { locations } = this.bundle;
    return Array.from({ length: locations.size }, (_, k) => {
      const { lat, lng } = locations.at(k);
      return [lng, lat];
    });
  }

  get chosen(): Journey | undefined {
    return this.journey;
  }

  choose(journey: Journey | undefined): void {
    this.journey = journey;
    this.wasPreviewed = false;
    this.changed();
  }

  /** The chosen one as the task reads it. */
  get snapped(): number[] {
    return this.bundle.read(this.journey!.points);
  }

  get isTimed(): boolean {
    return this.bundle.mechanism.timed;
  }

  /** Whether a report could be made of what was chosen. */
  get isComplete(): boolean {
    return this.journey !== undefined && (!this.isTimed || this.journey.hour !== null);
  }

  get track(): Position[] {
    return (this.journey?.points ?? []).map(({ lat, lng }) => [lng, lat]);
  }

  /** The map comes later than the words; it is told what it missed. */
  useMap(map: JourneyMap): void {
    this.map = map;
    map.place(this.placed);
    if (this.shown) map.show(...this.shown);
  }

  draw(marks: Marks, fit?: Fit): void {
    this.shown = [marks, fit];
    this.key.show(marks);
    this.map?.show(marks, fit);
  }

  place(placed: ((at: Position) => void) | undefined): void {
    this.placed = placed;
    this.map?.place(placed);
  }

  focusMap(): void {
    this.map?.focus();
  }
}
