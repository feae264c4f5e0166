/** base64url without padding (RFC 4648), in its canonical form only. */

const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const TASK_ID = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;
const REPORT_ID = /^[A-Za-z0-9_-]{21}[AQgw]$/;

export function base64url(bytes: Uint8Array): string {
  let text = "";
  for (let k = 0; k < bytes.length; k += 3) {
    const group = bytes.subarray(k, k + 3);
    const bits = ((group[0]! << 16) | ((group[1] ?? 0) << 8) | (group[2] ?? 0)) >>> 0;
    for (let digit = 0; digit <= group.length; digit += 1) {
      text += DIGITS[(bits >> (18 - 6 * digit)) & 63];
    }
  }
  return text;
}

/** The bytes of a text; null if it is not canonical base64url. */
export function fromBase64url(text: string): Uint8Array<ArrayBuffer> | null {
  const digits = Array.from(text, (character) => DIGITS.indexOf(character));
  if (digits.includes(-1) || text.length % 4 === 1) return null;
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4));
  let [bits, count, at] = [0, 0, 0];
  for (const digit of digits) {
    bits = ((bits << 6) | digit) & 0xffff;
    count += 6;
    if (count >= 8) {
      count -= 8;
      bytes[at] = bits >> count;
      at += 1;
    }
  }
  return base64url(bytes) === text ? bytes : null;
}

/** Whether a text has the form of a task id: 43 characters for 32 bytes. */
export function isTaskId(text: unknown): text is string {
  return typeof text === "string" && TASK_ID.test(text);
}

/** Whether a text has the form of a report id or a salt: 22 characters for 16 bytes. */
export function isReportId(text: unknown): text is string {
  return typeof text === "string" && REPORT_ID.test(text);
}
