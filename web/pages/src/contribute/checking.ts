/** How to check, without trusting this page, that the task is the one everybody was given. */
import type { TaskBundle } from "nomadp-client";
import { h } from "../dom";

export function checking(bundle: TaskBundle, base: string): HTMLElement {
  const address = `${base}/tasks/${bundle.task.id}`;
  const { facts } = bundle.task;
  const hashes = [
    ["Task", bundle.task.id],
    ["Locations", facts.locationsSha256],
    [bundle.task.asks ? "Zones" : "Atlas", facts.domainSha256],
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
        "The task's name is the hash of all that it is. This page computed it again from what came, " +
          "and the hashes of the public files, too; had one differed, you would see a refusal instead.",
      ),
      h(
        "dl",
        { class: "hashes" },
        ...hashes.map(([name, hash]) =>
          h("div", {}, h("dt", {}, name), h("dd", { class: "hash" }, hash)),
        ),
      ),
      h("p", {}, "To check it with a program of your own, which builds everything again:"),
      h(
        "pre",
        { class: "bytes", tabindex: 0, "aria-label": "Command" },
        `nomadp task verify ${address}`,
      ),
    ),
    h(
      "div",
      {},
      h("h3", {}, "What you cannot see from here"),
      h(
        "ul",
        {},
        h(
          "li",
          {},
          "Whether others were given the same name: compare it with one that was published elsewhere.",
        ),
        h(
          "li",
          {},
          "Whether this page does what it says: it came from the collector. Who would rather not " +
            "believe it reports with a program of their own: nomadp report FILE --task ADDRESS.",
        ),
        h(
          "li",
          {},
          "Whether this browser was used by somebody else, or another one by you: the account is kept " +
            "for each browser and collector.",
        ),
      ),
    ),
  );
}
