/** The limits of every task, whoever wrote it. A task beyond them is refused, never clipped. */

const DAY_S = 86_400;

/** The largest epsilon of one report. */
export const EPSILON_REPORT_MAX = 10;
/** The largest epsilon of one person in one task, and the largest lifetime budget of a device. */
export const EPSILON_LIFETIME_MAX = 100;
/** The lifetime budget of a device, unless its owner chooses another when the ledger is created. */
export const EPSILON_LIFETIME_DEFAULT = 20;
/** The most public locations. */
export const LOCATIONS_MAX = 65_536;
/** The most labels of a frequency oracle. */
export const LABELS_MAX = 2 ** 20;
/** The most points of a trajectory reported to ATLAS. */
export const LENGTH_MAX = 8;
/** The most codewords of a codebook. */
export const CODEWORDS_MAX = 1024;
/** The most reports of one person to one task. */
export const REPORTS_MAX = 366;
/** The smallest unit of all times, in seconds. */
export const PRECISION_MIN_S = 3600;
/** The largest unit of all times, in seconds. */
export const PRECISION_MAX_S = 31 * DAY_S;
/** The longest duration of a task, in seconds. */
export const TASK_MAX_S = 2 * 366 * DAY_S;
/** The longest time for which a report is kept, in seconds. */
export const RETENTION_MAX_S = 5 * 366 * DAY_S;
/** The largest random delay of a report, in seconds. */
export const SEND_WITHIN_MAX_S = 7 * DAY_S;
/** The most characters of a purpose. */
export const PURPOSE_MAX = 500;
/** The largest minimum batch size. */
export const BATCH_MAX = 10 ** 9;

/** The most bytes of a task. */
export const TASK_BYTES_MAX = 16_384;
/** The most bytes of a public file. */
export const FILE_BYTES_MAX = 16 * 2 ** 20;
/** The most reports in one upload. */
export const UPLOAD_REPORTS_MAX = 100;
/** The most bytes of one upload. */
export const UPLOAD_BYTES_MAX = 65_536;
/** The most bytes that a device reads of a reply. */
export const REPLY_BYTES_MAX = 4096;
/** The most points of a trajectory that a frequency oracle reads; longer ones are resampled. */
export const POINTS_MAX = 4096;
