/** Exports as people make them, by the files and answers of tests/imports. */

import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

import { expect, test } from "vitest";

import {
  byDay,
  hourOfWeek,
  ImportRefused,
  readTrajectories,
  type TrackPoint,
} from "../src/imports/index.js";
import { readLarge } from "./large_timeline.js";

const FOLDER = new URL("../../../tests/imports/", import.meta.url);
const SAID: Record<string, any> = JSON.parse(
  String(readFileSync(new URL("expected.json", FOLDER))),
);
const NAMES = Object.keys(SAID);
const READ = NAMES.filter((name) => SAID[name].refused === undefined);
/** A device takes them for empty trajectories: `nomadp data convert` refuses them. */
const EMPTY = NAMES.filter((name) => ["no-places", "raw-only"].includes(SAID[name].refused));
const REFUSED = NAMES.filter((name) => SAID[name].refused && !EMPTY.includes(name));

function file(name: string): Blob {
  return new Blob([readFileSync(new URL(name, FOLDER))]);
}

function plain(trajectories: readonly (readonly TrackPoint[])[]): unknown {
  return trajectories.map((trajectory) =>
    trajectory.map(({ momentUs, lat, lng }) => [momentUs && momentUs / 1000, lat, lng]),
  );
}

function stated(trajectories: [string | null, number, number][][]): unknown {
  return trajectories.map((trajectory) =>
    trajectory.map(([time, lat, lng]) => [time && Date.parse(time), lat, lng]),
  );
}

async function refusal(blob: Blob, options = {}): Promise<ImportRefused> {
  const found = await readTrajectories(blob, options).catch((error: unknown) => error);
  expect(found).toBeInstanceOf(ImportRefused);
  return found as ImportRefused;
}

test("every file is read or refused", () => {
  const here = readdirSync(FOLDER).filter((name) => !/^(README|expected)/.test(name));
  expect(here.sort()).toEqual([...NAMES].sort());
  expect(READ.length).toBeGreaterThanOrEqual(19);
  expect(REFUSED.length).toBeGreaterThanOrEqual(16);
  expect(EMPTY.length).toBe(5);
});

test.each(READ)("%s gives its points", async (name) => {
  const { kind, trajectories, leftOut } = await readTrajectories(file(name));
  expect(plain(trajectories)).toEqual(stated(SAID[name].journeys));
  expect(kind).toBe(SAID[name].kind);
  if (SAID[name].left_out !== undefined) expect(leftOut).toBe(SAID[name].left_out);
});

test("an entry without end holds no place, and refuses no file", async () => {
  const endless = randomBytes(10 << 20).toString("hex");
  const packed = gzipSync(`{"semanticSegments":["${endless}"]}`, { level: 1 });
  const { trajectories } = await readTrajectories(new Blob([Uint8Array.from(packed)]));
  expect(trajectories).toEqual([[]]);
});

test("a quote without end takes no time, and refuses no file", async () => {
  const text = `lat,lng\n41.8,-87.6\n41.9,"${"8\n".repeat(1 << 20)}`;
  const { trajectories } = await readTrajectories(new Blob([text]));
  expect(plain(trajectories)).toEqual([[[null, 41.8, -87.6]]]);
});

test("what programs write for a missing number is one point less in any JSON", async () => {
  const line = (coordinates: string) =>
    new Blob([
      `{"type":"Feature","properties":{"name":"NaN, NaN"},"geometry":{"type":"LineString",` +
        `"coordinates":${coordinates}}}`,
    ]);
  const odd = "[[1,2],[NaN,3],[-Infinity,Infinity],[4,5]]";
  const usable = (found: { trajectories: readonly (readonly TrackPoint[])[] }) =>
    found.trajectories.map((trajectory) =>
      trajectory.filter(({ lat }) => Number.isFinite(lat)),
    );
  const found = usable(await readTrajectories(line(odd)));
  expect(found).toEqual(usable(await readTrajectories(line("[[1,2],[4,5]]"))));
  const torn = await refusal(line("[[1,2],[Nan,3]]"));
  expect(torn.reason).toBe("not-json");
});

test.each(REFUSED)("%s is refused for its reason, without its content", async (name) => {
  const refused = await refusal(file(name));
  expect(refused.reason).toBe(SAID[name].refused);
  expect([refused.kind, refused.code]).toEqual(["schema", refused.reason.replaceAll("-", "_")]);
  expect(refused.message).not.toContain("30.5");
  expect(refused.cause).toBeUndefined();
});

test.each([...EMPTY, "no record"])("%s is one trajectory without a point", async (name) => {
  const blob = name === "no record" ? new Blob(['{"locations": []}']) : file(name);
  expect((await readTrajectories(blob)).trajectories).toEqual([[]]);
});

test("raw signals beside entries that cannot be read are no reason to refuse", async () => {
  const said = { semanticSegments: [{ startTime: "soon" }], rawSignals: [] };
  const { trajectories } = await readTrajectories(new Blob([JSON.stringify(said)]));
  expect(trajectories).toEqual([[]]);
});

test("raw signals are read where they are asked for", async () => {
  const { trajectories } = await readTrajectories(file("raw-only.json"), { rawSignals: true });
  expect(plain(trajectories)).toEqual(stated(SAID["raw-only.json"].with_raw_signals));
});

test("the profile is never parsed", async () => {
  const text = String(readFileSync(new URL("timeline-android.json", FOLDER)));
  const profile = '"userLocationProfile": {"frequentPlaces": [nothing that is JSON]}, ';
  const blob = new Blob([text.replace("{", `{${profile}`)]);
  const { trajectories } = await readTrajectories(blob);
  expect(plain(trajectories)).toEqual(stated(SAID["timeline-android.json"].journeys));
});

test("gaps split where they are asked to", async () => {
  const count = async (splitHours: number) =>
    (await readTrajectories(file("timeline-gap.json"), { splitHours })).trajectories.length;
  expect([await count(2), await count(3), await count(9)]).toEqual([3, 2, 1]);
});

test("hours and days are those of the clock where it was", async () => {
  const android = await readTrajectories(file("timeline-android.json"));
  const ios = await readTrajectories(file("timeline-ios.json"));
  // A Monday: at 8 h by Android's clock, and at 11 h in UTC, which is all that iOS tells.
  expect([android, ios].map(({ trajectories }) => hourOfWeek(trajectories[0]!))).toEqual([
    8, 11,
  ]);
  const [day] = byDay(android.trajectories);
  expect([day!.date, day!.trajectories.length]).toEqual(["2024-05-06", 1]);
  expect(byDay([[{ lat: 1, lng: 2, momentUs: null, localUs: null }]])[0]!.date).toBe("");
});

test("times without a zone are read where somebody says it", async () => {
  const { trajectories } = await readTrajectories(file("naive.kml"), { timeZone: "Etc/UTC" });
  expect(plain(trajectories)).toEqual(stated(SAID["tracks.kml"].journeys));
  const there = await readTrajectories(file("naive.kml"), { timeZone: "America/New_York" });
  const [late, early] = [there, { trajectories }].map(
    (found) => found.trajectories[0]![0]!.momentUs!,
  );
  expect(late! - early!).toBe(4 * 3600e6);
});

test("files are read in pieces of any size", async () => {
  for (const name of READ.filter((each) => !/zip|gz|kmz/.test(each))) {
    const bytes = new Uint8Array(readFileSync(new URL(name, FOLDER)));
    const blob = new Blob([bytes]);
    const pieces = () =>
      new ReadableStream({
        start(controller) {
          for (let k = 0; k < bytes.length; k += 7) controller.enqueue(bytes.slice(k, k + 7));
          controller.close();
        },
      });
    Object.defineProperty(blob, "stream", { value: pieces });
    expect(plain((await readTrajectories(blob)).trajectories)).toEqual(
      stated(SAID[name].journeys),
    );
  }
});

test("whatever is damaged is refused without a digit of it", async () => {
  let refusals = 0;
  for (const name of READ) {
    const bytes = new Uint8Array(readFileSync(new URL(name, FOLDER)));
    for (let k = 1; k < 24; k += 1) {
      const broken = bytes.slice(0, k % 2 ? Math.floor((bytes.length * k) / 24) : bytes.length);
      broken[Math.floor((broken.length * k) / 25)]! ^= 1 << (k % 8);
      const found = await readTrajectories(new Blob([broken])).catch((error: unknown) => error);
      if (found instanceof Error) {
        expect(found).toBeInstanceOf(ImportRefused);
        expect(found.message).not.toMatch(/30\.|40\.2|305|402|0123|2411/);
        refusals += 1;
      }
    }
  }
  expect(refusals).toBeGreaterThan(100);
});

const GPX = `<?xml version="1.0"?><gpx version="1.1"><wpt lat="1" lon="1"/><trk>
  <name>Home &amp; away</name><trkseg>
  <trkpt lat="30.5" lon='-40.25'><ele>3</ele><time>2024-05-06T11:00:00Z</time></trkpt>
  <trkpt lat="91" lon="0"><time>2024-05-06T11:01:00Z</time></trkpt>
  <trkpt lat="30.5123" lon="-40.2411"><time>2024-05-06T18:05:00.5Z</time></trkpt></trkseg>
  <trkseg><trkpt lat="30.75" lon="-40"/></trkseg></trk></gpx>`;
const FIRST = [Date.parse("2024-05-06T11:00:00Z"), 30.5, -40.25];
const SECOND = [Date.parse("2024-05-06T18:05:00.5Z"), 30.5123, -40.2411];

test("every segment of GPX is a trajectory, split only where that is asked", async () => {
  const blob = new Blob([GPX]);
  const { kind, trajectories, leftOut } = await readTrajectories(blob);
  expect([kind, leftOut]).toEqual(["gpx", 1]);
  expect(plain(trajectories)).toEqual([[FIRST, SECOND], [[null, 30.75, -40]]]);
  expect((await readTrajectories(blob, { splitHours: 3 })).trajectories.length).toBe(3);
});

test("lines and timed points of GeoJSON are trajectories", async () => {
  const times = ["2024-05-06T11:00:00Z", "2024-05-06T18:05:00.5Z"];
  const line = {
    type: "LineString",
    coordinates: [FIRST, SECOND].map(([, lat, lng]) => [lng, lat]),
  };
  const feature = (geometry: object, properties: object = {}) => ({
    type: "Feature",
    geometry,
    properties,
  });
  const point = (k: number) => ({ type: "Point", coordinates: line.coordinates[k] });
  const read = async (root: object) =>
    plain((await readTrajectories(new Blob([JSON.stringify(root)]))).trajectories);
  const all = (...features: object[]) => ({ type: "FeatureCollection", features });
  expect(await read(all(feature(line, { times })))).toEqual([[FIRST, SECOND]]);
  expect(await read(feature(line, { coordTimes: times }))).toEqual([[FIRST, SECOND]]);
  const points = times.map((time, k) => feature(point(k), { time })).reverse();
  expect(await read(all(...points))).toEqual([[FIRST, SECOND]]);
  expect(await read(all(feature(line)))).toEqual([
    [FIRST, SECOND].map(([, ...at]) => [null, ...at]),
  ]);
  expect(await read(all(feature({ type: "Polygon" })))).toEqual([[]]);
});

test.each([
  ["latitude,longitude,timestamp\n30.5,-40.25,2024-05-06T11:00:00Z\n", {}],
  ["\ufefftime;LAT;Lon\r\n1714993200;30.5;-40.25\r\n", {}],
  [
    '"a note","y","x","t"\n"said ""no"",\n and left",30.5,-40.25,1714993200000',
    { columns: { lat: "y", lng: "x", time: "t" } },
  ],
])("tables are read by their columns", async (text, options) => {
  const { kind, trajectories } = await readTrajectories(new Blob([text]), options);
  expect([kind, plain(trajectories)]).toEqual(["csv", [[FIRST]]]);
});

test("rows of a table belong together by their trajectory", async () => {
  const text = "tid,lat,lng\na,1,2\nb,3,4\na,5,6\nb,x,4\n";
  const { trajectories, leftOut } = await readTrajectories(
    new Blob([Uint8Array.from(gzipSync(text))]),
  );
  expect(plain(trajectories)).toEqual([
    [
      [null, 1, 2],
      [null, 5, 6],
    ],
    [[null, 3, 4]],
  ]);
  expect(leftOut).toBe(1);
});

/** A made archive with some bytes changed, counted from where its first entry is listed. */
function patched(name: string, changes: [number, number][]): Blob {
  const bytes = new Uint8Array(readFileSync(new URL(name, FOLDER)));
  const entry = Buffer.from(bytes).indexOf("PK\u0001\u0002");
  for (const [at, value] of changes) bytes[entry + at] = value;
  return new Blob([bytes]);
}

test("archives that are locked, packed oddly, too large or damaged are refused", async () => {
  const reason = async (...changes: [number, number][]) =>
    (await refusal(patched("takeout.zip", changes))).reason;
  expect(await reason([8, 1])).toBe("locked-archive");
  expect(await reason([10, 12])).toBe("locked-archive");
  expect(await reason([16, 0], [17, 0])).toBe("damaged-archive"); // another sum of its bytes
  expect(await reason([24, 255])).toBe("damaged-archive"); // another size
  expect(await reason([27, 240])).toBe("bomb");
  expect(await reason([42, 9])).toBe("damaged-archive"); // and it is not there
});

test.each([
  ["open", GPX.replace("</gpx>", "")],
  ["closed by another", GPX.replace("</trk>", "</trak>")],
  ["of two roots", `${GPX}<gpx/>`],
  ["followed by text", `${GPX} and more`],
  ["of an entity nobody declared", GPX.replace("&amp;", "&home;")],
  ["of a bare ampersand", GPX.replace("&amp;", "&")],
])("XML that is %s is refused", async (_, text) => {
  expect((await refusal(new Blob([text]))).reason).toBe("not-xml");
});

test("XML is read in the encoding that it declares", async () => {
  const utf16 = Buffer.concat([Buffer.from([255, 254]), Buffer.from(GPX, "utf16le")]);
  const latin = GPX.replace("?>", ' encoding="ISO-8859-1"?>').replace("Home", "\u00dcber");
  const encoded = [utf16, Buffer.from(latin, "latin1")].map((each) => Uint8Array.from(each));
  for (const bytes of encoded) {
    expect(plain((await readTrajectories(new Blob([bytes]))).trajectories)).toEqual([
      [FIRST, SECOND],
      [[null, 30.75, -40]],
    ]);
  }
});

test("what is none of these is refused", async () => {
  expect((await refusal(new Blob(["hello, world\n1, 2\n"]))).reason).toBe("unknown");
  expect((await refusal(new Blob([]))).reason).toBe("unknown");
});

test("a large Timeline is read as it streams by", async () => {
  await readLarge(5_000);
});

test("a picture is of an unknown format, and no damaged XML", async () => {
  const jpeg = Uint8Array.of(0xff, 0xd8, 0xff, 0xe0, 0, 16, 0x4a, 0x46, 0x49, 0x46, 0, 1);
  expect((await refusal(new Blob([jpeg]))).reason).toBe("unknown");
});
