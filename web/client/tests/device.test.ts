/** A device against a collector on loopback: what it spends, keeps, sends and refuses. */

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { asFraction } from "../src/budget.js";
import {
  Client,
  fetchBundle,
  isClosed,
  Ledger,
  LedgerRefused,
  ReportRefused,
  type Task,
  TaskRefused,
  UPLOAD_TYPE,
  UploadFailed,
} from "../src/index.js";
import { parseAddress } from "../src/device/address.js";
import { outcomeOf } from "../src/device/sending.js";
import type { ChargeRow } from "../src/device/store.js";
import { refusal } from "./refusal.js";
import { joined, JOURNEY, type Loopback, runningTask, SeenStore } from "./loopback.js";

/** Writes down what is written to it, in order. */
class Watched extends SeenStore {
  readonly written: string[] = [];

  see({ state, body }: ChargeRow): void {
    this.written.push(`${state}${body ? " with its body" : ""}`);
  }
}

let task: Task;
let server: Loopback;
let base: string;
let store: Watched;

async function begin(world: string, facts: object = {}, options = {}): Promise<Client> {
  let client: Client;
  ({ client, task, server, base } = await joined({ store, ...options }, world, facts));
  return client;
}

beforeEach(() => {
  store = new Watched();
});
afterEach(() => server?.stop());

function said(body: Uint8Array): any {
  return JSON.parse(new TextDecoder().decode(body));
}

describe("a report", () => {
  test("is charged, then stored, then sent, and accepted", async () => {
    const client = await begin("atlas");
    let before: string[] = [];
    server.answers = [(response) => void ((before = [...store.written]), response.end())];
    const receipt = await client.report(JOURNEY);
    expect(receipt.state).toBe("accepted");
    expect(before).toEqual(["charged", "waiting with its body"]);
    expect(store.written.at(-1)).toBe("accepted");
    expect(String((await client.budget()).used)).toBe("4");
  });

  test("is all that is sent", async () => {
    const client = await begin("atlas");
    const receipt = await client.report(JOURNEY);
    expect(server.posted.length).toBe(1);
    const { path, headers, body } = server.posted[0]!;
    expect(path).toBe(`/tasks/${task.id}/reports`);
    expect(headers["content-type"]).toBe(UPLOAD_TYPE);
    expect([headers.cookie, headers.referer, headers.authorization]).toEqual(
      [, , ,].fill(undefined),
    );
    const { report_id, time, value } = said(body).reports[0];
    expect(said(body)).toEqual({ reports: [{ report_id, time, value }] });
    expect([report_id, time]).toEqual([receipt.reportId, task.epoch(Date.now())]);
    expect(client.bundle().code.parse(value).length).toBe(1);
  });

  test("waits at random for as long as the task allows", async () => {
    const client = await begin("atlas", { send_within: 3600 });
    const now = Date.now() / 1000;
    const { state, notBefore } = await client.report(JOURNEY);
    expect(state === "waiting" || notBefore === null).toBe(true);
    expect(notBefore ?? now).toBeLessThan(now + 3601);
    const sent = await client.send({ now: true });
    expect(sent.every((each) => each.state === "accepted")).toBe(true);
  });

  test("is told of as it leaves, each time it is tried", async () => {
    const left: [string, Uint8Array][] = [];
    const onUpload = (body: Uint8Array, id: string) => void left.push([id, body]);
    const client = await begin("atlas", {}, { onUpload });
    server.answers = [(response) => void response.writeHead(503).end()];
    const { reportId } = await client.report(JOURNEY);
    expect(left.map(([id]) => id)).toEqual([reportId, reportId]);
    expect(left.map(([, body]) => String(body))).toEqual(
      server.posted.map(({ body }) => String(new Uint8Array(body))),
    );
  });

  test("is sent alone if it is named", async () => {
    const client = await begin("atlas", { reports_per_contributor: 2 });
    const made = [1, 2].map(() => client.report(JOURNEY, { queue: true }));
    const [, second] = await Promise.all(made);
    const sent = await client.send({ now: true, reportId: second!.reportId });
    expect(sent.map(({ reportId }) => reportId)).toEqual([second!.reportId]);
    expect(server.posted.length).toBe(1);
  });

  test("that waits is sent as it is", async () => {
    const client = await begin("atlas");
    const { reportId, state } = await client.report(JOURNEY, { queue: true });
    expect([state, server.posted.length]).toEqual(["waiting", 0]);
    const [kept] = await client.ledger.waiting(null);
    await client.send({ now: true, reportId });
    expect(new Uint8Array(server.posted[0]!.body)).toEqual(kept!.body);
  });

  test("that waits for its random moment does so when what was stopped is sent again", async () => {
    const client = await begin("atlas", { send_within: 604_800, reports_per_contributor: 2 });
    server.answers = [(response) => void response.writeHead(413).end("no")];
    const stopped = await client.report(JOURNEY, { now: true });
    await client.report(JOURNEY, { queue: true });
    const sent = await client.send({ again: true });
    expect(sent.map(({ reportId }) => reportId)).toEqual([stopped.reportId]);
  });

  test("outside the time of its task is refused, and costs nothing", async () => {
    const today = Math.floor(Date.now() / 86_400_000);
    const client = await begin("atlas", { start: today + 1, end: today + 3 });
    const early = refusal(ReportRefused, "task_not_started");
    await expect(client.report(JOURNEY)).rejects.toThrow(early);
    expect(store.written).toEqual([]);
  });
});

describe("a retry", () => {
  test("has the same bytes until they are accepted", async () => {
    const client = await begin("atlas");
    server.answers = [
      (response) => void response.writeHead(503, { "Retry-After": "0" }).end(),
      (response) => void response.destroy(),
    ];
    expect((await client.report(JOURNEY)).state).toBe("accepted");
    const bodies = server.posted.map(({ body }) => String(body));
    expect(bodies.length).toBe(3);
    expect(new Set(bodies).size).toBe(1);
  });

  test("after a stop comes only when it is asked for", async () => {
    const client = await begin("atlas");
    server.answers = [(response) => void response.writeHead(413).end("no")];
    const { state, reason } = await client.report(JOURNEY);
    expect([state, reason]).toEqual(["stopped", "refused (413)"]);
    expect(await client.send({ now: true })).toEqual([]);
    expect((await client.send({ again: true }))[0]!.state).toBe("accepted");
    expect(server.posted.length).toBe(2);
  });

  test("never goes where a reply points to, and waits", async () => {
    const client = await begin("atlas");
    server.answers = [(response) => void response.writeHead(303, { Location: "/x" }).end()];
    await client.report(JOURNEY, { queue: true });
    const [receipt] = await client.send({ now: true, patienceMs: 0 });
    expect(receipt!.state).toBe("waiting");
    expect((await client.send({ now: true }))[0]!.state).toBe("accepted");
    const here = `/tasks/${task.id}/reports`;
    expect(server.posted.map(({ path }) => path)).toEqual([here, here]);
    expect(String(server.posted[0]!.body)).toBe(String(server.posted[1]!.body));
  });

  test("reads no more of a reply than 4 KiB", async () => {
    const client = await begin("atlas");
    server.answers = [
      (response) => {
        response.writeHead(200);
        response.write(Buffer.alloc(5000, " ")); // and it never ends
      },
    ];
    await client.report(JOURNEY, { queue: true });
    const [receipt] = await client.send({ now: true, patienceMs: 0 });
    expect([receipt!.state, receipt!.reason]).toEqual(["waiting", "the reply cannot be read"]);
  });
});

describe("a reply means", () => {
  const id = "AAECAwQFBgcICQoLDA0ODw";
  const failed = (error: string, other = id) =>
    JSON.stringify({ failures: [{ id: other, error }] });
  test.each([
    [200, "", "accepted", ""],
    [204, "", "accepted", ""],
    [200, failed("report_replayed"), "stopped", "report_replayed"],
    [200, failed("report_too_early"), "waiting", "report_too_early"],
    [200, failed("<b>secret</b>"), "stopped", "refused (no known reason)"],
    [200, failed("report_replayed", "x"), "waiting", "the reply cannot be read"],
    [200, "<html>", "waiting", "the reply cannot be read"],
    [
      400,
      '{"type":"urn:nomadp:error:invalid_message"}',
      "stopped",
      "refused (urn:nomadp:error:invalid_message)",
    ],
    [304, "", "waiting", "moved (304)"],
    [404, '{"type":"javascript:alert(1)"}', "stopped", "refused (404)"],
    [429, "", "waiting", "busy (429)"],
    [507, "", "waiting", "busy (507)"],
  ])("%i %s: %s", (status, text, state, reason) => {
    const content = new TextEncoder().encode(text);
    const found = outcomeOf({ status, content, isWhole: true, retryAfterS: 10 ** 9 }, id);
    expect([found.state, found.reason]).toEqual([state, reason]);
    expect(found.retryAfterS).toBeLessThanOrEqual(3600);
  });
});

describe("a ledger", () => {
  test("spends exact fractions up to its lifetime and not a hair more", async () => {
    task = await runningTask("atlas", { reports_per_contributor: 25, epsilon: "1/3" });
    const ledger = await Ledger.open(store, "1");
    for (const _ of [1, 2, 3]) await ledger.charge(task, 1);
    const spent = refusal(LedgerRefused, "budget_exhausted", {
      lifetime: "1",
      used: "1",
      more: "1/3",
    });
    await expect(ledger.charge(task, 1)).rejects.toThrow(spent);
    expect(String((await ledger.budget()).used)).toBe("1");
  });

  test.each([
    ["1", "500000000000000000000001/1000000000000000000000000", 1], // in floats, two fit
    ["3/10", "1/10", 3], // in floats, three tenths are more than .3
    ["999999999999999999999999/1000000000000000000000000", "1/2", 1],
  ])("of %s takes reports of %s in exact fractions", async (lifetime, epsilon, fitting) => {
    task = await runningTask("atlas", { reports_per_contributor: 9, epsilon });
    const ledger = await Ledger.open(store, lifetime);
    await ledger.check(task, fitting);
    const spent = refusal(LedgerRefused, "budget_exhausted", { lifetime });
    await expect(ledger.check(task, fitting + 1)).rejects.toThrow(spent);
    for (let k = 0; k < fitting; k += 1) await ledger.charge(task, 1);
    await expect(ledger.charge(task, 1)).rejects.toThrow(spent);
  });

  test("allows a task its reports, the wasted ones too", async () => {
    const client = await begin("atlas", { reports_per_contributor: 2 });
    await client.ledger.charge(task, 1); // and the device crashed
    await client.report(JOURNEY);
    const used = refusal(LedgerRefused, "reports_exhausted", { limit: 2, reports: 2, more: 1 });
    await expect(client.report(JOURNEY)).rejects.toThrow(used);
    await expect(client.check()).rejects.toThrow(used);
    expect(server.posted.length).toBe(1);
  });

  test("lets reports that are made at once not spend more together", async () => {
    const client = await begin("atlas", { reports_per_contributor: 25, epsilon: "4" });
    const tried = await Promise.allSettled(
      Array.from({ length: 12 }, () => client.report(JOURNEY, { queue: true })),
    );
    const made = tried.filter(({ status }) => status === "fulfilled").length;
    expect(made).toBe(5);
    expect(String((await client.budget()).remaining)).toBe("0");
  });

  test("gives a charge one body", async () => {
    task = await runningTask("atlas");
    const ledger = await Ledger.open(store);
    const charge = await ledger.charge(task, 1);
    await ledger.keep(charge, new Uint8Array([1]), 0);
    const used = refusal(LedgerRefused, "charge_already_used");
    await expect(ledger.keep(charge, new Uint8Array([2]), 0)).rejects.toThrow(used);
  });

  test("that is gone where one began is refused", async () => {
    await Ledger.open(store);
    store.lose();
    const gone = refusal(LedgerRefused, "ledger_missing");
    await expect(Ledger.open(store)).rejects.toThrow(gone);
    await expect(Client.open({ store, isTest: true })).rejects.toThrow(gone);
  });

  test("that goes while it is open is refused", async () => {
    const client = await begin("atlas");
    store.lose();
    const gone = refusal(LedgerRefused, "ledger_missing");
    await expect(client.report(JOURNEY)).rejects.toThrow(gone);
    expect(server.posted.length).toBe(0);
  });

  test("that is damaged is refused", async () => {
    const ledger = await Ledger.open(store);
    task = await runningTask("atlas");
    await ledger.charge(task, 1);
    await store.update(({ charges }) => [0, { changed: { ...charges[0]!, epsilon: "-4" } }]);
    await expect(ledger.budget()).rejects.toThrow(refusal(LedgerRefused, "ledger_damaged"));
  });

  test("can be lowered and never raised", async () => {
    await Ledger.open(store, 10);
    await Ledger.open(store, 8);
    expect(String((await (await Ledger.open(store)).budget()).lifetime)).toBe("8");
    await expect(Ledger.open(store, 9)).rejects.toThrow(
      refusal(LedgerRefused, "lifetime_raised", { lifetime: "8" }),
    );
  });

  test.each(["0", "-1", "101", "x", NaN, Infinity])(
    "has no lifetime of %s",
    async (lifetime) => {
      const refused = refusal(LedgerRefused, "lifetime_out_of_range", { limit: 100 });
      await expect(Ledger.open(store, lifetime)).rejects.toThrow(refused);
    },
  );

  test("begins at 20", async () => {
    const { remaining: left } = await (await Ledger.open(store)).budget();
    expect(left.compare(asFraction("20")!)).toBe(0);
  });

  test("that forgets is for tests alone", async () => {
    await expect(Client.open({ store })).rejects.toThrow(
      refusal(LedgerRefused, "ledger_not_durable"),
    );
  });

  test("must be in a browser that can keep it", async () => {
    const refused = refusal(LedgerRefused, "ledger_not_durable", { needs: "localStorage" });
    await expect(Client.open()).rejects.toThrow(refused); // Node has none
    await expect(Client.open({ acceptEviction: true })).rejects.toThrow(refused);
  });
});

describe("joining", () => {
  test("takes the task of the id that was asked for, and no other", async () => {
    await begin("atlas");
    const client = await Client.open({ store, isTest: true });
    const other = (await runningTask("atlas", { salt: "_____________________w" })).id;
    await expect(client.join(base)).rejects.toThrow(refusal(TaskRefused, "task_id_missing"));
    const another = refusal(TaskRefused, "task_id_mismatch");
    await expect(client.join(`${base}/tasks/${task.id}`, other)).rejects.toThrow(another);
    const unknown = refusal(UploadFailed, "unexpected_status", { status: 404 });
    await expect(client.join(base, other)).rejects.toThrow(unknown);
    await expect(client.join(base, other)).rejects.toMatchObject({ status: 404 });
    expect((await client.join(`${base}/`, task.id)).task.id).toBe(task.id);
  });

  test("refuses what is served under the id of another", async () => {
    await begin("atlas");
    const other = await runningTask("atlas", { salt: "_____________________w" });
    const client = await Client.open({ store, isTest: true });
    server.answers = [(response) => void response.end(task.bytes)];
    await expect(client.join(base, other.id)).rejects.toThrow(
      refusal(TaskRefused, "task_id_mismatch", { expected: other.id, taskId: task.id }),
    );
  });

  test("of what was fetched before fetches nothing, and fetching keeps nothing", async () => {
    await begin("atlas");
    const fetched = await fetchBundle(base, task.id);
    const other = new Watched();
    const client = await Client.open({ store: other, isTest: true });
    expect((await client.budget()).tasks).toEqual([]);
    await server.stop();
    expect(await client.enter(fetched)).toBe(fetched.bundle);
    expect((await client.budget()).tasks.length).toBe(1);
  });

  test.each([
    ["is closed", '{"closed":true}', true],
    ["is open", '{"closed":false}', false],
    ["says it otherwise", '{"closed":"true"}', false],
    ["says nothing", "<html>", false],
  ])("of a task that %s is known before anything is spent", async (_how, said, closed) => {
    await begin("atlas");
    const fetched = await fetchBundle(base, task.id);
    server.answers = [(response) => void response.end(said)];
    expect(await isClosed(fetched)).toBe(closed);
    expect(await isClosed(fetched)).toBe(false); // 404, from a collector that cannot tell
    expect(server.posted[0]!.path).toBe(`/tasks/${task.id}/status`);
    await server.stop();
    expect(await isClosed(fetched)).toBe(false);
    expect(store.written).toEqual([]);
  });

  test("refuses a collector that cannot be reached", async () => {
    const client = await Client.open({ store, isTest: true });
    const { id } = await runningTask("atlas");
    const joined = client.join("http://127.0.0.1:9", id);
    await expect(joined).rejects.toThrow(refusal(UploadFailed, "collector_unreachable"));
    await expect(joined).rejects.toMatchObject({ status: 0 });
  });

  test("is needed before anything is reported", async () => {
    const client = await Client.open({ store, isTest: true });
    await expect(client.report(JOURNEY)).rejects.toThrow(
      refusal(TaskRefused, "no_task_joined"),
    );
  });
});

describe("an address", () => {
  test("is that of a collector, with or without a task", async () => {
    const { id } = await runningTask("atlas");
    const found = parseAddress(`https://nowhere:8443/a/tasks/${id}/`);
    expect(found).toEqual({ base: "https://nowhere:8443/a", taskId: id });
    const here = "//[::1]";
    expect(parseAddress(`http:${here}:80/`)).toEqual({ base: `http:${here}`, taskId: null });
  });

  test.each([
    ["http://nowhere/", "address_not_https"],
    ["https://somebody@nowhere/", "address_not_public"],
    ["https://nowhere/?who=me", "address_not_public"],
    ["https://nowhere/#me", "address_not_public"],
    ["https://nowhere/%41", "address_path_malformed"],
    ["https://nowhere/ a", "address_not_plain_text"],
    ["ftp://nowhere/", "address_not_https"],
    ["//nowhere", "address_malformed"],
    [`https://nowhere/${"a".repeat(1000)}`, "address_not_plain_text"],
  ])("is never %s", (text, code) => {
    expect(() => parseAddress(text)).toThrow(refusal(TaskRefused, code));
  });
});
