/** How many journeys explain a report as well as any does: counted, not estimated. */
import { type TaskBundle, FrequencyOracle, Atlas } from "nomadp-client";

const SLICE_MS = 12;

export interface Explained {
  /** So many explain it best, and equally well. */
  readonly best: number;
  readonly of: number;
}

export class Explaining {
  private counted: Promise<Int32Array> | undefined;

  constructor(private readonly bundle: TaskBundle) {}

  /** That a report is one of those the truth explains best, as a share. */
  get chance(): number {
    const { mechanism, task } = this.bundle;
    if (mechanism instanceof FrequencyOracle) return mechanism.channel.trueChance.toNumber();
    const { nearCount, heavy, total } = (mechanism as Atlas).channel(task.facts.length!);
    return (nearCount * Number(heavy)) / Number(total);
  }

  /** Of the answers to a question those it holds; of the atlas those journeys near to it. */
  async of(number: number | null, held: number): Promise<Explained> {
    const { mechanism } = this.bundle;
    if (mechanism instanceof FrequencyOracle || number === null) {
      return { best: held, of: (mechanism as FrequencyOracle).labelCount };
    }
    this.counted ??= this.count(mechanism as Atlas);
    const counts = await this.counted;
    return { best: counts[number]!, of: counts.length };
  }

  /** Whether a report is among those that this journey explains best. */
  isNear(journey: readonly number[], number: number): boolean {
    const { mechanism, task } = this.bundle;
    return (mechanism as Atlas).channel(task.facts.length!).near(journey)[number]!;
  }

  /** A slice at a time, so that the page can be used meanwhile. */
  private async count(mechanism: Atlas): Promise<Int32Array> {
    const law = mechanism.channel(this.bundle.task.facts.length!);
    const counts = new Int32Array(law.size);
    let began = performance.now();
    for (let row = 0; row < law.size; row += 1) {
      law.near(law.codebook.codeword(row)).forEach((near, k) => (counts[k]! += Number(near)));
      if (performance.now() - began < SLICE_MS) continue;
      await new Promise((done) => setTimeout(done));
      began = performance.now();
    }
    return counts;
  }
}
