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
