/** What a report tells whoever reads it: in words, on the map, and as it travels. */
import {
  type TaskBundle,
  FrequencyOracle,
  type Released,
  SubsetSelection,
  Trips,
  Atlas,
} from "nomadp-client";
import type { Position } from "../api";
import { count } from "../dom";

export interface Told {
  /** In one sentence. */
  readonly says: string;
  /** What it names, one by one: places of a journey, or answers. */
  readonly names: readonly string[];
  readonly lines: readonly (readonly Position[])[];
  readonly areas: readonly Position[];
  /** As it is written on the wire. */
  readonly value: string;
  /** The row of the atlas, if it is one. */
  readonly number: number | null;
}

/** Lines that a map can carry; the words have all. */
const LINES_MOST = 300;

export class Telling {
  private readonly middles: Position[] = [];

  constructor(private readonly bundle: TaskBundle) {
    const { mechanism } = bundle;
    if (mechanism instanceof FrequencyOracle) this.middles = middlesOf(mechanism);
  }

  of(report: Released): Told {
    const { mechanism, code } = this.bundle;
    const value = code.text(report.number === null ? report.values : [report.number]);
    const told =
      mechanism instanceof FrequencyOracle
        ? this.answers(mechanism, report.values)
        : this.journey(mechanism as Atlas, report.number!);
    return { ...told, value, number: report.number };
  }

  at(location: number): Position {
    const { lat, lng } = this.bundle.locations.at(location);
    return [lng, lat];
  }

  private journey(mechanism: Atlas, number: number): Omit<Told, "value" | "number"> {
    const { codebook } = mechanism.channel(this.bundle.task.facts.length!);
    const places = codebook.codeword(number);
    return {
      says: `Journey ${number} from the task's public list of ${count(codebook.size)}.`,
      names: places.map((each) => this.bundle.locations.at(each).id),
      lines: [places.map((each) => this.at(each))],
      areas: [],
    };
  }

  private answers(
    question: FrequencyOracle,
    values: readonly number[],
  ): Omit<Told, "value" | "number"> {
    const labels = labelsOf(question, values);
    const slots = question.slots.length;
    const places = [...new Set(labels.map((label) => Math.floor(label / slots)))];
    const { zones } = question;
    const isTrips = question instanceof Trips;
    const pairs = isTrips ? places.slice(0, LINES_MOST) : [];
    const zonesTold = new Set(isTrips ? [] : places);
    return {
      says:
        `${count(labels.length)} of the ${count(question.labelCount)} possible answers` +
        (labels.length === 1
          ? ". It may or may not be the true one."
          : ". The true one may or may not be among them."),
      names: labels.map((label) => question.labelName(label)),
      lines: pairs.map((pair) => [
        this.middles[Math.floor(pair / zones.size)]!,
        this.middles[pair % zones.size]!,
      ]),
      areas: Array.from({ length: this.bundle.locations.size }, (_, k) => k)
        .filter((k) => zonesTold.has(zones.of(k)))
        .map((k) => this.at(k)),
    };
  }
}

/** A set of labels is its own list. */
function labelsOf(question: FrequencyOracle, values: readonly number[]): readonly number[] {
  const law = question.channel;
  if (law instanceof SubsetSelection) return values;
  const every = Array.from({ length: question.labelCount }, (_, label) => label);
  return every.filter((label) => law.supports(values, label));
}

/** The middle of the locations of each zone. */
function middlesOf({ zones, locations }: FrequencyOracle): Position[] {
  const sums = zones.names.map(() => [0, 0, 0] as [number, number, number]);
  for (let k = 0; k < locations.size; k += 1) {
    const sum = sums[zones.of(k)]!;
    const { lat, lng } = locations.at(k);
    sum[0] += lng;
    sum[1] += lat;
    sum[2] += 1;
  }
  return sums.map(([lng, lat, many]) => [lng / many, lat / many]);
}
