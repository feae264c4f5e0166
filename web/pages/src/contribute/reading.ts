/** The worker that reads, as the page speaks to it: one question at a time. */
import type { Ask, Chosen, Read, Reply } from "./reading.worker";

export type { Chosen, Read, Summary } from "./reading.worker";
export type ReadOptions = (Ask & { ask: "read" })["options"];

/** A file that cannot be read; the sentence never quotes it. */
export class Unreadable extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

export class Reading {
  private worker: Worker | undefined;
  private last: Promise<unknown> = Promise.resolve();

  /** Whatever was read before is gone. */
  read(file: Blob, options: ReadOptions, progress: (share: number) => void): Promise<Read> {
    this.stop();
    return this.ask<Read>({ ask: "read", file, options }, progress);
  }

  split(hours: number): Promise<Read> {
    return this.ask<Read>({ ask: "split", hours });
  }

  points(key: number): Promise<Chosen> {
    return this.ask<Chosen>({ ask: "points", key });
  }

  forget(keys: number[]): Promise<null> {
    return this.ask<null>({ ask: "forget", keys });
  }

  /** End it, and with it all that it keeps. */
  stop(): void {
    this.worker?.terminate();
    this.worker = undefined;
    this.last = Promise.resolve();
  }

  private ask<Answer>(asked: Ask, progress?: (share: number) => void): Promise<Answer> {
    const worker = (this.worker ??= new Worker(
      new URL("./reading.worker.ts", import.meta.url),
      { type: "module" },
    ));
    const done = this.last.then(
      () =>
        new Promise<Answer>((resolve, reject) => {
          worker.onerror = (event) => {
            event.preventDefault();
            reject(new Unreadable("failed", FAILED));
          };
          worker.onmessage = ({ data }: MessageEvent<Reply>) => {
            if ("progress" in data) progress?.(data.progress);
            else if ("answer" in data) resolve(data.answer as Answer);
            else if ("refused" in data)
              reject(new Unreadable(data.refused.code, data.refused.message));
            else reject(new Unreadable("failed", FAILED));
          };
          worker.postMessage(asked);
        }),
    );
    this.last = done.catch(() => undefined);
    return done;
  }
}

const FAILED =
  "the file could not be read to its end; the details are hidden, because they may be private";
