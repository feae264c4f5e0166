/** What a report says: as a sentence, as marks on the map, and in the encoding on the wire. */
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

export interface Contents {
  /** The content in one sentence. */
  readonly sentence: string;
  /** The places of a journey, or the answers. */
  readonly names: readonly string[];
  readonly lines: readonly (readonly Position[])[];
  readonly areas: readonly Position[];
  /** The encoded value. */
  readonly value: string;
  /** The index of the codeword, if it is one. */
  readonly number: number | null;
}

/** The most lines on the map. The list of names is complete. */
const LINES_MAX = 300;

export class ReportContents {
  private readonly centres: Position[] = [];

  constructor(private readonly bundle: TaskBundle) {
    const { mechanism } = bundle;
    if (mechanism instanceof FrequencyOracle) this.centres = centresOf(mechanism);
  }

  of(report: Released): Contents {
    const { mechanism, code } = this.bundle;
    const value = code.text(report.number === null ? report.values : [report.number]);
    const contents =
      mechanism instanceof FrequencyOracle
        ? this.answers(mechanism, report.values)
        : this.journey(mechanism as Atlas, report.number!);
    return { ...contents, value, number: report.number };
  }

  at(location: number): Position {
    const { lat, lng } = this.bundle.locations.at(location);
    return [lng, lat];
  }

  private journey(mechanism: Atlas, number: number): Omit<Contents, "value" | "number"> {
    const { codebook } = mechanism.channel(this.bundle.task.facts.length!);
    const places = codebook.codeword(number);
    return {
      sentence: `Journey ${number} from the task's public list of ${count(codebook.size)}.`,
      names: places.map((each) => this.bundle.locations.at(each).id),
      lines: [places.map((each) => this.at(each))],
      areas: [],
    };
  }

  private answers(
    oracle: FrequencyOracle,
    values: readonly number[],
  ): Omit<Contents, "value" | "number"> {
    const labels = labelsOf(oracle, values);
    const slots = oracle.slots.length;
    const places = [...new Set(labels.map((label) => Math.floor(label / slots)))];
    const { zones } = oracle;
    const isTrips = oracle instanceof Trips;
    const pairs = isTrips ? places.slice(0, LINES_MAX) : [];
    const reportedZones = new Set(isTrips ? [] : places);
    return {
      sentence:
        `${count(labels.length)} of the ${count(oracle.labelCount)} possible answers` +
        (labels.length === 1
          ? ". It may or may not be the true one."
          : ". The true one may or may not be among them."),
      names: labels.map((label) => oracle.labelName(label)),
      lines: pairs.map((pair) => [
        this.centres[Math.floor(pair / zones.size)]!,
        this.centres[pair % zones.size]!,
      ]),
      areas: Array.from({ length: this.bundle.locations.size }, (_, k) => k)
        .filter((k) => reportedZones.has(zones.of(k)))
        .map((k) => this.at(k)),
    };
  }
}

/** The labels that a report supports. A report of subset selection is a list of them. */
function labelsOf(oracle: FrequencyOracle, values: readonly number[]): readonly number[] {
  const law = oracle.channel;
  if (law instanceof SubsetSelection) return values;
  const labels = Array.from({ length: oracle.labelCount }, (_, label) => label);
  return labels.filter((label) => law.supports(values, label));
}

/** The mean position of the locations of each zone. */
function centresOf({ zones, locations }: FrequencyOracle): Position[] {
  const sums = zones.names.map(() => [0, 0, 0] as [number, number, number]);
  for (let k = 0; k < locations.size; k += 1) {
    const sum = sums[zones.of(k)]!;
    const { lat, lng } = locations.at(k);
    sum[0] += lng;
    sum[1] += lat;
    sum[2] += 1;
  }
  return sums.map(([lng, lat, n]) => [lng / n, lat / n]);
}
