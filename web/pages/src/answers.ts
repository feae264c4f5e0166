/** The answers to all questions of a task: asked together, so that learning is done once. */
import type { Collector, Query, Result } from "./api";
import type { View } from "./views";

export type Arrived = (question: Query, result: Result) => void;

export class Answers {
  private readonly found = new Map<Query, Result>();
  private readonly jobs = new Map<Query, string>();
  private round = 0;

  constructor(
    private readonly collector: Collector,
    private readonly task: string,
    private readonly views: View[],
    private readonly arrived: Arrived,
  ) {}

  of(question: Query): Result | undefined {
    return this.found.get(question);
  }

  /** Of how many reports the oldest answer is. */
  get reports(): number | undefined {
    const known = [...this.found.values()].map((each) =>
      each.status === "done" ? each.answer.about.reports : undefined,
    );
    const numbers = known.filter((each) => each !== undefined);
    return numbers.length ? Math.min(...numbers) : undefined;
  }

  get isAsking(): boolean {
    return this.jobs.size > this.found.size;
  }

  stop(): void {
    this.round += 1;
  }

  /** Ask everything; what is answered already is not worked out again, unless afresh. */
  async ask({ afresh = false } = {}): Promise<void> {
    const round = (this.round += 1);
    const isWanted = () => this.round === round;
    this.found.clear();
    if (afresh) {
      const old = [...this.jobs.values()];
      await Promise.all(
        old.map((job) => this.collector.forget(this.task, job).catch(() => undefined)),
      );
    }
    const questions = this.views.flatMap((view) => view.questions);
    for (const question of questions) {
      this.jobs.set(question, await this.collector.job(this.task, question));
    }
    await Promise.all(
      questions.map(async (question) => {
        const job = this.jobs.get(question)!;
        const result = await this.collector.result(this.task, job, isWanted);
        if (!result || !isWanted()) return;
        this.found.set(question, result);
        this.arrived(question, result);
      }),
    );
  }
}
