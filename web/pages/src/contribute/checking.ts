/** How to check, without trusting this page, that everybody has the same task. */
import type { TaskBundle } from "nomadp-client";
import { h } from "../dom";

export function checking(bundle: TaskBundle, base: string): HTMLElement {
  const address = `${base}/tasks/${bundle.task.id}`;
  const { facts } = bundle.task;
  const hashes = [
    ["Task", bundle.task.id],
    ["Public places", facts.locationsSha256],
    [bundle.task.isOracle ? "Areas" : "Public journeys", facts.domainSha256],
  ] as const;
  return h(
    "div",
    { class: "guarantee" },
    h(
      "div",
      {},
      h(
        "p",
        {},
        "Each code below is a fingerprint (a hash). The first is the name of the task. This page " +
          "worked the codes out again from what it received. They all match. If one did not, the " +
          "page would have stopped.",
      ),
      h(
        "dl",
        { class: "hashes" },
        ...hashes.map(([name, hash]) =>
          h("div", {}, h("dt", {}, name), h("dd", { class: "hash" }, hash)),
        ),
      ),
      h("p", {}, "To check this with a program of your own, run:"),
      h(
        "pre",
        { class: "bytes", tabindex: 0, "aria-label": "Command" },
        `nomadp task verify ${address}`,
      ),
    ),
    h(
      "div",
      {},
      h("h3", {}, "What this page cannot check"),
      h(
        "ul",
        {},
        h(
          "li",
          {},
          "Whether others see the same task. Compare its name with the one that was published.",
        ),
        h(
          "li",
          {},
          "Whether this page does what it says. It came from the collector. You can use a program " +
            "of your own instead: nomadp report FILE --task ADDRESS.",
        ),
        h(
          "li",
          {},
          "Whether someone else used this browser, or you used another one. Each browser keeps its " +
            "own budget for each collector.",
        ),
      ),
    ),
  );
}
