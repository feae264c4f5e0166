/** A collector of a few lines on loopback: serves a task and its files, and replies as told. */

import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

import { Client, type LedgerChange, type LedgerState, Task } from "../src/index.js";
import { MemoryStore } from "../src/device/memory_store.js";
import type { ChargeRow } from "../src/device/store.js";
import { canonicalBytes } from "../src/protocol/canonical.js";
import { bytes, worldText } from "./protocol_worlds.js";

export const JOURNEY = [
  { lat: 41.801, lng: -87.601 },
  { lat: 41.85, lng: -87.55 },
];

export type Answer = (response: ServerResponse, body: Buffer) => void | Promise<void>;

/** A known world whose task runs today, with other facts if any are given. */
export async function runningTask(world: string, facts: object = {}): Promise<Task> {
  const today = Math.floor(Date.now() / 86_400_000);
  const said = JSON.parse(worldText("protocol", world).task);
  const times = { start: today - 1, end: today + 90, retention: 180, send_within: 0 };
  return Task.fromBytes(canonicalBytes({ ...said, ...times, ...facts }));
}

export interface Joined {
  readonly client: Client;
  readonly task: Task;
  readonly server: Loopback;
  readonly base: string;
}

/** A device that joined a task of a known world, at a collector of its own. */
export async function joined(
  options: Parameters<typeof Client.open>[0],
  world = "atlas",
  facts: object = {},
): Promise<Joined> {
  const task = await runningTask(world, facts);
  const server = new Loopback(task, world);
  const base = await server.start();
  const client = await Client.open({ isTest: true, ...options });
  await client.join(`${base}/tasks/${task.id}`);
  return { client, task, server, base };
}

/** Shows every charge that is about to be written. */
export abstract class SeenStore extends MemoryStore {
  abstract see(row: ChargeRow): void;

  override async update<Found>(
    step: (state: LedgerState) => readonly [Found, LedgerChange?],
  ): Promise<Found> {
    return super.update((state) => {
      const [found, change = {}] = step(state);
      const row = change.added ?? change.changed;
      if (row !== undefined) this.see(row);
      return [found, change];
    });
  }
}

/** A request as anybody on the way sees it: over which connection, and how large it is. */
export interface Seen {
  readonly connection: number;
  readonly asked: string;
  readonly headBytes: number;
  readonly bodyBytes: number;
}

export class Loopback {
  /** Every request, in order. */
  readonly seen: Seen[] = [];
  /** Every request for which the task was not asked, in order. */
  readonly posted: { path: string; headers: IncomingMessage["headers"]; body: Buffer }[] = [];
  answers: Answer[] = [];
  readonly #files: Map<string, Uint8Array>;
  readonly #server: Server;
  readonly #sockets = new Map<unknown, number>();

  constructor(task: Task, world: string) {
    const { files } = worldText("protocol", world);
    const path = `/tasks/${task.id}`;
    this.#files = new Map([[path, task.bytes]]);
    for (const [name, text] of Object.entries<string>(files)) {
      this.#files.set(`${path}/${name}`, bytes(text));
    }
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  async start(): Promise<string> {
    await new Promise<void>((done) => this.#server.listen(0, "127.0.0.1", done));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  stop(): Promise<unknown> {
    this.#server.closeAllConnections();
    return new Promise((done) => this.#server.close(done));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    this.#see(request, body.length);
    const file = this.#files.get(request.url!);
    if (request.method === "GET" && file !== undefined) {
      response.end(file);
      return;
    }
    this.posted.push({ path: request.url!, headers: request.headers, body });
    const answer = this.answers.shift();
    if (answer === undefined) response.writeHead(request.method === "POST" ? 200 : 404).end();
    else await answer(response, body);
  }

  #see({ method, url, rawHeaders, socket }: IncomingMessage, bodyBytes: number): void {
    const connection = this.#sockets.get(socket) ?? this.#sockets.size;
    this.#sockets.set(socket, connection);
    const headBytes = rawHeaders.join("").length;
    this.seen.push({ connection, asked: `${method} ${url}`, headBytes, bodyBytes });
  }
}
