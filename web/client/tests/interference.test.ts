/** Nothing that a network or a collector sees depends on the trajectory: not whether, nor how. */

import { gzipSync } from "node:zlib";

import { expect, test } from "vitest";

import { DomainError, type LatLng, ReportRefused } from "../src/index.js";
import { MemoryStore } from "../src/device/memory_store.js";
import { hourOfWeek, readTrajectories } from "../src/imports/index.js";
import { bundleOf } from "./protocol_worlds.js";
import { refusal } from "./refusal.js";
import { joined, JOURNEY, type Seen, SeenStore } from "./loopback.js";

const [HOME] = JOURNEY as [LatLng];
const many = (count: number, point: (k: number) => LatLng) =>
  Array.from({ length: count }, (_, k) => point(k));

const JOURNEYS: Record<string, readonly LatLng[]> = {
  "of two points": JOURNEY,
  empty: [],
  "of one point": [HOME],
  "of no number": [
    { lat: NaN, lng: NaN },
    { lat: 41.8, lng: NaN },
  ],
  infinite: [
    { lat: Infinity, lng: 0 },
    { lat: 0, lng: -Infinity },
  ],
  "of latitudes that there are none": [
    { lat: 91, lng: 0 },
    { lat: -1e300, lng: 0 },
  ],
  "of nothing": [
    {} as LatLng,
    null as unknown as LatLng,
    { lat: "41", lng: "2" } as unknown as LatLng,
  ],
  "with one bad point": [HOME, { lat: NaN, lng: 0 }],
  "beyond the date line": [
    { lat: 41.8, lng: 272.4 },
    { lat: 41.8, lng: -1e308 },
    { lat: 0, lng: 180 },
  ],
  "far away": [
    { lat: -89.9, lng: 0.5 },
    { lat: -33.9, lng: 151.2 },
  ],
  "always at home": many(500, () => HOME),
  "very long": many(20_000, (k) => ({ lat: (k % 180) - 90, lng: (k % 360) - 180 })),
};
const WORLDS = [
  "atlas",
  "trips",
  "trips as bits",
  "starts",
  "ends",
  "visits",
  "visits by weekday",
];
const HOURS = [11, 0, 167, null, undefined, NaN, -1, 168, 0.5];

async function seenOf(
  world: string,
  points: readonly LatLng[],
  hour?: number | null,
): Promise<readonly Seen[]> {
  const { client, task, server } = await joined({ store: new MemoryStore() }, world);
  const receipt = await client.report(points, {
    now: true,
    unlessClosed: true,
    hour: hour as number,
  });
  await server.stop();
  expect(receipt.state).toBe("accepted");
  return server.seen.map((each) => ({ ...each, asked: each.asked.replace(task.id, "ID") }));
}

test.each(WORLDS)("a report of %s looks alike for every trajectory", async (world) => {
  const usual = await seenOf(world, JOURNEY, 11);
  expect(usual.map(({ asked }) => asked).slice(-2)).toEqual([
    "GET /tasks/ID/status",
    "POST /tasks/ID/reports",
  ]);
  for (const points of Object.values(JOURNEYS)) {
    expect(await seenOf(world, points, 11)).toEqual(usual);
  }
});

test("a report looks alike whatever hour was read, or none", async () => {
  const usual = await seenOf("visits by weekday", JOURNEY, 11);
  for (const hour of HOURS)
    expect(await seenOf("visits by weekday", JOURNEY, hour)).toEqual(usual);
});

const ROWS: Record<string, string> = {
  "one place": "41.801,-87.601,2024-05-06T11:00:00Z\n",
  "no row": "",
  "no number in it": "a,b,c\n,,\nNaN,NaN,\n",
  "places that there are none": "91,0,\n-100,0,\ninf,0,\n",
  "times that cannot be read": "41.801,-87.601,soon\n41.85,-87.55,\n",
  "years beyond": "41.801,-87.601,9999-01-01T00:00:00Z\n",
  "a longitude that ran over": "41.801,272.4,2024-05-06T11:00:00Z\n",
  "torn rows": '41.801\n"41.85","-8\n',
};

test.each(["visits by weekday", "atlas"])(
  "a report of %s to it looks alike for every file of one form",
  async (world) => {
    const reported = async (rows: string, packed: (text: Buffer) => Uint8Array) => {
      const file = new Blob([Uint8Array.from(packed(Buffer.from(`lat,lng,time\n${rows}`)))]);
      const [trajectory] = (await readTrajectories(file)).trajectories;
      return seenOf(world, trajectory!, hourOfWeek(trajectory!));
    };
    const usual = await seenOf(world, JOURNEY, 11);
    for (const rows of Object.values(ROWS)) {
      expect(await reported(rows, (text) => text)).toEqual(usual);
      expect(await reported(rows, gzipSync)).toEqual(usual);
    }
  },
);

test("what cannot be read becomes the first public location, and nothing else does", async () => {
  const bundle = await bundleOf("protocol", "atlas");
  const lost = JOURNEYS["of latitudes that there are none"]!;
  expect(bundle.read(lost)).toEqual(bundle.read([]));
  expect(bundle.read([])).toEqual(Array(bundle.task.facts.length).fill(0));
  expect(bundle.read([...lost, ...JOURNEY, ...lost])).toEqual(bundle.read(JOURNEY));
  const around = JOURNEY.map(({ lat, lng }) => ({ lat, lng: lng + 720 }));
  expect(bundle.read(around)).toEqual(bundle.read(JOURNEY));
});

test("a trajectory is read before anything is asked, charged or sent", async () => {
  const events: string[] = [];
  class Store extends SeenStore {
    see({ state }: { state: string }): void {
      events.push(state);
    }
  }
  const { client, server } = await joined({ store: new Store() }, "trips");
  server.answers = [(response) => void (events.push("asked"), response.writeHead(404).end())];
  const points = many(5000, () => ({
    lng: HOME.lng,
    get lat() {
      if (events.at(-1) !== "read") events.push("read");
      return HOME.lat;
    },
  }));
  await client.report(points, { now: true, unlessClosed: true });
  await server.stop();
  expect(events).toEqual(["read", "asked", "charged", "waiting", "accepted"]);
});

test("a task that was closed meanwhile is charged nothing, for any trajectory", async () => {
  for (const points of [JOURNEY, []]) {
    const { client, server } = await joined({ store: new MemoryStore() });
    server.answers = [(response) => void response.end('{"closed":true}')];
    const refused = client.report(points, { now: true, unlessClosed: true });
    await expect(refused).rejects.toThrow(refusal(ReportRefused, "task_closed"));
    expect(String((await client.budget()).used)).toBe("0");
    await server.stop();
  }
});

test("of a report that waits for a random moment nobody is asked", async () => {
  const { client, server } = await joined({ store: new MemoryStore() }, "atlas", {
    send_within: 3600,
  });
  const before = server.seen.length;
  const { state } = await client.report(JOURNEY, { unlessClosed: true, queue: true });
  await server.stop();
  expect([state, server.seen.length]).toEqual(["waiting", before]);
});

test("a program that never tells an hour is refused by its form, before anything is spent", async () => {
  const { client, server } = await joined({ store: new MemoryStore() }, "visits by weekday");
  await expect(client.report(JOURNEY)).rejects.toThrow(refusal(DomainError, "hour_missing"));
  expect(String((await client.budget()).used)).toBe("0");
  await server.stop();
});
