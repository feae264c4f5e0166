/** The contributor's page: the task of its address, checked, and then the five steps. */
import "nomadp-page";
import "virtual:look.css";
import "../style.css";
import "./contribute.css";
import { fetchKit, isClosed, NomadpError, TaskRefused, UploadFailed } from "nomadp-client";
import { h, show } from "../dom";
import { closed } from "./closed";
import { meaning } from "../replies";
import { Flow } from "./flow";
import { sentence } from "./words";

const MISSING = [
  "This collector has no such task",
  "Follow the link that you were given once more, or ask for it again.",
] as const;
const place = document.querySelector("#main")!;
const counter = document.querySelector("#sent")!;

function refuse(title: string, ...words: string[]): void {
  show(
    place,
    h("h1", {}, title),
    ...words.map((each) => h("p", { class: "lead" }, each)),
    h("p", { class: "lead" }, "Nothing was sent."),
  );
}

async function begin(): Promise<void> {
  if (!isSecureContext) {
    refuse(
      "This page must come over https",
      "Only then can a browser make random numbers, keep an account and know whom it talks to. " +
        "Ask for an address that begins with https.",
    );
    return;
  }
  const id = location.pathname.split("/").filter(Boolean).at(-1) ?? "";
  if (!/^[\w-]{43}$/.test(id)) {
    refuse(
      "There is no task at this address",
      "The name of a task has 43 characters, and this address does not end in one. Follow the " +
        "link that you were given once more, or ask for it again.",
    );
    return;
  }
  show(place, h("p", { role: "status" }, "Fetching the task, and checking it …"));
  const fetched = await fetchKit(location.origin, id);
  // Before any step: all of them would lead to a report that costs epsilon and is dropped.
  const isOver = await isClosed(fetched);
  document.title = `Contribute: ${fetched.kit.task.facts.purpose} · NomaDP`;
  show(place, ...(isOver ? closed(fetched) : [new Flow(fetched, counter).element]));
}

begin().catch((error: unknown) => {
  const said = error instanceof NomadpError ? sentence(error.message) : "";
  if (error instanceof TaskRefused)
    refuse(
      "Do not take part in this",
      "What the collector serves under this address is not a task that may be taken part in.",
      said,
    );
  else if (error instanceof UploadFailed)
    refuse("The task could not be fetched", meaning(error.status, MISSING));
  else refuse("This page failed", said || "Try again, or with another browser.");
});
