/** The five steps beside one map. A step opens when the steps before it are done. */
import type { FetchedBundle } from "nomadp-client";
import { h, show } from "../dom";
import { guaranteeSection } from "../guarantee";
import { Account } from "./account";
import { Bench, type Step } from "./bench";
import { checking } from "./checking";
import { Choosing } from "./choosing";
import { Days } from "./days";
import { Preview } from "./preview";
import { Receipts } from "./receipts";
import { Sending, timeRefusal } from "./sending";
import { Snapping } from "./snapping";
import { guaranteeOf } from "./stated_guarantee";
import { showError, showMessage } from "./text";

export class Flow {
  readonly element = h("div", {});
  private readonly nav = h("ol", {});
  private readonly heading = h("h2", { tabindex: -1 });
  private readonly says = h("p", { class: "soft" });
  private readonly panel = h("div", { class: "panel" });
  private readonly mapPlace = h("div", { class: "map" });
  private readonly trouble = h("p", { class: "trouble", role: "alert", id: "trouble" });
  private readonly bench: Bench;
  private readonly account: Account;
  private readonly receipts: Receipts;
  private readonly sending: Sending;
  private readonly steps: readonly Step[];
  private at = 0;

  constructor(
    fetched: FetchedBundle,
    private readonly counter: Element,
  ) {
    this.account = new Account(fetched, () => this.refresh());
    this.bench = new Bench(
      fetched,
      this.account,
      (step) => this.open(step, true),
      () => this.renderNav(),
    );
    const days = new Days(this.bench);
    this.sending = new Sending(this.bench);
    this.receipts = new Receipts(this.bench);
    this.steps = [
      new Choosing(this.bench, days),
      days,
      new Snapping(this.bench),
      new Preview(this.bench),
      this.sending,
    ];
    this.element.append(this.head(), this.workbench(), this.receipts.element, ...this.rest());
    this.open(0, false);
    void this.begin();
  }

  private async begin(): Promise<void> {
    void this.loadMap();
    try {
      await this.account.openIfBegan();
      await this.receipts.refresh();
      await this.account.keepToSchedule();
    } catch (error) {
      showError(this.trouble, error);
    }
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.refresh();
    });
  }

  /** Load the map, the largest part, after the text is shown. */
  private async loadMap(): Promise<void> {
    try {
      const { JourneyMap } = await import("./journey_map");
      const map = new JourneyMap(this.bench.places);
      this.mapPlace.replaceWith(map.element);
      this.bench.useMap(map);
    } catch {
      const message =
        "This browser cannot draw maps, because it has no WebGL. You can use the lists instead.";
      this.mapPlace.classList.add("none");
      this.mapPlace.textContent = message;
    }
  }

  private refresh(): void {
    show(this.counter, "Bytes sent: ", h("b", {}, this.account.bytesSent.toLocaleString("en")));
    this.counter.classList.toggle("some", this.account.bytesSent > 0);
    void this.receipts.refresh().catch(() => undefined);
    if (this.at === 4) void this.sending.refresh().catch(() => undefined);
  }

  private open(index: number, isMoved: boolean): void {
    this.steps[this.at]!.leave?.();
    this.at = index;
    const step = this.steps[index]!;
    this.heading.textContent = `${index + 1}. ${step.title}`;
    this.says.textContent = step.says;
    show(this.panel, step.body);
    this.element.dataset.step = String(index + 1);
    step.enter();
    this.renderNav();
    if (!isMoved) return;
    this.heading.focus({ preventScroll: true });
    const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.nav.scrollIntoView({ block: "start", behavior: isStill ? "instant" : "smooth" });
  }

  private renderNav(): void {
    if (!this.steps) return; // called while the steps are created
    const items = this.steps.map((step, k) => {
      const isHere = k === this.at;
      const attributes = {
        type: "button",
        "data-go": k + 1,
        "aria-current": isHere ? "step" : undefined,
        disabled: !step.isOpen,
        click: () => this.open(k, true),
      };
      return h(
        "li",
        {},
        h(
          "button",
          attributes,
          h("span", { class: "step-number" }, String(k + 1)),
          ` ${step.title}`,
        ),
      );
    });
    show(this.nav, ...items);
  }

  private head(): HTMLElement {
    const { task } = this.bench.bundle;
    const { purpose, epsilon } = task.facts;
    const closed = timeRefusal(this.bench);
    showMessage(this.trouble, closed?.message, closed?.code);
    return h(
      "div",
      { class: "head" },
      h(
        "div",
        {},
        h("h1", {}, purpose),
        h(
          "p",
          { class: "lead" },
          "Your journey never leaves this browser. The browser replaces it with one random report, " +
            `and sends only that. Its privacy level is ε = ${epsilon}. A smaller ε is more private.`,
        ),
        h(
          "p",
          { class: "hash" },
          `Task ${task.id} `,
          h("a", { href: "#check" }, "checked by this page"),
        ),
        this.trouble,
      ),
    );
  }

  private workbench(): HTMLElement {
    return h(
      "section",
      { class: "band", "aria-label": "Five steps" },
      h("nav", { class: "steps", "aria-label": "Steps" }, this.nav),
      h(
        "div",
        { class: "bench" },
        h("figure", {}, this.mapPlace, this.bench.key.element),
        h("div", { class: "step-head" }, this.heading, this.says),
        this.panel,
      ),
    );
  }

  private rest(): HTMLElement[] {
    const { bundle, fetched } = this.bench;
    const band = (id: string, title: string, inside: HTMLElement) =>
      h(
        "section",
        { class: "band", id, "aria-labelledby": `${id}-title` },
        h("h2", { id: `${id}-title` }, title),
        inside,
      );
    const stated = guaranteeSection(guaranteeOf(bundle), String(bundle.task.facts.epsilon));
    return [
      band("guarantee", "What we guarantee", stated),
      band("check", "Check it yourself", checking(bundle, fetched.base)),
    ];
  }
}
