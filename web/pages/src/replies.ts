/** What a failed request means for the reader, and problem they can do. */

const BUSY = [408, 425, 429];

/** A message for an HTTP status. `missing` has the problem and the advice for status 404. */
export function meaning(status: number, missing: readonly [string, string]): string {
  const [problem, advice] = partsOf(status, missing);
  return status ? `${problem} (${status}). ${advice}` : `${problem}. ${advice}`;
}

function partsOf(
  status: number,
  missing: readonly [string, string],
): readonly [string, string] {
  if (status === 0)
    return [
      "The collector cannot be reached",
      "Check your internet connection, then try again.",
    ];
  if (status === 404) return missing;
  if (status >= 500 || BUSY.includes(status))
    return ["The collector is busy or down", "Try again in a few minutes."];
  if (status < 400)
    return [
      "Something other than the collector answered",
      "Your network may want you to sign in. Sign in, then try again.",
    ];
  return [
    "The collector refused the request",
    "Load the page again. If that does not help, contact the people who run the collector.",
  ];
}
