/** A `Choose` that draws the words of a case, and writes down each step with its law. */

import { type Choose, drawing, LabelLaw } from "../src/index.js";
import { type Channel } from "../src/laws/law.js";
import { type Given, row } from "./known_answers.js";
import { stated } from "./stated.js";

export function recording(words: Given, steps: unknown[]): Choose {
  const draw = drawing(() => words.next());
  return (step, law, secret) => {
    const choice = draw(step, law, secret);
    if (law instanceof LabelLaw) {
      steps.push({ step, label: secret, ...stated(law) });
    } else {
      const channel = law as unknown as Channel<typeof secret>;
      const weights = row(channel.weights(secret));
      steps.push({ step, outputs: channel.size, weights, choice });
    }
    return choice;
  };
}
