/** The page of a closed task, with the reports that this browser sent before. */
import type { FetchedBundle } from "nomadp-client";
import { h } from "../dom";
import { Account } from "./account";
import { Receipts } from "./receipts";
import { showError } from "./text";

export function closed(fetched: FetchedBundle): HTMLElement[] {
  const { purpose } = fetched.bundle.task.facts;
  const trouble = h("p", { class: "trouble", role: "alert" });
  const onChange = () => void receipts.refresh().catch(() => undefined);
  const account = new Account(fetched, onChange);
  const receipts = new Receipts({ account, bundle: fetched.bundle });
  account
    .openIfBegan()
    .then(() => receipts.refresh())
    .catch((error: unknown) => showError(trouble, error));
  return [
    h("h1", {}, "This task is closed"),
    h("p", { class: "lead" }, `Purpose: ${purpose}`),
    h(
      "p",
      { class: "lead" },
      "You cannot contribute any more, because the collector accepts no more reports. Opening this " +
        "page sent nothing and used none of your privacy budget.",
    ),
    trouble,
    receipts.element,
  ];
}
