/** The dashboard of a task. The number of reports is polled. */
import { Answers } from "./answers";
import { type Collector, type Progress, Refused, sleep } from "./api";
import { openBasemap } from "./basemap";
import { day, LiveCount } from "./count";
import { h, plural, show } from "./dom";
import { guaranteeSection } from "./guarantee";
import { Pictures } from "./pictures";
import { refusedReports } from "./refused_reports";
import { viewsOf } from "./views";

const POLL_MS = 2000;

export function dashboard(place: Element, collector: Collector, tasks: Progress[]): void {
  if (!tasks.length) {
    show(
      place,
      h("h1", {}, "No tasks yet"),
      h(
        "p",
        { class: "lead" },
        "The operator adds a task with ",
        h("code", {}, "nomadp serve FOLDER"),
        ".",
      ),
    );
    return;
  }
  const body = h("div", {});
  let shown: TaskBoard | undefined;
  const open = (task: Progress) => {
    shown?.stop();
    shown = new TaskBoard(collector, task);
    show(body, shown.element);
    void shown.run();
  };
  const select = h(
    "select",
    { id: "task", change: () => open(tasks[select.selectedIndex]!) },
    ...tasks.map((task) => h("option", { value: task.task_id }, task.purpose)),
  );
  show(place, h("div", { class: "picker" }, h("label", { for: "task" }, "Task"), select), body);
  open(tasks[0]!);
}

class TaskBoard {
  readonly element = h("div", {});
  private readonly live = new LiveCount();
  private readonly refusedPlace = h("div", {});
  private readonly guaranteePlace = h("div", {}, "Loading …");
  private readonly stale = h("p", { class: "stale", role: "status" });
  private readonly trouble = h("p", { class: "trouble", role: "alert" });
  private readonly answers: Answers;
  private pictures: Pictures | undefined;
  private isOpen = true;
  private hasStarted = false;
  private lastShown = "";

  constructor(
    private readonly collector: Collector,
    private readonly task: Progress,
  ) {
    const views = viewsOf(task.mechanism);
    this.answers = new Answers(collector, task.task_id, views, (query) => {
      this.pictures?.refresh(query);
      this.showStale(this.progress);
    });
    this.progress = task;
    const picturesPlace = h(
      "div",
      {},
      h("p", { role: "status" }, "Loading the public locations …"),
    );
    show(
      this.element,
      this.head(),
      this.trouble,
      band("answers", null, this.stale, picturesPlace),
      ...this.rest(),
    );
    void this.tried(async () => {
      const [places, basemap] = await Promise.all([
        collector.locations(task.task_id),
        collector.basemap && openBasemap(collector.basemap),
      ]);
      if (!this.isOpen) return;
      this.pictures = new Pictures(views, places, () => this.answers, basemap || undefined);
      show(picturesPlace, this.pictures.element);
      this.pictures.begin();
      this.showPending(this.progress);
    });
  }

  private progress: Progress;

  stop(): void {
    this.isOpen = false;
    this.answers.stop();
    this.pictures?.stop();
  }

  async run(): Promise<void> {
    void this.tried(async () => {
      const stated = await this.collector.guarantee(this.task.task_id);
      show(
        this.guaranteePlace,
        guaranteeSection(stated, this.task.epsilon, "Contributors read: "),
      );
    });
    this.update(this.task);
    while (this.isOpen) {
      await sleep(POLL_MS);
      if (this.isOpen && !document.hidden) {
        await this.tried(async () =>
          this.update(await this.collector.progress(this.task.task_id)),
        );
      }
    }
  }

  private update(progress: Progress): void {
    this.progress = progress;
    this.trouble.textContent = "";
    delete this.trouble.dataset.status;
    const json = JSON.stringify(progress);
    if (json !== this.lastShown) {
      this.lastShown = json;
      this.live.show(progress);
      show(this.refusedPlace, refusedReports(progress));
    }
    if (!this.hasStarted && progress.reports >= progress.min_batch_size) {
      this.hasStarted = true;
      void this.tried(() => this.answers.run());
    }
    this.showStale(progress);
    this.showPending(progress);
  }

  private showPending(progress: Progress): void {
    const missing = progress.min_batch_size - progress.reports;
    if (missing > 0) this.pictures?.await({ missing, isClosed: progress.closed });
    else this.pictures?.await({ missing: 0, isClosed: false });
  }

  /** Offer to run the queries again if reports arrived after the estimates. */
  private showStale(progress: Progress): void {
    const answered = this.answers.reports;
    const newReports = answered === undefined ? 0 : progress.reports - answered;
    if (newReports <= 0 || this.answers.isRunning) {
      if (this.stale.childNodes.length) show(this.stale);
      return;
    }
    const sentence = `${plural(newReports, "report")} arrived after these estimates were computed. `;
    if (this.stale.firstChild?.textContent === sentence) return;
    const again = () => {
      void this.tried(() => this.answers.run({ again: true }));
      show(this.stale);
      this.pictures?.refresh();
      this.pictures?.focus();
    };
    const attributes = { type: "button", "data-action": "ask-again", click: again };
    this.stale.dataset.reports = String(newReports);
    show(this.stale, sentence, h("button", attributes, "Update"));
  }

  private head(): HTMLElement {
    const { task_id, purpose, mechanism, epsilon } = this.task;
    const until = `${day(this.task.start, this.task)} to ${day(this.task.end, this.task)}`;
    const lead = `ε\u00a0=\u00a0${epsilon} per report · ${mechanismName(mechanism)} · ${until}`;
    return h(
      "div",
      { class: "head" },
      h(
        "div",
        {},
        h("h1", {}, purpose),
        h("p", { class: "lead" }, lead),
        h("p", { class: "hash" }, `Task ${task_id}`),
      ),
      this.live.element,
    );
  }

  private rest(): HTMLElement[] {
    return [
      band("guarantee", "Privacy guarantee", this.guaranteePlace),
      band("refused", "Refused reports", this.refusedPlace),
    ];
  }

  /** Show an error of the collector; the next poll tries again. */
  private async tried(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (error.status === 401) location.reload();
      this.trouble.textContent = error.message;
      this.trouble.dataset.status = String(error.status);
    }
  }
}

/** The name of a mechanism in the head of the page. */
function mechanismName(mechanism: string): string {
  if (mechanism === "atlas") return "ATLAS (whole trajectories)";
  const labels: Record<string, string> = {
    trips: "origin-destination pairs",
    starts: "origins",
    ends: "destinations",
  };
  return `frequency oracle (${labels[mechanism] ?? mechanism})`;
}

function band(id: string, title: string | null, ...inside: Node[]): HTMLElement {
  const heading = title === null ? null : h("h2", { id: `${id}-title` }, title);
  const label =
    title === null ? { "aria-label": "Estimates" } : { "aria-labelledby": `${id}-title` };
  return h("section", { class: "band", id, ...label }, heading, ...inside);
}
