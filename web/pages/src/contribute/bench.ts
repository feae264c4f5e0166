/** The state that the steps share: the task, the chosen journey and the map. */
import type { FetchedBundle, TaskBundle, LatLng } from "nomadp-client";
import type { Position } from "../api";
import type { Account } from "./account";
import { boundsOf } from "../features";
import { BestFits } from "./best_fits";
import type { Fit, JourneyMap, Marks } from "./journey_map";
import { MapKey } from "./map_key";
import { Reading } from "./reading";
import { ReportContents } from "./report_contents";

/** The chosen journey. It is private and only exists in this tab. */
export interface Journey {
  /** Its name in the list. */
  readonly name: string;
  readonly points: readonly LatLng[];
  /** The hour of the week, if it is known. */
  readonly hour: number | null;
}

export interface Step {
  readonly title: string;
  readonly says: string;
  readonly body: HTMLElement;
  /** Whether the steps before it are done. */
  readonly isOpen: boolean;
  /** Called when the step is shown. */
  enter(): void;
  leave?(): void;
}

export class Bench {
  readonly bundle: TaskBundle;
  readonly reading = new Reading();
  readonly key: MapKey;
  readonly contents: ReportContents;
  readonly bestFits: BestFits;
  /** Whether the person saw a preview of the chosen journey. */
  wasPreviewed = false;
  private journey: Journey | undefined;
  private map: JourneyMap | undefined;
  private shown: [Marks, Fit | undefined] | undefined;
  private onPoint: ((at: Position) => void) | undefined;

  constructor(
    readonly fetched: FetchedBundle,
    readonly account: Account,
    /** Go to a step, from 0. */
    readonly go: (step: number) => void,
    /** Called when the steps that are open may have onChange. */
    readonly onChange: () => void,
  ) {
    this.bundle = fetched.bundle;
    this.key = new MapKey(boundsOf(this.places));
    this.contents = new ReportContents(this.bundle);
    this.bestFits = new BestFits(this.bundle);
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
    this.onChange();
  }

  /** The public locations that the task reads of the chosen journey. */
  get snapped(): number[] {
    return this.bundle.read(this.journey!.points);
  }

  get isTimed(): boolean {
    return this.bundle.mechanism.timed;
  }

  /** Whether a report of the chosen journey can be made. */
  get isComplete(): boolean {
    return this.journey !== undefined && (!this.isTimed || this.journey.hour !== null);
  }

  get track(): Position[] {
    return (this.journey?.points ?? []).map(({ lat, lng }) => [lng, lat]);
  }

  /** Set the map, which loads later than the text, and show the current marks. */
  useMap(map: JourneyMap): void {
    this.map = map;
    map.place(this.onPoint);
    if (this.shown) map.show(...this.shown);
  }

  draw(marks: Marks, fit?: Fit): void {
    this.shown = [marks, fit];
    this.key.show(marks);
    this.map?.show(marks, fit);
  }

  place(onPoint: ((at: Position) => void) | undefined): void {
    this.onPoint = onPoint;
    this.map?.place(onPoint);
  }

  focusMap(): void {
    this.map?.focus();
  }
}
