/** The entry point of the contributor's page: checks the task in its address, then shows the steps. */
import "nomadp-page";
import "virtual:theme.css";
import "../style.css";
import "./contribute.css";
import { fetchBundle, isClosed, NomadpError, TaskRefused, UploadFailed } from "nomadp-client";
import { h, show } from "../dom";
import { closed } from "./closed";
import { meaning } from "../replies";
import { Flow } from "./flow";
import { sentence } from "./text";

const MISSING = [
  "This task does not exist here",
  "Open your link again, or ask for a new one.",
] as const;
const place = document.querySelector<HTMLElement>("#main")!;
const counter = document.querySelector("#sent")!;

/** Set the state of the page (`data-state`), and the code of an error (`data-code`). */
function enter(state: string, code?: string): void {
  place.dataset.state = state;
  if (code) place.dataset.code = code;
}

function refuse(code: string, title: string, ...sentences: string[]): void {
  enter("refused", code);
  show(
    place,
    h("h1", {}, title),
    ...sentences.map((text) => h("p", { class: "lead" }, text)),
    h("p", { class: "lead" }, "Nothing was sent."),
  );
}

async function begin(): Promise<void> {
  if (!isSecureContext) {
    refuse(
      "page_not_https",
      "This page needs a secure connection",
      "Without one, your browser cannot protect you. Ask for a link that starts with https.",
    );
    return;
  }
  const id = location.pathname.split("/").filter(Boolean).at(-1) ?? "";
  if (!/^[\w-]{43}$/.test(id)) {
    refuse(
      "task_id_missing",
      "There is no task at this address",
      "Your link may be cut off. A full link ends with the name of a task, which has 43 " +
        "characters. Open your link again, or ask for a new one.",
    );
    return;
  }
  enter("fetching");
  show(place, h("p", { role: "status" }, "Loading and checking the task …"));
  const fetched = await fetchBundle(location.origin, id);
  // Check before any step: a report to a closed task would use budget and be dropped.
  const isOver = await isClosed(fetched);
  document.title = `Contribute: ${fetched.bundle.task.facts.purpose} · NomaDP`;
  enter(isOver ? "closed" : "open");
  show(place, ...(isOver ? closed(fetched) : [new Flow(fetched, counter).element]));
}

begin().catch((error: unknown) => {
  const isOurs = error instanceof NomadpError;
  const [code, message] = isOurs ? [error.code, sentence(error.message)] : ["failed", ""];
  if (error instanceof TaskRefused)
    refuse(
      code,
      "Do not contribute to this task",
      "This page checked the task and found a problem.",
      message,
    );
  else if (error instanceof UploadFailed) {
    place.dataset.status = String(error.status);
    refuse(code, "The task could not be loaded", meaning(error.status, MISSING));
  } else refuse(code, "Something went wrong", message || "Try again, or use another browser.");
});
