/** A task and its public files, fetched and checked: nothing is kept, and nothing is spent. */

import { TaskRefused } from "../errors.js";
import { isTaskId } from "../protocol/base64url.js";
import { parseObject } from "../protocol/canonical.js";
import { FILE_BYTES_MAX, REPLY_BYTES_MAX, TASK_BYTES_MAX } from "../protocol/ceilings.js";
import { TaskBundle } from "../protocol/bundle.js";
import { Task } from "../protocol/task.js";
import { parseAddress } from "./address.js";
import { get } from "./http.js";

/** What makes reports, and where its collector is. */
export interface FetchedBundle {
  readonly bundle: TaskBundle;
  readonly base: string;
}

/** The task at a URL: its own, or a base and its id; what comes must hash to that id. */
export async function fetchBundle(url: string, taskId?: string): Promise<FetchedBundle> {
  const { base, taskId: named } = parseAddress(url);
  const id = oneId(named, taskId);
  const path = `${base}/tasks/${id}`;
  const task = await Task.fromBytes(await get(path, TASK_BYTES_MAX), id);
  const book = task.isOracle ? "zones" : "atlas";
  const files = {
    locations: await get(`${path}/locations`, FILE_BYTES_MAX),
    [book]: await get(`${path}/${book}`, FILE_BYTES_MAX),
  };
  return { bundle: await TaskBundle.fromFiles(task, files), base };
}

/**
 * Whether the collector drops every new report of this task. Call it before any budget is
 * used. False where that cannot be known.
 */
export async function isClosed({ bundle, base }: FetchedBundle): Promise<boolean> {
  try {
    const content = await get(`${base}/tasks/${bundle.task.id}/status`, REPLY_BYTES_MAX);
    return parseObject(content, "a status", REPLY_BYTES_MAX)["closed"] === true;
  } catch {
    return false;
  }
}

function oneId(named: string | null, expected: string | undefined): string {
  const id = expected ?? named;
  if (!isTaskId(id)) {
    throw new TaskRefused(
      "the id of the task must be known beforehand, 43 characters, from somebody other than " +
        "the collector if possible; name it, or take a URL that ends in it",
      { code: "task_id_missing" },
    );
  }
  if (named !== null && named !== id) {
    throw new TaskRefused(
      "the task must be the one that was expected, and the URL has another",
      { code: "task_id_mismatch" },
    );
  }
  return id;
}
