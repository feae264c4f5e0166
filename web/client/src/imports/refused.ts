/**
 * Why an export cannot be read: a stable word, and a sentence that never quotes it.
 *
 * The words are those of `nomadp.formats.unreadable`; tests/imports holds files for them. There is
 * none for a file without places: on a device that must not decide whether a report is made.
 */

import { SchemaError } from "../errors.js";

const REASONS = {
  "not-json": "must be well-formed JSON, and is cut short or damaged; export it again",
  "not-utf8": "must be encoded in UTF-8, and is not; save it as UTF-8",
  "unknown-json":
    "must be GeoJSON, a Google Timeline, Records.json, a month of a Semantic Location History, " +
    "Overland or OwnTracks, and is other JSON",
  "timeline-edits":
    "holds the edits of a Google Timeline, which are no journeys; give the Timeline export of " +
    "the phone, or Records.json of the same archive",
  "too-large": "must be of entries of at most 16 million characters, and one is longer",
  "not-xml": "must be well-formed XML, and is cut short or damaged",
  doctype: "must not have a document type declaration, and has one",
  "too-deep": "must not nest elements more than 100 deep, and does",
  "unknown-xml": "must be GPX or KML, and is other XML",
  "web-page": "is a web page, not an export of journeys; download the file itself",
  tcx: "is a TCX file, which is not read; export GPX instead",
  fit: "is a FIT file, which is not read; export GPX instead",
  "damaged-archive": "must be a whole archive (zip or gzip), and is damaged",
  "locked-archive": "must be an archive without a password or a rare method of packing",
  bomb: "unpacks to more than 200 times its size or over 4 GB, which no export does",
  "empty-archive": "must hold at least one file that is read here, and holds none",
  unknown:
    "must be an export of journeys, or a table with columns for latitude and longitude, and is " +
    "neither",
} as const;

export type ImportReason = keyof typeof REASONS;

/** A file that is refused; it is never quoted. Its code is the reason, with underscores. */
export class ImportRefused extends SchemaError {
  constructor(readonly reason: ImportReason) {
    super(`the file ${REASONS[reason]}`, { code: reason.replaceAll("-", "_") });
  }
}
