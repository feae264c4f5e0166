/** The address of a collector: https, or http on this machine. */

import { TaskRefused } from "../errors.js";
import { isTaskId } from "../protocol/base64url.js";

const URL_CHARACTERS_MAX = 1000;
const ASCII = /^[\x21-\x7e]+$/;
const PATH = /^(?:\/[A-Za-z0-9._~-]+)*\/?$/;
const LOCAL_HOST = /^(?:localhost|127(?:\.[0-9]{1,3}){3}|\[::1\])$/;

/** The base URL of a collector, and the task id if the URL ends in one. */
export interface Address {
  readonly base: string;
  readonly taskId: string | null;
}

export function parseAddress(text: string): Address {
  if (text.length > URL_CHARACTERS_MAX || !ASCII.test(text)) {
    throw refused(
      "be at most 1000 printable ASCII characters, and is not",
      "address_not_plain_text",
    );
  }
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw refused(
      "be https://HOST/tasks/ID, or the part before /tasks, and is not",
      "address_malformed",
    );
  }
  if (url.username || url.password || /[?#@]/.test(text)) {
    throw refused(
      "not contain a user name, password, query or fragment, since it must be the same for " +
        "everybody",
      "address_not_public",
    );
  }
  if (
    url.protocol !== "https:" &&
    !(url.protocol === "http:" && LOCAL_HOST.test(url.hostname))
  ) {
    throw refused(
      "start with https; http is allowed only for a collector on this machine",
      "address_not_https",
    );
  }
  if (!PATH.test(url.pathname)) {
    throw new TaskRefused(
      "the path of a collector's address must consist of letters, digits and ._~- between " +
        "slashes, but does not",
      { code: "address_path_malformed" },
    );
  }
  const path = url.pathname.replace(/\/$/, "");
  const [, prefix, id] = /^(.*)\/tasks\/([^/]+)$/.exec(path) ?? [];
  if (isTaskId(id)) return { base: url.origin + prefix!, taskId: id };
  return { base: url.origin + path, taskId: null };
}

function refused(requirement: string, code: string): TaskRefused {
  return new TaskRefused(`the address of a collector must ${requirement}`, { code });
}
