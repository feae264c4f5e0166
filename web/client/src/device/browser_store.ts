/**
 * The ledger of a browser: IndexedDB, flushed after every step, and a marker in localStorage.
 *
 * A browser may delete a site's data unless it granted persistent storage. Without that grant,
 * the person must accept the risk first, and the caller must say so with `acceptEviction`. A
 * private window always forgets everything when it closes, and a page cannot detect it.
 */

import { LedgerRefused } from "../errors.js";
import type { LedgerChange, LedgerMarker, LedgerState, LedgerStore } from "./store.js";

const DATABASE = "nomadp ledger";
const MARKER = "nomadp ledger began";
const STORES = ["about", "tasks", "charges"];
const KEY_PATHS = { tasks: "id", charges: "reportId" };
/** How long a tab waits for another tab that writes, before it gives up. */
export const LOCK_WAIT_MS = 20_000;

/** The options of `openBrowserStore`. */
export interface BrowserStoreOptions {
  /** The person knows that the browser may lose the record of the used budget. */
  readonly acceptEviction?: boolean;
}

/**
 * The one ledger of this browser and origin.
 *
 * @throws LedgerRefused if it cannot be durable.
 */
export async function openBrowserStore(
  options: BrowserStoreOptions = {},
): Promise<LedgerStore> {
  const marker = localMarker();
  if (globalThis.indexedDB === undefined || globalThis.navigator?.locks === undefined) {
    throw refused(
      "IndexedDB and Web Locks, of a page that is served securely,",
      "IndexedDB and Web Locks",
    );
  }
  if (!options.acceptEviction && !(await isPersistent())) {
    throw new LedgerRefused(
      "the browser must grant persistent storage, so that it keeps the record of the used budget, " +
        "and did not; allow the page to store data, or accept that the record may be lost",
      { code: "storage_not_persistent" },
    );
  }
  return new BrowserStore(await openDatabase(), marker);
}

/** Whether this browser has a ledger. Reads only the marker, and does not create a ledger. */
export function browserLedgerBegan(): boolean {
  try {
    return localMarker().read() !== null;
  } catch {
    return false;
  }
}

/** Request persistent storage; returns whether the browser grants it. It may ask the person. */
export async function isPersistent(): Promise<boolean> {
  const storage = globalThis.navigator?.storage;
  if (storage?.persist === undefined) return false;
  return (await storage.persisted()) || storage.persist();
}

class BrowserStore implements LedgerStore {
  readonly durable = true;

  constructor(
    readonly database: IDBDatabase,
    readonly marker: LedgerMarker,
  ) {
    // Another tab deletes or replaces the database: do not continue with the old one.
    database.onversionchange = () => database.close();
  }

  async update<Result>(
    step: (state: LedgerState) => readonly [Result, LedgerChange?],
  ): Promise<Result> {
    // One tab at a time: no other tab writes between this read and this write.
    const signal = AbortSignal.timeout(LOCK_WAIT_MS);
    try {
      return await navigator.locks.request(DATABASE, { signal }, () => this.#transact(step));
    } catch (error) {
      if (error instanceof DOMException) throw inUse(error);
      throw error;
    }
  }

  close(): void {
    this.database.close();
  }

  /** Read, run the step and write, in one transaction that is flushed to disk. */
  #transact<Result>(
    step: (state: LedgerState) => readonly [Result, LedgerChange?],
  ): Promise<Result> {
    return new Promise((resolve, reject) => {
      const transaction = this.database.transaction(STORES, "readwrite", {
        durability: "strict",
      });
      if (transaction.durability !== "strict") {
        transaction.abort();
        throw refused("strict durability of IndexedDB", "strict durability");
      }
      let result: Result;
      let failure: unknown;
      transaction.oncomplete = () => resolve(result);
      transaction.onabort = () => reject(failure ?? unwritable(transaction.error));
      // Requests complete in order, so the first two have results when the third succeeds.
      const [about, tasks, charges] = STORES.map((name) => transaction.objectStore(name));
      const rows = [about!.get(1), tasks!.getAll(), charges!.getAll()] as const;
      rows[2].onsuccess = () => {
        try {
          const state = { about: rows[0].result ?? null, tasks: rows[1].result };
          const [value, change] = step({ ...state, charges: rows[2].result });
          result = value;
          write(transaction, change ?? {});
        } catch (error) {
          failure = error;
          transaction.abort();
        }
      };
    });
  }
}

function write(transaction: IDBTransaction, change: LedgerChange): void {
  const { about, task, added, changed } = change;
  if (about !== undefined) transaction.objectStore("about").put(about, 1);
  if (task !== undefined) transaction.objectStore("tasks").put(task);
  if (added !== undefined) transaction.objectStore("charges").add(added);
  if (changed !== undefined) transaction.objectStore("charges").put(changed);
}

function openDatabase(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => {
      for (const name of STORES) {
        const keyPath = KEY_PATHS[name as keyof typeof KEY_PATHS];
        request.result.createObjectStore(name, keyPath === undefined ? {} : { keyPath });
      }
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(unwritable(request.error));
    request.onblocked = () => reject(unwritable(null));
  });
}

/** The marker in localStorage. A worker has none, so only a page can open the ledger. */
function localMarker(): LedgerMarker {
  let storage: Storage | undefined;
  try {
    storage = globalThis.localStorage;
  } catch {
    storage = undefined; // the browser blocks all storage
  }
  if (storage === undefined || storage === null)
    throw refused("localStorage, of a page,", "localStorage");
  const defined = storage;
  return {
    read: () => defined.getItem(MARKER),
    write: (token) => {
      try {
        defined.setItem(MARKER, token);
      } catch (error) {
        throw unwritable(error);
      }
      if (defined.getItem(MARKER) !== token) throw unwritable(null);
    },
  };
}

/** `needs` is what is missing, in the error's facts; `text` is the same in its message. */
function refused(text: string, needs: string): LedgerRefused {
  return new LedgerRefused(`a ledger needs ${text} to be durable, and there is none here`, {
    code: "ledger_not_durable",
    needs,
  });
}

function inUse(error: DOMException): LedgerRefused {
  if (error.name !== "TimeoutError") return unwritable(error);
  return new LedgerRefused(
    `the ledger must be free for writing, but another tab locked it for ${LOCK_WAIT_MS / 1000} s; ` +
      "close that tab or try again later",
    { code: "ledger_in_use" },
  );
}

function unwritable(error: unknown): LedgerRefused {
  const name = error instanceof Error ? error.name : "no reason";
  return new LedgerRefused(
    `the ledger must be readable and writable, but is not (${name}); nothing is perturbed or ` +
      "sent without it",
    { code: "ledger_unusable", reason: name },
  );
}
