/** What a reply that is no answer means for whoever reads it, and what they can do. */

const BUSY = [408, 425, 429];

/** ``missing`` is said where there is nothing at an address: what that is, and what to do. */
export function meaning(status: number, missing: readonly [string, string]): string {
  const [what, advice] = known(status, missing);
  return status ? `${what} (${status}). ${advice}` : `${what}. ${advice}`;
}

function known(status: number, missing: readonly [string, string]): readonly [string, string] {
  if (status === 0)
    return [
      "The collector cannot be reached",
      "Look whether you are online, and try again in a while.",
    ];
  if (status === 404) return missing;
  if (status >= 500 || BUSY.includes(status))
    return ["The collector is busy, or out of order for a while", "Try again in some minutes."];
  if (status < 400)
    return [
      "Something else answered in the collector's place",
      "Look whether this network wants you to sign in first, and try again.",
    ];
  return [
    "The collector did not take what this page asked",
    "Load the page again; if that does not help, tell whoever runs the collector.",
  ];
}
