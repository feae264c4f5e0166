/** A collector of a few lines on loopback: serves a task and its files, and replies as told. */

import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";

import { Task } from "../src/index.js";
import { canonicalBytes } from "../src/protocol/canonical.js";
import { bytes, worldText } from "./protocol_worlds.js";

export type Answer = (response: ServerResponse, body: Buffer) => void | Promise<void>;

/** A known world whose task runs today, with other facts if any are given. */
export async function runningTask(world: string, facts: object = {}): Promise<Task> {
  const today = Math.floor(Date.now() / 86_400_000);
  const said = JSON.parse(worldText("protocol", world).task);
  const times = { start: today - 1, end: today + 90, retention: 180, send_within: 0 };
  return Task.fromBytes(canonicalBytes({ ...said, ...times, ...facts }));
}

export class Loopback {
  /** Every request for which the task was not asked, in order. */
  readonly posted: { path: string; headers: IncomingMessage["headers"]; body: Buffer }[] = [];
  answers: Answer[] = [];
  readonly #files: Map<string, Uint8Array>;
  readonly #server: Server;

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
    const file = this.#files.get(request.url!);
    if (request.method === "GET" && file !== undefined) {
      response.end(file);
      return;
    }
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const body = Buffer.concat(parts);
    this.posted.push({ path: request.url!, headers: request.headers, body });
    const answer = this.answers.shift();
    if (answer === undefined) response.writeHead(request.method === "POST" ? 200 : 404).end();
    else await answer(response, body);
  }
}
