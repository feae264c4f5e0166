/** Fetch and check a task and its public files. Stores nothing and uses no budget. */

import { TaskRefused } from "../errors.js";
import { isTaskId } from "../protocol/base64url.js";
import { parseObject } from "../protocol/canonical.js";
import { FILE_BYTES_MAX, REPLY_BYTES_MAX, TASK_BYTES_MAX } from "../protocol/ceilings.js";
import { TaskBundle } from "../protocol/bundle.js";
import { Task } from "../protocol/task.js";
import { parseAddress } from "./address.js";
import { get } from "./http.js";

/** The bundle of a task, and the base URL of its collector. */
export interface FetchedBundle {
  readonly bundle: TaskBundle;
  readonly base: string;
}

/**
 * Fetch the task at a URL that ends in its id, or at a base URL and an id.
 *
 * @throws TaskRefused if its hash is not the id, or if it violates the rules.
 * @throws UploadFailed if it cannot be fetched.
 */
export async function fetchBundle(url: string, taskId?: string): Promise<FetchedBundle> {
  const { base, taskId: idInUrl } = parseAddress(url);
  const id = oneId(idInUrl, taskId);
  const path = `${base}/tasks/${id}`;
  const task = await Task.fromBytes(await get(path, TASK_BYTES_MAX), id);
  const domain = task.isOracle ? "zones" : "atlas";
  const files = {
    locations: await get(`${path}/locations`, FILE_BYTES_MAX),
    [domain]: await get(`${path}/${domain}`, FILE_BYTES_MAX),
  };
  return { bundle: await TaskBundle.fromFiles(task, files), base };
}

/**
 * Whether the collector has closed the task and drops every new report. Ask before charging the
 * budget. False if the collector does not say.
 */
export async function isClosed({ bundle, base }: FetchedBundle): Promise<boolean> {
  try {
    const content = await get(`${base}/tasks/${bundle.task.id}/status`, REPLY_BYTES_MAX);
    return parseObject(content, "a status", REPLY_BYTES_MAX)["closed"] === true;
  } catch {
    return false;
  }
}

function oneId(idInUrl: string | null, expected: string | undefined): string {
  const id = expected ?? idInUrl;
  if (!isTaskId(id)) {
    throw new TaskRefused(
      "the id of the task must be given (43 characters), but is not; pass it or use a URL that " +
        "ends in it, and get it from somebody other than the collector if possible",
      { code: "task_id_missing" },
    );
  }
  if (idInUrl !== null && idInUrl !== id) {
    throw new TaskRefused("the task in the URL must be the expected one, but is another", {
      code: "task_id_mismatch",
    });
  }
  return id;
}
