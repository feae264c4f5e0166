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
const place = document.querySelector<HTMLElement>("#main")!;
const counter = document.querySelector("#sent")!;

/** What is on the page: `data-state`, and `data-code` where something was refused. */
function enter(state: string, code?: string): void {
  place.dataset.state = state;
  if (code) place.dataset.code = code;
}

function refuse(code: string, title: string, ...words: string[]): void {
  enter("refused", code);
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
      "page_not_https",
      "This page must come over https",
      "Only then can a browser make random numbers, keep an account and know whom it talks to. " +
        "Ask for an address that begins with https.",
    );
    return;
  }
  const id = location.pathname.split("/").filter(Boolean).at(-1) ?? "";
  if (!/^[\w-]{43}$/.test(id)) {
    refuse(
      "task_id_missing",
      "There is no task at this address",
      "The name of a task has 43 characters, and this address does not end in one. Follow the " +
        "link that you were given once more, or ask for it again.",
    );
    return;
  }
  enter("fetching");
  show(place, h("p", { role: "status" }, "Fetching the task, and checking it …"));
  const fetched = await fetchKit(location.origin, id);
  // Before any step: all of them would lead to a report that costs epsilon and is dropped.
  const isOver = await isClosed(fetched);
  document.title = `Contribute: ${fetched.bundle.task.facts.purpose} · NomaDP`;
  enter(isOver ? "closed" : "open");
  show(place, ...(isOver ? closed(fetched) : [new Flow(fetched, counter).element]));
}

begin().catch((error: unknown) => {
  const isOurs = error instanceof NomadpError;
  const [code, said] = isOurs ? [error.code, sentence(error.message)] : ["failed", ""];
  if (error instanceof TaskRefused)
    refuse(
      code,
      "Do not take part in this",
      "What the collector serves under this address is not a task that may be taken part in.",
      said,
    );
  else if (error instanceof UploadFailed) {
    place.dataset.status = String(error.status);
    refuse(code, "The task could not be fetched", meaning(error.status, MISSING));
  } else refuse(code, "This page failed", said || "Try again, or with another browser.");
});
