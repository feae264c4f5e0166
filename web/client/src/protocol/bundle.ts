/** What a device needs to take part: a task, and the public files whose hashes it contains. */

import { Atlas } from "../atlas.js";
import { TaskRefused } from "../errors.js";
import { type LatLng, onEarth } from "../geometry.js";
import type { LocationSet } from "../locations.js";
import type { Mechanism } from "../mechanism.js";
import { ORACLES, type OracleName } from "../oracles.js";
import { LABELS_MAX, POINTS_MAX, UPLOAD_BYTES_MAX } from "./ceilings.js";
import { parseAtlas, parseLocations, parseZones } from "./files.js";
import { resampled } from "./resampling.js";
import { asTaskRefused, Task } from "./task.js";
import { ValueCode } from "./values.js";

/** An upper bound on the bytes of an upload around its value. */
const OVERHEAD_BYTES = 256;
const CREATED_HERE = Symbol("made by TaskBundle.fromFiles");

/** The files of a task, by their names in URLs below the task's. */
export interface BundleFiles {
  readonly locations?: Uint8Array;
  readonly atlas?: Uint8Array;
  readonly zones?: Uint8Array;
}

/** A task and its mechanism, which the task and its files determine completely. */
export class TaskBundle {
  private constructor(
    key: symbol,
    readonly task: Task,
    readonly locations: LocationSet,
    readonly mechanism: Mechanism,
    /** The encoding of a report, in the same number of bytes for every trajectory. */
    readonly code: ValueCode,
  ) {
    if (key !== CREATED_HERE)
      throw new TaskRefused(
        "a bundle must be created from its files; use TaskBundle.fromFiles",
        {
          code: "bundle_not_from_files",
        },
      );
    Object.freeze(this);
  }

  /**
   * Parse and check files from an untrusted source.
   *
   * @throws TaskRefused unless they have the hashes in the task and define its mechanism.
   */
  static async fromFiles(task: Task, files: BundleFiles): Promise<TaskBundle> {
    try {
      if (files.locations === undefined) throw missing("locations");
      const locations = parseLocations(files.locations);
      checkHash(await locations.sha256(), task.facts.locationsSha256);
      const mechanism = await (task.isOracle
        ? oracleOf(task, locations, files.zones)
        : atlasOf(task, locations, files.atlas));
      const code = ValueCode.of(mechanism, task.facts.length ?? 1);
      if (code.characters > UPLOAD_BYTES_MAX - OVERHEAD_BYTES) {
        throw new TaskRefused(
          `a report must fit into an upload of ${UPLOAD_BYTES_MAX} bytes, but reports of this ` +
            "task do not; the task needs larger zones",
          { code: "report_too_large", limit: UPLOAD_BYTES_MAX },
        );
      }
      return new TaskBundle(CREATED_HERE, task, locations, mechanism, code);
    } catch (error) {
      throw asTaskRefused(error);
    }
  }

  /** What is perturbed if a trajectory has no points: the first public location at every point. */
  get publicAnswer(): number[] {
    return new Array<number>(this.task.facts.length ?? 1).fill(0);
  }

  /**
   * The points of a trajectory that are used: those on Earth, with wrapped longitudes, resampled to
   * the length of the task. Empty if no point is on Earth.
   */
  pointsRead(points: readonly LatLng[]): LatLng[] {
    const valid = points.flatMap((point) => onEarth(point?.lat, point?.lng) ?? []);
    const length = this.task.facts.length ?? Math.min(valid.length, POINTS_MAX);
    return valid.length ? resampled(valid, length) : [];
  }

  /**
   * The locations that the mechanism perturbs: the nearest to each point that is used, however far.
   * An empty trajectory has some, too: whether a device reports must not depend on the trajectory.
   */
  read(points: readonly LatLng[]): number[] {
    const used = this.pointsRead(points);
    return used.length ? used.map((point) => this.locations.nearest(point)) : this.publicAnswer;
  }
}

async function atlasOf(
  task: Task,
  locations: LocationSet,
  content: Uint8Array | undefined,
): Promise<Mechanism> {
  if (content === undefined) throw missing("atlas");
  const { codebook, epsilon, sha256 } = await parseAtlas(content, locations);
  checkHash(sha256, task.facts.domainSha256);
  const fits = codebook.length === task.facts.length;
  if (!fits || epsilon.compare(task.facts.epsilon) !== 0) {
    throw new TaskRefused(
      `the codebook must have the length ${task.facts.length} and the epsilon ` +
        `${task.facts.epsilon}, and no other`,
      {
        code: fits ? "codebook_parameters_mismatch" : "codebook_length_mismatch",
        length: task.facts.length,
      },
    );
  }
  return new Atlas({ epsilon, locations, codebooks: [codebook] });
}

async function oracleOf(
  task: Task,
  locations: LocationSet,
  content: Uint8Array | undefined,
): Promise<Mechanism> {
  if (content === undefined) throw missing("zones");
  const { zones, rule, sha256 } = await parseZones(content, locations);
  if (rule !== task.facts.zones) {
    throw new TaskRefused("zones must follow the rule in the task, but follow another", {
      code: "zones_rule_mismatch",
    });
  }
  checkHash(sha256, task.facts.domainSha256);
  const { epsilon, when } = task.facts;
  const oracle = new ORACLES[task.facts.mechanism as OracleName]({
    epsilon,
    zones,
    ...(when !== null && { when }),
  });
  if (oracle.labelCount > LABELS_MAX) {
    throw new TaskRefused(
      `a frequency oracle must have at most ${LABELS_MAX} labels, got ${oracle.labelCount}; ` +
        "choose larger zones",
      { code: "too_many_labels", limit: LABELS_MAX },
    );
  }
  return oracle;
}

function checkHash(actual: string, expected: string): void {
  if (actual !== expected) {
    throw new TaskRefused(
      "the files of a task must have the hashes in the task, but have others; fetch them " +
        "again, and do not take part if they still differ",
      { code: "task_file_hash_mismatch" },
    );
  }
}

function missing(name: string): TaskRefused {
  return new TaskRefused(`a task must have the file ${name}, but does not`, {
    code: "task_file_missing",
    files: [name],
  });
}
