/** Characters that public text must not contain; the same list as Python's `nomadp.characters`. */

/**
 * Control and format characters that hide text or change its direction, line separators,
 * surrogates, private use and noncharacters. The list is fixed, because the validity of a task
 * must not depend on the reader's version of Unicode.
 */
const FORBIDDEN = new RegExp(
  "[\\u{0}-\\u{1f}\\u{7f}-\\u{9f}\\u{ad}\\u{61c}\\u{180e}\\u{200b}-\\u{200f}" +
    "\\u{2028}-\\u{202e}\\u{2060}-\\u{206f}\\u{d800}-\\u{f8ff}\\u{fdd0}-\\u{fdef}\\u{feff}" +
    "\\u{fff9}-\\u{fffb}\\u{fffe}\\u{ffff}\\u{e0001}\\u{e0020}-\\u{e007f}" +
    "\\u{efffe}-\\u{10ffff}" +
    Array.from({ length: 13 }, (_, k) => (k + 1).toString(16))
      .map((plane) => `\\u{${plane}fffe}\\u{${plane}ffff}`)
      .join("") +
    "]",
  "u",
);

/** Spaces other than U+0020: forbidden in the purpose of a task, allowed in ids and names. */
const BLANKS = /[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/;

export function hasForbidden(text: string): boolean {
  return FORBIDDEN.test(text);
}

/** Whether a text contains a space other than U+0020. */
export function hasBlanks(text: string): boolean {
  return BLANKS.test(text);
}
