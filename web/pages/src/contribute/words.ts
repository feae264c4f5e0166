/** Numbers, times and refusals as people read them. */
import { NomadpError } from "nomadp-client";
import { count } from "../dom";
import { Unreadable } from "./reading";

export function km(distance: number): string {
  if (distance < 0.95) return `${Math.round(distance * 1000)} m`;
  return distance < 100 ? `${distance.toFixed(1)} km` : `${count(Math.round(distance))} km`;
}

/** Of a time that a task counts in its own units. */
export function moment(epoch: number, precisionS: number): string {
  const text = new Date(epoch * precisionS * 1000).toISOString();
  return precisionS % 86_400 === 0 ? text.slice(0, 10) : text.slice(0, 16).replace("T", " ");
}

/** A number of seconds in its largest whole unit, as in the guarantee of a task. */
export function span(seconds: number): string {
  const units = { day: 86_400, hour: 3600, minute: 60, second: 1 };
  const [name, size] = Object.entries(units).find(([, each]) => seconds % each === 0)!;
  const many = seconds / size;
  return `${many} ${name}${many === 1 ? "" : "s"}`;
}

export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}

/** Say why something was refused; `data-code` has the same for programs. */
export function tell(place: HTMLElement, error: unknown): void {
  const isOurs = error instanceof NomadpError || error instanceof Unreadable;
  say(place, refusal(error), isOurs ? error.code : "failed");
}

/** The same of what is no error; nothing is said without words. */
export function say(place: HTMLElement, words = "", code?: string): void {
  place.textContent = words;
  if (code) place.dataset.code = code;
  else delete place.dataset.code;
}

/** Our own refusals hold nothing private; of anything else nothing is shown. */
function refusal(error: unknown): string {
  if (error instanceof NomadpError || error instanceof Unreadable)
    return sentence(error.message);
  return (
    "Something went wrong. The details are hidden, because they may be private. The counter " +
    "above shows whether anything was sent."
  );
}
