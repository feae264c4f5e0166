/** How many answers or public journeys have the largest likelihood of a report, counted exactly. */
import { type TaskBundle, FrequencyOracle, Atlas } from "nomadp-client";

const SLICE_MS = 12;

export interface BestFit {
  /** How many have the largest likelihood. */
  readonly best: number;
  /** How many there are. */
  readonly of: number;
}

export class BestFits {
  private nearCounts: Promise<Int32Array> | undefined;

  constructor(private readonly bundle: TaskBundle) {}

  /** The probability that the truth is among the best fits of a report. */
  get chance(): number {
    const { mechanism, task } = this.bundle;
    if (mechanism instanceof FrequencyOracle) return mechanism.channel.trueChance.toNumber();
    const { nearCount, heavy, total } = (mechanism as Atlas).channel(task.facts.length!);
    return (nearCount * Number(heavy)) / Number(total);
  }

  /** For a frequency oracle, the supported answers; for ATLAS, the public journeys near a codeword. */
  async of(number: number | null, supported: number): Promise<BestFit> {
    const { mechanism } = this.bundle;
    if (mechanism instanceof FrequencyOracle || number === null) {
      return { best: supported, of: (mechanism as FrequencyOracle).labelCount };
    }
    this.nearCounts ??= this.count(mechanism as Atlas);
    const counts = await this.nearCounts;
    return { best: counts[number]!, of: counts.length };
  }

  /** Whether a codeword is among the nearest to a journey. */
  isNear(journey: readonly number[], number: number): boolean {
    const { mechanism, task } = this.bundle;
    return (mechanism as Atlas).channel(task.facts.length!).near(journey)[number]!;
  }

  /** For each codeword, how many are near it; counted in slices, so that the page stays usable. */
  private async count(mechanism: Atlas): Promise<Int32Array> {
    const law = mechanism.channel(this.bundle.task.facts.length!);
    const counts = new Int32Array(law.size);
    let began = performance.now();
    for (let row = 0; row < law.size; row += 1) {
      law.near(law.codebook.codeword(row)).forEach((near, k) => (counts[k]! += Number(near)));
      if (performance.now() - began < SLICE_MS) continue;
      await new Promise((resolve) => setTimeout(resolve));
      began = performance.now();
    }
    return counts;
  }
}
