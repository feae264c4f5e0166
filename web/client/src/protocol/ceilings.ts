/** What no task may ask, whoever wrote it: refused beyond, never clipped. */

const DAY_S = 86_400;

/** Of one report. */
export const EPSILON_REPORT_MAX = 10;
/** Of one person in one task, and of a device over its whole life, whatever it was told. */
export const EPSILON_LIFETIME_MAX = 100;
/** Of a device over its whole life, unless its owner says otherwise when the ledger begins. */
export const EPSILON_LIFETIME_DEFAULT = 20;
export const LOCATIONS_MAX = 65_536;
export const LABELS_MAX = 2 ** 20;
export const LENGTH_MAX = 8;
export const CODEWORDS_MAX = 1024;
/** Of one person in one task. */
export const REPORTS_MAX = 366;
export const PRECISION_MIN_S = 3600;
export const PRECISION_MAX_S = 31 * DAY_S;
export const TASK_MAX_S = 2 * 366 * DAY_S;
export const RETENTION_MAX_S = 5 * 366 * DAY_S;
export const SEND_WITHIN_MAX_S = 7 * DAY_S;
/** Characters. */
export const PURPOSE_MAX = 500;
export const BATCH_MAX = 10 ** 9;

export const TASK_BYTES_MAX = 16_384;
export const FILE_BYTES_MAX = 16 * 2 ** 20;
export const UPLOAD_REPORTS_MAX = 100;
export const UPLOAD_BYTES_MAX = 65_536;
/** That a device reads of an answer. */
export const REPLY_BYTES_MAX = 4096;
/** The most points of a trajectory that a frequency oracle reads, evenly spaced if there are more. */
export const POINTS_MAX = 4096;
