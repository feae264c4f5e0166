/** Formats distances, times and errors for people. */
import { NomadpError } from "nomadp-client";
import { count } from "../dom";
import { Unreadable } from "./reading";

export function km(distance: number): string {
  if (distance < 0.95) return `${Math.round(distance * 1000)} m`;
  return distance < 100 ? `${distance.toFixed(1)} km` : `${count(Math.round(distance))} km`;
}

/** The date of a time that a task counts in its own units. */
export function moment(epoch: number, precisionS: number): string {
  const text = new Date(epoch * precisionS * 1000).toISOString();
  return precisionS % 86_400 === 0 ? text.slice(0, 10) : text.slice(0, 16).replace("T", " ");
}

/** A number of seconds in its largest whole unit, as in the guarantee of a task. */
export function span(seconds: number): string {
  const units = { day: 86_400, hour: 3600, minute: 60, second: 1 };
  const [name, size] = Object.entries(units).find(([, unit]) => seconds % unit === 0)!;
  const count = seconds / size;
  return `${count} ${name}${count === 1 ? "" : "s"}`;
}

export function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? "" : "."}`;
}

/** Show an error; `data-code` has its code for programs. */
export function showError(place: HTMLElement, error: unknown): void {
  const isOurs = error instanceof NomadpError || error instanceof Unreadable;
  showMessage(place, messageOf(error), isOurs ? error.code : "failed");
}

/** Show a message and its code; without arguments, clear them. */
export function showMessage(place: HTMLElement, message = "", code?: string): void {
  place.textContent = message;
  if (code) place.dataset.code = code;
  else delete place.dataset.code;
}

/** Our own errors contain nothing private. The message of any other error is hidden. */
function messageOf(error: unknown): string {
  if (error instanceof NomadpError || error instanceof Unreadable)
    return sentence(error.message);
  return (
    "Something went wrong. The details are hidden, because they may be private. The counter " +
    "above shows whether anything was sent."
  );
}
