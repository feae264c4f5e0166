/**
 * Why an export cannot be read: a stable code, and a sentence that never quotes the file.
 *
 * The codes are those of `nomadp.formats.unreadable`; tests/imports has a file for each. A file
 * without points is not refused: on a device, that must not decide whether a report is made.
 */

import { SchemaError } from "../errors.js";

const REASONS = {
  "not-json": "is cut short or damaged (not valid JSON); export it again",
  "not-utf8": "is not encoded in UTF-8; save it as UTF-8",
  "unknown-json":
    "is JSON of an unknown kind; use GeoJSON, a Google Timeline, Records.json, a Semantic Location " +
    "History, Overland or OwnTracks",
  "timeline-edits":
    "contains only the edits of a Google Timeline; use the Timeline export of your phone, or " +
    "Records.json from the same archive",
  "too-large": "has an entry of more than 16 million characters",
  "not-xml": "is cut short or damaged (not valid XML); export it again",
  doctype: "has a document type declaration, which is not allowed",
  "too-deep": "nests elements more than 100 levels deep, which is not allowed",
  "unknown-xml": "is XML of an unknown kind; use GPX or KML",
  "web-page": "is a web page; download the file itself",
  tcx: "is a TCX file; export GPX instead",
  fit: "is a FIT file; export GPX instead",
  "damaged-archive": "is a damaged archive (zip or gzip); download it again",
  "locked-archive":
    "is an archive with a password or an unsupported compression method; save it as a plain zip file",
  bomb: "unpacks to more than 200 times its size or to over 4 GB",
  "empty-archive": "is an archive that contains no file of a supported format",
  unknown:
    "has an unknown format; use an export of your journeys, or a table with columns for latitude " +
    "and longitude",
} as const;

/** Why a file cannot be imported: a stable code with hyphens. */
export type ImportReason = keyof typeof REASONS;

/** The file cannot be imported. The message never quotes it; the code is the reason with underscores. */
export class ImportRefused extends SchemaError {
  constructor(readonly reason: ImportReason) {
    super(`the file ${REASONS[reason]}`, { code: reason.replaceAll("-", "_") });
  }
}
