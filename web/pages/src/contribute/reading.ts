/** The page's side of the worker that reads files: one command at a time. */
import type { Command, Chosen, Read, Reply } from "./reading.worker";

export type { Chosen, Read, Summary } from "./reading.worker";
export type ReadOptions = (Command & { command: "read" })["options"];

/** A file that cannot be read. The message never quotes it. */
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

  /** Read a file. Everything that was read before is dropped. */
  read(file: Blob, options: ReadOptions, progress: (share: number) => void): Promise<Read> {
    this.stop();
    return this.run<Read>({ command: "read", file, options }, progress);
  }

  split(hours: number): Promise<Read> {
    return this.run<Read>({ command: "split", hours });
  }

  points(key: number): Promise<Chosen> {
    return this.run<Chosen>({ command: "points", key });
  }

  forget(keys: number[]): Promise<null> {
    return this.run<null>({ command: "forget", keys });
  }

  /** Terminate the worker, and drop all data that it has. */
  stop(): void {
    this.worker?.terminate();
    this.worker = undefined;
    this.last = Promise.resolve();
  }

  private run<Answer>(command: Command, progress?: (share: number) => void): Promise<Answer> {
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
          worker.postMessage(command);
        }),
    );
    this.last = done.catch(() => undefined);
    return done;
  }
}

const FAILED =
  "the file could not be read to its end; the details are hidden, because they may be private";
