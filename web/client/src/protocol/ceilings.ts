/** The limits of every task, whoever wrote it. A task beyond them is refused, never clipped. */

const DAY_S = 86_400;

/** The largest epsilon of one report. */
export const EPSILON_REPORT_MAX = 10;
/** The largest epsilon of one person in one task, and the largest lifetime budget of a device. */
export const EPSILON_LIFETIME_MAX = 100;
/** The lifetime budget of a device, unless its owner chooses another when the ledger is created. */
export const EPSILON_LIFETIME_DEFAULT = 20;
export const LOCATIONS_MAX = 65_536;
export const LABELS_MAX = 2 ** 20;
export const LENGTH_MAX = 8;
export const CODEWORDS_MAX = 1024;
/** The most reports of one person to one task. */
export const REPORTS_MAX = 366;
export const PRECISION_MIN_S = 3600;
export const PRECISION_MAX_S = 31 * DAY_S;
export const TASK_MAX_S = 2 * 366 * DAY_S;
export const RETENTION_MAX_S = 5 * 366 * DAY_S;
export const SEND_WITHIN_MAX_S = 7 * DAY_S;
/** In characters. */
export const PURPOSE_MAX = 500;
export const BATCH_MAX = 10 ** 9;

export const TASK_BYTES_MAX = 16_384;
export const FILE_BYTES_MAX = 16 * 2 ** 20;
export const UPLOAD_REPORTS_MAX = 100;
export const UPLOAD_BYTES_MAX = 65_536;
/** The most bytes that a device reads of a reply. */
export const REPLY_BYTES_MAX = 4096;
/** The most points of a trajectory that a frequency oracle reads; longer ones are resampled. */
export const POINTS_MAX = 4096;
