/**
 * The value of a report on the wire, with the same number of characters for every report of a task.
 *
 * A value is a list of whole numbers. They are written big-endian, each with the width of the
 * largest possible number. A set of labels has one bit for each label instead, if that is shorter.
 * The bytes are encoded as base64url. Their number reveals nothing about the trajectory.
 */

import { Atlas } from "../atlas.js";
import { NotPrivateError, ReportRefused } from "../errors.js";
import { SubsetSelection } from "../laws/selection.js";
import type { LabelLaw } from "../laws/labels.js";
import type { Mechanism } from "../mechanism.js";
import { FrequencyOracle } from "../oracles.js";
import { Report } from "../report.js";
import { base64url, fromBase64url } from "./base64url.js";

/** The encoding of `entries` numbers below `size`, as a list or, if `bits`, as a bit set. */
export class ValueCode {
  readonly byteCount: number;
  readonly #width: number;

  private constructor(
    readonly mechanism: Mechanism,
    readonly entries: number,
    readonly size: number,
    readonly bits: boolean,
    readonly law: LabelLaw | null,
  ) {
    this.#width = widthOf(size);
    this.byteCount = bits ? Math.ceil(size / 8) : entries * this.#width;
  }

  /** The encoding of a mechanism's reports of trajectories of this length. */
  static of(mechanism: Mechanism, length: number): ValueCode {
    if (mechanism instanceof FrequencyOracle) {
      const law = mechanism.channel;
      const listed = law.entries * widthOf(law.entrySize);
      const bits = law instanceof SubsetSelection && Math.ceil(law.size / 8) < listed;
      return new ValueCode(mechanism, law.entries, law.entrySize, bits, law);
    }
    if (mechanism instanceof Atlas) {
      return new ValueCode(mechanism, 1, mechanism.channel(length).size, false, null);
    }
    throw new ReportRefused(
      "reports to send must be of atlas or of a frequency oracle, but are not",
      {
        code: "reports_not_sendable",
        mechanism: mechanism.name,
      },
    );
  }

  /** The number of characters of every value. */
  get characters(): number {
    return Math.ceil((this.byteCount * 4) / 3);
  }

  /** The numbers in a report; throws for simulated reports and those of other mechanisms. */
  released(report: Report): readonly number[] {
    const isDrawn = Report.is(report);
    if (!isDrawn || report.mechanism !== this.mechanism) {
      throw new NotPrivateError(
        "a report must be drawn by Report.draw, with this task's mechanism, to be sent",
        { code: isDrawn ? "report_of_another_mechanism" : "report_not_drawn" },
      );
    }
    return report.number === null ? report.values : [report.number];
  }

  /** Encode the numbers of a report as base64url. */
  text(numbers: readonly number[]): string {
    if (!this.#possible(numbers)) throw refused();
    const raw = new Uint8Array(this.byteCount);
    if (this.bits) {
      for (const label of numbers) raw[label >> 3]! |= 1 << (label & 7);
    } else {
      numbers.forEach((number, k) => {
        let rest = number;
        for (let at = (k + 1) * this.#width - 1; at >= k * this.#width; at -= 1) {
          raw[at] = rest % 256;
          rest = Math.floor(rest / 256);
        }
      });
    }
    return base64url(raw);
  }

  /** Decode a value from an untrusted source; throws unless the mechanism can release it. */
  parse(text: string): number[] {
    const raw = text.length === this.characters ? fromBase64url(text) : null;
    if (raw === null) throw refused();
    const numbers = this.bits ? this.#labels(raw) : this.#listed(raw);
    if (!this.#possible(numbers)) throw refused();
    return numbers;
  }

  #labels(raw: Uint8Array): number[] {
    const labels = Array.from({ length: raw.length * 8 }, (_, label) => label);
    return labels.filter((label) => (raw[label >> 3]! >> (label & 7)) & 1);
  }

  #listed(raw: Uint8Array): number[] {
    return Array.from({ length: this.entries }, (_, k) =>
      raw
        .subarray(k * this.#width, (k + 1) * this.#width)
        .reduce((number, byte) => number * 256 + byte, 0),
    );
  }

  #possible(numbers: readonly number[]): boolean {
    if (this.law !== null && !this.law.possible(numbers)) return false;
    return (
      numbers.length === this.entries &&
      numbers.every(
        (number) => Number.isSafeInteger(number) && number >= 0 && number < this.size,
      )
    );
  }
}

/** The number of bytes for any number below a size. */
function widthOf(size: number): number {
  let width = 1;
  while (256 ** width < size) width += 1;
  return width;
}

function refused(): ReportRefused {
  return new ReportRefused(
    "a value must be a possible report of the task's mechanism, in canonical form, but is not",
    { code: "report_value_malformed" },
  );
}
