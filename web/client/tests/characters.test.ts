/** Which characters public text must not hold: the very list that Python has. */

import { expect, test } from "vitest";

import { hasBlanks, hasForbidden } from "../src/characters.js";

test.each([
  0x00, 0x1b, 0x7f, 0x85, 0xad, 0x61c, 0x200b, 0x200d, 0x202e, 0x2066, 0xd800, 0xe000, 0xfdd0,
  0xfeff, 0xfffb, 0xfffe, 0x2ffff, 0xe0001, 0xe007f, 0xf0000, 0x10ffff,
])("a character that hides text is forbidden: %i", (codePoint) => {
  expect(hasForbidden(`a${String.fromCodePoint(codePoint)}b`)).toBe(true);
});

test.each([
  0x20, 0x7e, 0xa0, 0x378, 0x600, 0x2010, 0x202f, 0x3000, 0xd7ff, 0xf900, 0xfffc, 0xfffd,
  0x1f68c, 0x1fae9, 0xe0002, 0xefffd,
])("a character that is seen or unassigned is not: %i", (codePoint) => {
  expect(hasForbidden(`a${String.fromCodePoint(codePoint)}b`)).toBe(false);
});

test("there are as many as in tests/test_characters.py", () => {
  const all = Array.from({ length: 0x110000 }, (_, k) => String.fromCodePoint(k));
  expect(all.filter(hasForbidden).length).toBe(139_779);
  expect(all.filter(hasBlanks).length).toBe(16);
});
