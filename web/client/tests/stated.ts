/** A law over labels as the known answers write it down. */

import { type LabelLaw, ProjectiveResponse, SubsetSelection } from "../src/index.js";
import { readable } from "./known_answers.js";

export function stated(law: LabelLaw): Record<string, unknown> {
  const weights = { heavy: readable(law.heavy), light: readable(law.light) };
  if (law instanceof SubsetSelection) {
    return { law: "SubsetSelection", size: law.size, count: law.count, ...weights };
  }
  if (law instanceof ProjectiveResponse) {
    const { size, order, dimensions } = law;
    return { law: "ProjectiveResponse", size, order, dimensions, ...weights };
  }
  throw new Error("a law over labels that has no known answers");
}
