/** The token: typed in once, kept for this tab only. */
import { Collector, type Progress, Refused } from "./api";
import { h, show } from "./dom";

const KEPT = "nomadp-analyst-token";

export function kept(): string | null {
  return sessionStorage.getItem(KEPT);
}

export function forget(): void {
  sessionStorage.removeItem(KEPT);
}

/** Whom the token lets in, and the tasks there are. */
export type Entered = (collector: Collector, tasks: Progress[]) => void;

/** Why nobody was let in. */
export interface Trouble {
  /** Of the reply, as in HTTP; 0 if there was none. */
  readonly status: number;
  readonly words: string;
}

export async function enter(token: string, entered: Entered): Promise<Trouble | undefined> {
  const collector = new Collector(token);
  try {
    const tasks = await collector.tasks();
    sessionStorage.setItem(KEPT, token);
    entered(collector, tasks);
    return undefined;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const { status, message } = error;
    if (status !== 401) return { status, words: message };
    forget();
    return { status, words: "This is not the analyst token of this collector." };
  }
}

export function signIn(place: Element, entered: Entered, said?: Trouble): void {
  const token = h("input", {
    id: "token",
    type: "password",
    autocomplete: "current-password",
    required: true,
    spellcheck: "false",
    "aria-describedby": "token-about",
  });
  const trouble = h("p", { class: "trouble", role: "alert" }, said?.words);
  if (said) trouble.dataset.status = String(said.status);
  const submit = async (event: Event) => {
    event.preventDefault();
    const found = await enter(token.value.trim(), entered);
    trouble.textContent = found?.words ?? "";
    if (found) trouble.dataset.status = String(found.status);
    // The form is gone if it let somebody in: they go on at the tasks.
    if (!form.isConnected) place.querySelector("select")?.focus();
  };
  const form = h(
    "form",
    { class: "sign-in", submit },
    // For those who keep passwords: whose it is.
    h("input", { type: "text", autocomplete: "username", value: "analyst", hidden: true }),
    h("label", { for: "token" }, "Analyst token"),
    h("div", { class: "beside" }, token, h("button", { type: "submit" }, "Sign in")),
    trouble,
  );
  show(
    place,
    h("h1", {}, "Sign in to the dashboard"),
    h(
      "p",
      { class: "lead", id: "token-about" },
      "Enter the analyst token that the collector printed when it first started. It is kept for " +
        "this tab only and is sent only to this collector.",
    ),
    form,
  );
  token.focus();
}
