/**
 * The ledger of a browser: IndexedDB, flushed at every step, and a marker in localStorage.
 *
 * A browser may throw away what a site keeps, unless it promised to persist it: then, and only
 * then, is it taken without asking. Otherwise the caller must have told the person and say so.
 * A private window forgets everything when it closes, and no page can see that it is one.
 */

import { LedgerRefused } from "../errors.js";
import type { LedgerChange, LedgerMarker, LedgerState, LedgerStore } from "./store.js";

const DATABASE = "nomadp ledger";
const MARKER = "nomadp ledger began";
const STORES = ["about", "tasks", "charges"];
const KEY_PATHS = { tasks: "id", charges: "reportId" };
/** How long a tab waits for another that writes, before it refuses. */
export const LOCK_WAIT_MS = 20_000;

export interface BrowserStoreOptions {
  /** The browser may forget the used budget, and the person knows. */
  readonly acceptEviction?: boolean;
}

/**
 * The one ledger of this browser and origin.
 *
 * @throws LedgerRefused where it could not be durable.
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
      "the browser must promise to keep the used budget, and did not; allow the page to store " +
        "data, or accept that the browser may forget it",
      { code: "storage_not_persistent" },
    );
  }
  return new BrowserStore(await opened(), marker);
}

/** Whether a ledger began here. This reads the marker alone and creates nothing. */
export function browserLedgerBegan(): boolean {
  try {
    return localMarker().read() !== null;
  } catch {
    return false;
  }
}

/** Whether the browser promises to keep what is written; it may ask the person. */
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
    // Another tab deletes or renews it: this one must not go on with what it had.
    database.onversionchange = () => database.close();
  }

  async update<Found>(
    step: (state: LedgerState) => readonly [Found, LedgerChange?],
  ): Promise<Found> {
    const signal = AbortSignal.timeout(LOCK_WAIT_MS);
    try {
      return await navigator.locks.request(DATABASE, { signal }, () => this.#written(step));
    } catch (error) {
      if (error instanceof DOMException) throw inUse(error);
      throw error;
    }
  }

  close(): void {
    this.database.close();
  }

  #written<Found>(
    step: (state: LedgerState) => readonly [Found, LedgerChange?],
  ): Promise<Found> {
    return new Promise((resolve, reject) => {
      const transaction = this.database.transaction(STORES, "readwrite", {
        durability: "strict",
      });
      if (transaction.durability !== "strict") {
        transaction.abort();
        throw refused("strict durability of IndexedDB", "strict durability");
      }
      let found: Found;
      let failure: unknown;
      transaction.oncomplete = () => resolve(found);
      transaction.onabort = () => reject(failure ?? unwritable(transaction.error));
      const [about, tasks, charges] = STORES.map((name) => transaction.objectStore(name));
      const rows = [about!.get(1), tasks!.getAll(), charges!.getAll()] as const;
      rows[2].onsuccess = () => {
        try {
          const state = { about: rows[0].result ?? null, tasks: rows[1].result };
          const [result, change] = step({ ...state, charges: rows[2].result });
          found = result;
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

function opened(): Promise<IDBDatabase> {
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

/** A worker has no localStorage: the ledger is kept by the page. */
function localMarker(): LedgerMarker {
  let storage: Storage | undefined;
  try {
    storage = globalThis.localStorage;
  } catch {
    storage = undefined; // cookies and all are forbidden
  }
  if (storage === undefined || storage === null)
    throw refused("localStorage, of a page,", "localStorage");
  const kept = storage;
  return {
    read: () => kept.getItem(MARKER),
    write: (token) => {
      try {
        kept.setItem(MARKER, token);
      } catch (error) {
        throw unwritable(error);
      }
      if (kept.getItem(MARKER) !== token) throw unwritable(null);
    },
  };
}

/** `needs` is the fact, `what` how it is said. */
function refused(what: string, needs: string): LedgerRefused {
  return new LedgerRefused(`a ledger needs ${what} to be durable, and there is none here`, {
    code: "ledger_not_durable",
    needs,
  });
}

function inUse(error: DOMException): LedgerRefused {
  if (error.name !== "TimeoutError") return unwritable(error);
  return new LedgerRefused(
    `the ledger must be free to be written, and another tab kept it for ${LOCK_WAIT_MS / 1000} ` +
      "s; try again when that has ended",
    { code: "ledger_in_use" },
  );
}

function unwritable(error: unknown): LedgerRefused {
  const name = error instanceof Error ? error.name : "no reason";
  return new LedgerRefused(
    `the ledger must be readable and writable to report anything, and was not (${name}); ` +
      "nothing was perturbed",
    { code: "ledger_unusable", reason: name },
  );
}
