/** A device at its limits: the last charge, the last moment, a slow disk, a reply that is cut. */

import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";

import {
  Client,
  Ledger,
  LedgerRefused,
  type LedgerChange,
  type LedgerState,
  type NomadpError,
  ReportRefused,
  type Task,
  TaskRefused,
  UploadFailed,
} from "../src/index.js";
import { MemoryStore } from "../src/device/memory_store.js";
import { outcomeOf } from "../src/device/sending.js";
import type { ChargeRow } from "../src/device/store.js";
import { refusal } from "./refusal.js";
import { joined, JOURNEY, type Loopback, runningTask, SeenStore } from "./loopback.js";

const DAY_S = 86_400;

/** The states of all charges, as the store has them. */
const rows = ({ charges }: LedgerState) => [charges.map(({ state }) => state)] as const;

/** Takes a while to write, one step after the other as a disk does, or fails to. */
class Slow extends SeenStore {
  failing: string | undefined;
  #before: Promise<unknown> = Promise.resolve();

  override update<Found>(
    step: (state: LedgerState) => readonly [Found, LedgerChange?],
  ): Promise<Found> {
    const written = this.#before.then(async () => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return super.update(step);
    });
    this.#before = written.catch(() => undefined);
    return written;
  }

  see({ state }: ChargeRow): void {
    if (state === this.failing) throw new Error("full");
  }
}

let task: Task;
let server: Loopback | undefined;
let store: MemoryStore;

async function begin(facts: object = {}): Promise<Client> {
  let client: Client;
  ({ client, task, server } = await joined({ store, lifetime: 100 }, "atlas", facts));
  return client;
}

beforeEach(() => {
  store = new MemoryStore();
});
afterEach(async () => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  await server?.stop();
  server = undefined;
});

describe("a report", () => {
  test("is sent from a slow disk once it is written, and not before", async () => {
    store = new Slow();
    const client = await begin();
    let written: string[] = [];
    server!.answers = [
      async (response) => {
        written = await store.update(({ charges }) => [charges.map(({ state }) => state)]);
        response.end();
      },
    ];
    expect((await client.report(JOURNEY)).state).toBe("accepted");
    expect(written).toEqual(["waiting"]);
  });

  test("is perturbed only after its charge was written", async () => {
    store = new Slow();
    const client = await begin({ reports_per_contributor: 1 });
    const { mechanism } = client.bundle();
    const { perturb } = mechanism;
    const charges: (readonly unknown[])[] = [];
    let charged: readonly string[] = [];
    vi.spyOn(store, "update").mockImplementation(async (step) => {
      const found = await Slow.prototype.update.call(store, step);
      charged = (await MemoryStore.prototype.update.call(store, rows)) as string[];
      return found as never;
    });
    vi.spyOn(mechanism, "perturb").mockImplementation((...asked) => {
      charges.push(charged);
      return perturb.apply(mechanism, asked);
    });
    await client.report(JOURNEY);
    expect(charges).toEqual([["charged"]]);
    const used = refusal(LedgerRefused, "reports_exhausted", { limit: 1 });
    await expect(client.report(JOURNEY)).rejects.toThrow(used);
    expect(charges.length).toBe(1);
  });

  test.each(["charged", "waiting"])("that cannot be kept as %s is not sent", async (state) => {
    const slow = new Slow();
    store = slow;
    const client = await begin();
    slow.failing = state;
    await expect(client.report(JOURNEY)).rejects.toThrow("full");
    expect(server!.posted).toEqual([]);
  });

  test("is due at any time that the task allows, and before its end", async () => {
    const today = Math.floor(Date.now() / 1000 / DAY_S);
    const within = { start: today - 1, end: today + 2, send_within: 7 * DAY_S };
    const client = await begin({ ...within, reports_per_contributor: 20 });
    const due: number[] = [];
    for (let k = 0; k < 20; k += 1) {
      due.push((await client.report(JOURNEY, { queue: true })).notBefore!);
    }
    expect(Math.max(...due)).toBeLessThan((today + 2) * DAY_S);
    expect(new Set(due).size).toBeGreaterThan(1);
  });

  test("in the moment in which its task ends is refused, and costs nothing", async () => {
    const today = Math.floor(Date.now() / 1000 / DAY_S);
    const client = await begin({ start: today - 2, end: today });
    const late = refusal(ReportRefused, "task_expired");
    await expect(client.report(JOURNEY)).rejects.toThrow(late);
    expect(String((await client.budget()).used)).toBe("0");
  });

  test("that fails unexpectedly says nothing of the trajectory", async () => {
    const client = await begin();
    vi.spyOn(client.bundle().mechanism, "perturb").mockImplementation(() => {
      throw new Error("41.801");
    });
    const failed: NomadpError = await client.report(JOURNEY).then(
      () => expect.unreachable(),
      (error: NomadpError) => error,
    );
    expect([failed.name, failed.code, failed.facts]).toEqual([
      "ReportRefused",
      "report_failed",
      {},
    ]);
    expect(`${failed.message} ${String(failed.cause)}`).not.toContain("41");
    expect(server!.posted).toEqual([]);
  });
});

describe("a ledger", () => {
  test("checks several reports together", async () => {
    task = await runningTask("atlas", { reports_per_contributor: 3, epsilon: "1/2" });
    const generous = await Ledger.open(store);
    await generous.check(task, 3);
    await expect(generous.check(task, 4)).rejects.toThrow(
      refusal(LedgerRefused, "reports_exhausted", { limit: 3, reports: 0, more: 4 }),
    );
    const ledger = await Ledger.open(new MemoryStore(), 1);
    await ledger.check(task, 2);
    await expect(ledger.check(task, 3)).rejects.toThrow(
      refusal(LedgerRefused, "budget_exhausted", { used: "0", more: "3/2" }),
    );
  });

  test("counts what was stopped or lost as spent", async () => {
    task = await runningTask("atlas", { reports_per_contributor: 3, epsilon: "1/2" });
    const ledger = await Ledger.open(store, 1);
    await ledger.charge(task, 1); // and the device crashed
    const charge = await ledger.charge(task, 1);
    await ledger.keep(charge, new Uint8Array([1]), 0);
    await ledger.stop(charge.reportId, "refused");
    await expect(ledger.charge(task, 1)).rejects.toThrow(
      refusal(LedgerRefused, "budget_exhausted", { used: "1" }),
    );
  });

  test("in the place of the one that began is refused", async () => {
    await Ledger.open(store);
    store.marker.write("AAECAwQFBgcICQoLDA0ODw");
    await expect(Ledger.open(store)).rejects.toThrow(refusal(LedgerRefused, "ledger_mismatch"));
  });

  test("leaves accepted what was accepted, whatever a later reply says", async () => {
    task = await runningTask("atlas");
    const ledger = await Ledger.open(store);
    const charge = await ledger.charge(task, 1);
    await ledger.keep(charge, new Uint8Array([1]), 0);
    await ledger.accept(charge.reportId);
    await ledger.stop(charge.reportId, "report_replayed");
    await ledger.postpone(charge.reportId, "busy (503)", 9);
    expect((await ledger.receipts())[0]!.state).toBe("accepted");
  });
});

describe("a request", () => {
  test("carries nothing of a browser's own, and is given up in time", async () => {
    const client = await begin();
    const asked: RequestInit[] = [];
    const real = globalThis.fetch;
    vi.stubGlobal("fetch", (url: string, request: RequestInit) => {
      asked.push(request);
      return real(url, request);
    });
    await client.report(JOURNEY);
    await client.join(await address(client), task.id);
    expect(asked.length).toBe(4);
    for (const request of asked) {
      expect(request).toMatchObject({
        credentials: "omit",
        referrerPolicy: "no-referrer",
        cache: "no-store",
        redirect: "error",
        headers: { Accept: "*/*", "Accept-Language": "*" },
      });
      expect(request.signal).toBeInstanceOf(AbortSignal);
    }
  });

  test("for a task takes no file that is larger than any, nor a part of one", async () => {
    const client = await begin();
    const base = await address(client);
    const other = (await runningTask("atlas", { salt: "_____________________w" })).id;
    server!.answers = [
      (response) => void response.end("x".repeat(20_000)),
      (response) => void response.writeHead(206).end(task.bytes),
    ];
    await expect(client.join(base, other)).rejects.toThrow(
      refusal(TaskRefused, "task_file_too_large", { limit: 16_384 }),
    );
    await expect(client.join(base, other)).rejects.toThrow(
      refusal(UploadFailed, "unexpected_status", { status: 206 }),
    );
  });

  test.each([
    ["http:,notlocalhost", "address_not_https"],
    ["http:,localhost.nowhere", "address_not_https"],
    ["https:,@nowhere", "address_not_public"],
  ])("is never sent to %s", async (url, code) => {
    const client = await begin();
    const joined = client.join(url.replace(",", "//"), task.id);
    await expect(joined).rejects.toThrow(refusal(TaskRefused, code));
  });
});

describe("a reply", () => {
  const id = "AAECAwQFBgcICQoLDA0ODw";
  const failed = { id, error: "report_replayed" };

  test.each([
    ["is cut", { failures: [failed] }, false],
    ["speaks of another report, too", { failures: [failed, { ...failed, id: "x" }] }, true],
  ])("that %s is not believed", (_how, said, isWhole) => {
    const content = new TextEncoder().encode(JSON.stringify(said));
    const found = outcomeOf({ status: 200, content, isWhole, retryAfterS: 0 }, id);
    expect([found.state, found.reason]).toEqual(["waiting", "the reply cannot be read"]);
  });

  test("that is empty because it was cut is no acceptance", () => {
    const reply = { status: 200, content: new Uint8Array(), isWhole: false, retryAfterS: 0 };
    expect(outcomeOf(reply, id).state).toBe("waiting");
  });
});

async function address(client: Client): Promise<string> {
  return client.ledger.store.update(({ tasks }) => [tasks[0]!.address]);
}
