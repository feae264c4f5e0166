/** What a device sends: a JSON object with one report, of the same size for every trajectory. */

import { ReportRefused } from "../errors.js";
import type { Report } from "../report.js";
import { systemBytes } from "../randomness.js";
import { base64url, isReportId } from "./base64url.js";
import { canonicalBytes, INTEGER_MAX } from "./canonical.js";
import { UPLOAD_BYTES_MAX } from "./ceilings.js";
import type { TaskBundle } from "./bundle.js";

/** The media type of an upload. */
export const UPLOAD_TYPE = "application/vnd.nomadp+json;message=upload-req;version=1";
const ID_BYTES = 16;

/** A random id: 128 bits from the system in 22 characters. */
export function freshId(): string {
  return base64url(new Uint8Array(systemBytes(ID_BYTES).buffer));
}

/**
 * The body of an upload with one report, as canonical JSON.
 *
 * `time` is in units of the task's precision, as `Task.epoch` returns it.
 */
export function uploadBytes(
  bundle: TaskBundle,
  report: Report,
  { reportId, time }: { readonly reportId: string; readonly time: number },
): Uint8Array<ArrayBuffer> {
  return bodyOf(reportId, time, bundle.code.text(bundle.code.released(report)));
}

/** The body for an encoded value. Only `uploadBytes` and test vectors use it directly. */
export function bodyOf(reportId: string, time: number, value: string): Uint8Array<ArrayBuffer> {
  if (!isReportId(reportId) || !(time >= 0 && time <= INTEGER_MAX)) {
    throw new ReportRefused(
      "a report must have an id of 22 characters and a time of at least 0",
      {
        code: "report_id_or_time_malformed",
      },
    );
  }
  const body = canonicalBytes({ reports: [{ report_id: reportId, time, value }] });
  if (body.length > UPLOAD_BYTES_MAX) {
    throw new ReportRefused(
      `an upload must have at most ${UPLOAD_BYTES_MAX} bytes, got ${body.length}`,
      { code: "upload_too_large", limit: UPLOAD_BYTES_MAX, size: body.length },
    );
  }
  return body;
}
