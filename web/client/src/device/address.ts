/** Where a collector is: https, or http on this very machine. */

import { TaskRefused } from "../errors.js";
import { isTaskId } from "../protocol/base64url.js";

const URL_CHARACTERS_MAX = 1000;
const PLAIN = /^[\x21-\x7e]+$/;
const PATH = /^(?:\/[A-Za-z0-9._~-]+)*\/?$/;
const HERE = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])$/;

/** The base of what a person was given, and the task id if it ends in one. */
export interface Address {
  readonly base: string;
  readonly taskId: string | null;
}

export function parseAddress(text: string): Address {
  if (text.length > URL_CHARACTERS_MAX || !PLAIN.test(text)) {
    throw refused("of at most 1000 plain characters", "address_not_plain_text");
  }
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw refused("https://HOST/tasks/ID, or its base", "address_malformed");
  }
  if (url.username || url.password || /[?#@]/.test(text)) {
    throw refused(
      "without a name, password, question or fragment: it must be the same for everybody",
      "address_not_public",
    );
  }
  if (url.protocol !== "https:" && !(url.protocol === "http:" && HERE.test(url.hostname))) {
    throw refused("https; http is for a collector on this machine only", "address_not_https");
  }
  if (!PATH.test(url.pathname)) throw refused("a plain path", "address_path_malformed");
  const path = url.pathname.replace(/\/$/, "");
  const [, before, named] = /^(.*)\/tasks\/([^/]+)$/.exec(path) ?? [];
  if (isTaskId(named)) return { base: url.origin + before!, taskId: named };
  return { base: url.origin + path, taskId: null };
}

function refused(what: string, code: string): TaskRefused {
  return new TaskRefused(`the address of a collector must be ${what}, and is not`, { code });
}
