/** What a refusal is recognised by: its class, its code and its facts, never its sentence. */

import { expect } from "vitest";

import type { Facts, NomadpError } from "../src/index.js";

/** For `toThrow`: of this class, and not of one that derives from it. */
export function refusal(
  kind: { readonly name: string; readonly prototype: NomadpError },
  code: string,
  facts: Facts = {},
): Error {
  const known = { name: kind.name, code, facts: expect.objectContaining(facts) };
  return expect.objectContaining(known) as Error;
}

/** The same of whatever is wrong, as long as a code says it. */
export function coded(kind: Parameters<typeof refusal>[0]): Error {
  const code = expect.stringMatching(/^[a-z][a-z0-9]*(_[a-z0-9]+)+$/);
  return expect.objectContaining({ name: kind.name, code }) as Error;
}
