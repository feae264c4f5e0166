/** Step 1: open a file, or draw a journey on the map. */
import { count, h, plural, show } from "../dom";
import type { Bench, Step } from "./bench";
import type { Days } from "./days";
import { Drawing } from "./drawing";
import type { ReadOptions } from "./reading";
import { showError, showMessage } from "./text";

const KINDS =
  "You can use Google Timeline (Android, iOS), Records.json, Semantic Location History, GPX, " +
  "GeoJSON, KML, OwnTracks, Overland and CSV files. They may be in a zip or gz file.";

export class Choosing implements Step {
  readonly title = "Add a journey";
  readonly says = "Open a file you have, or draw a journey on the map. Both stay in this tab.";
  readonly isOpen = true;
  readonly body = h("div", {});
  private readonly trouble = h("p", { class: "trouble", role: "alert" });
  private readonly working = h("div", { class: "working" });
  private readonly input = h("input", {
    type: "file",
    id: "file",
    class: "unseen",
    "aria-describedby": "file-kinds",
    change: () => this.input.files?.[0] && void this.read(this.input.files[0]),
  });
  private readonly raw = h("input", { type: "checkbox", id: "raw" });
  private readonly zone = h("input", { type: "text", id: "zone", spellcheck: "false" });
  private readonly columns = ["lat", "lng", "time"].map((name) =>
    h("input", {
      type: "text",
      id: `column-${name}`,
      spellcheck: "false",
      autocomplete: "off",
    }),
  );
  private readonly drawing: Drawing;

  constructor(
    private readonly bench: Bench,
    private readonly days: Days,
  ) {
    this.zone.value = Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";
    this.drawing = new Drawing(bench, days);
    this.body.append(this.fileCard(), this.drawing.element);
  }

  enter(): void {
    this.drawing.enter();
  }

  leave(): void {
    this.drawing.leave();
  }

  private fileCard(): HTMLElement {
    const card = h(
      "section",
      { class: "card", "aria-labelledby": "from-file" },
      h("h3", { id: "from-file" }, "From a file"),
      h("p", { class: "soft", id: "file-kinds" }, KINDS),
      h(
        "p",
        {},
        this.input,
        h("label", { class: "button main", for: "file" }, "Choose a file"),
      ),
      this.working,
      this.trouble,
      this.options(),
    );
    card.addEventListener("dragover", (event) => event.preventDefault());
    card.addEventListener("drop", (event) => {
      event.preventDefault();
      const file = event.dataTransfer?.files[0];
      if (file) void this.read(file);
    });
    return card;
  }

  private options(): HTMLElement {
    const field = (label: string, input: HTMLInputElement) =>
      h("p", { class: "field" }, h("label", { for: input.id }, label), input);
    const [lat, lng, time] = this.columns as [
      HTMLInputElement,
      HTMLInputElement,
      HTMLInputElement,
    ];
    return h(
      "details",
      {},
      h("summary", {}, "File options"),
      h(
        "p",
        { class: "check" },
        this.raw,
        h("label", { for: "raw" }, "Also read the raw signals of a Google Timeline"),
      ),
      field("Time zone, for times without one", this.zone),
      h("p", { class: "soft" }, "Names of the columns, if this page does not find them:"),
      field("Latitude", lat),
      field("Longitude", lng),
      field("Time (optional)", time),
    );
  }

  private get fileOptions(): ReadOptions {
    const [lat, lng, time] = this.columns.map(({ value }) => value.trim());
    const zone = this.zone.value.trim();
    return {
      rawSignals: this.raw.checked,
      ...(isZone(zone) && { timeZone: zone }),
      ...(lat && lng && { columns: { lat, lng, ...(time && { time }) } }),
    };
  }

  private async read(file: File): Promise<void> {
    showMessage(this.trouble);
    const bar = h("progress", { max: 1, value: 0, "aria-label": "Progress" });
    const cancel = () => {
      this.bench.reading.stop();
      show(this.working);
      this.input.value = "";
    };
    const size = `${count(Math.max(1, Math.round(file.size / 1e5)) / 10)} MB`;
    show(
      this.working,
      h("p", { role: "status" }, `Reading ${size} in this tab …`),
      h(
        "p",
        {},
        bar,
        h("button", { type: "button", "data-action": "cancel", click: cancel }, "Cancel"),
      ),
    );
    try {
      const result = await this.bench.reading.read(file, this.fileOptions, (share) => {
        bar.value = share;
      });
      this.drawing.end();
      this.days.useFile(result);
      show(this.working, h("p", {}, `${plural(result.journeys.length, "journey")} found.`));
      this.bench.go(1);
    } catch (error) {
      show(this.working);
      showError(this.trouble, error);
    }
    this.input.value = "";
  }
}

function isZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return name !== "";
  } catch {
    return false;
  }
}
