/** The worlds of protocol.json and refused.json: a task and its files. */

import { TaskBundle, type BundleFiles, Task } from "../src/index.js";
import { load } from "./known_answers.js";

export function bytes(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>;
}

/** Of a case that is written as text, or in hexadecimal. */
export function contentOf({ text, hexadecimal }: any): Uint8Array<ArrayBuffer> {
  if (text !== undefined) return bytes(text);
  const pairs: string[] = hexadecimal.match(/../g) ?? [];
  return Uint8Array.from(pairs, (pair) => parseInt(pair, 16));
}

export function filesOf(texts: Record<string, string | null>): BundleFiles {
  const given = Object.entries(texts).filter(([, text]) => text !== null);
  return Object.fromEntries(given.map(([name, text]) => [name, bytes(text!)]));
}

export function worldText(file: string, name: string): any {
  return load(file).worlds[name];
}

const bundles = new Map<string, Promise<TaskBundle>>();

export function bundleOf(file: string, name: string): Promise<TaskBundle> {
  const key = `${file} ${name}`;
  const found = bundles.get(key) ?? made(worldText(file, name));
  bundles.set(key, found);
  return found;
}

async function made({ task, files }: any): Promise<TaskBundle> {
  return TaskBundle.fromFiles(await Task.fromBytes(bytes(task)), filesOf(files));
}
