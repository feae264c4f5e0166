/** The answers to all queries of a task. They are sent together, so that the model is fitted once. */
import type { Collector, Query, Result } from "./api";
import type { View } from "./views";

export type OnResult = (query: Query, result: Result) => void;

export class Answers {
  private readonly results = new Map<Query, Result>();
  private readonly jobs = new Map<Query, string>();
  private round = 0;

  constructor(
    private readonly collector: Collector,
    private readonly task: string,
    private readonly views: View[],
    private readonly onResult: OnResult,
  ) {}

  of(query: Query): Result | undefined {
    return this.results.get(query);
  }

  /** The number of reports behind the oldest answer. */
  get reports(): number | undefined {
    const counts = [...this.results.values()].map((result) =>
      result.status === "done" ? result.answer.about.reports : undefined,
    );
    const numbers = counts.filter((count) => count !== undefined);
    return numbers.length ? Math.min(...numbers) : undefined;
  }

  get isRunning(): boolean {
    return this.jobs.size > this.results.size;
  }

  stop(): void {
    this.round += 1;
  }

  /** Run all queries. The collector keeps finished jobs; `again` deletes them first. */
  async run({ again = false } = {}): Promise<void> {
    const round = (this.round += 1);
    const isWanted = () => this.round === round;
    this.results.clear();
    if (again) {
      const old = [...this.jobs.values()];
      await Promise.all(
        old.map((job) => this.collector.forget(this.task, job).catch(() => undefined)),
      );
    }
    const queries = this.views.flatMap((view) => view.queries);
    for (const query of queries) {
      this.jobs.set(query, await this.collector.job(this.task, query));
    }
    await Promise.all(
      queries.map(async (query) => {
        const job = this.jobs.get(query)!;
        const result = await this.collector.result(this.task, job, isWanted);
        if (!result || !isWanted()) return;
        this.results.set(query, result);
        this.onResult(query, result);
      }),
    );
  }
}
