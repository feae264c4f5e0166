/** Sign-in with a token, which is stored for this tab only. */
import { Collector, type Progress, Refused } from "./api";
import { h, show } from "./dom";

const TOKEN_KEY = "nomadp-analyst-token";

export function storedToken(): string | null {
  return sessionStorage.getItem(TOKEN_KEY);
}

export function forgetToken(): void {
  sessionStorage.removeItem(TOKEN_KEY);
}

/** Called after a successful sign-in. */
export type OnEnter = (collector: Collector, tasks: Progress[]) => void;

/** Why the sign-in failed. */
export interface Problem {
  /** The HTTP status of the reply; 0 if there was none. */
  readonly status: number;
  readonly message: string;
}

export async function enter(token: string, onEnter: OnEnter): Promise<Problem | undefined> {
  const collector = new Collector(token);
  try {
    const tasks = await collector.tasks();
    sessionStorage.setItem(TOKEN_KEY, token);
    onEnter(collector, tasks);
    return undefined;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const { status, message } = error;
    if (status !== 401) return { status, message };
    forgetToken();
    return { status, message: "This is not the analyst token of this collector." };
  }
}

export function signIn(place: Element, onEnter: OnEnter, problem?: Problem): void {
  const token = h("input", {
    id: "token",
    type: "password",
    autocomplete: "current-password",
    required: true,
    spellcheck: "false",
    "aria-describedby": "token-about",
  });
  const trouble = h("p", { class: "trouble", role: "alert" }, problem?.message);
  if (problem) trouble.dataset.status = String(problem.status);
  const submit = async (event: Event) => {
    event.preventDefault();
    const failure = await enter(token.value.trim(), onEnter);
    trouble.textContent = failure?.message ?? "";
    if (failure) trouble.dataset.status = String(failure.status);
    // After a successful sign-in the form is gone, and the focus moves to the tasks.
    if (!form.isConnected) place.querySelector("select")?.focus();
  };
  const form = h(
    "form",
    { class: "sign-in", submit },
    // The user name for password managers.
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
