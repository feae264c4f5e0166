/** All that a device needs to take part: a task, and the public files that its hashes name. */

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

/** More bytes than an upload has besides a value. */
const AROUND_VALUE = 256;
const OURS = Symbol("made by TaskBundle.fromFiles");

/** The files by the name that they have behind the task's address. */
export interface BundleFiles {
  readonly locations?: Uint8Array;
  readonly atlas?: Uint8Array;
  readonly zones?: Uint8Array;
}

/** A task and what perturbs: fixed by it and its files, and by nothing else. */
export class TaskBundle {
  private constructor(
    ours: symbol,
    readonly task: Task,
    readonly locations: LocationSet,
    readonly mechanism: Mechanism,
    /** How a report is written, in as many bytes for every trajectory. */
    readonly code: ValueCode,
  ) {
    if (ours !== OURS)
      throw new TaskRefused("a bundle must be made of its files; use TaskBundle.fromFiles", {
        code: "kit_not_from_files",
      });
    Object.freeze(this);
  }

  /**
   * From bytes that somebody sent, who is not trusted.
   *
   * @throws TaskRefused unless they are what the task's hashes name and make its mechanism.
   */
  static async fromFiles(task: Task, files: BundleFiles): Promise<TaskBundle> {
    try {
      if (files.locations === undefined) throw missing("locations");
      const locations = parseLocations(files.locations);
      checkHash(await locations.sha256(), task.facts.locationsSha256);
      const mechanism = await (task.isOracle
        ? questionOf(task, locations, files.zones)
        : atlasOf(task, locations, files.atlas));
      const code = ValueCode.of(mechanism, task.facts.length ?? 1);
      if (code.characters > UPLOAD_BYTES_MAX - AROUND_VALUE) {
        throw new TaskRefused(
          `a report must fit into an upload of ${UPLOAD_BYTES_MAX} bytes, and those of this ` +
            "task would not; it takes larger zones",
          { code: "report_too_large", limit: UPLOAD_BYTES_MAX },
        );
      }
      return new TaskBundle(OURS, task, locations, mechanism, code);
    } catch (error) {
      throw asTaskRefused(error);
    }
  }

  /** What is read where nothing can be: the first public location, at every point. */
  get publicAnswer(): number[] {
    return new Array<number>(this.task.facts.length ?? 1).fill(0);
  }

  /**
   * The points that a trajectory is reported by: those on Earth, brought to the task's length, their
   * longitudes wrapped. None where no point is on Earth.
   */
  pointsRead(points: readonly LatLng[]): LatLng[] {
    const placed = points.flatMap((point) => onEarth(point?.lat, point?.lng) ?? []);
    const length = this.task.facts.length ?? Math.min(placed.length, POINTS_MAX);
    return placed.length ? resampled(placed, length) : [];
  }

  /**
   * The locations that a trajectory is reported by: of each point that is read the nearest, however
   * far. Every trajectory has some, also an empty one: whether a device reports must not depend on it.
   */
  read(points: readonly LatLng[]): number[] {
    const read = this.pointsRead(points);
    return read.length ? read.map((point) => this.locations.nearest(point)) : this.publicAnswer;
  }
}

async function atlasOf(
  task: Task,
  locations: LocationSet,
  content: Uint8Array | undefined,
): Promise<Mechanism> {
  if (content === undefined) throw missing("atlas");
  const { book, epsilon, sha256 } = await parseAtlas(content, locations);
  checkHash(sha256, task.facts.domainSha256);
  const isLong = book.length === task.facts.length;
  if (!isLong || epsilon.compare(task.facts.epsilon) !== 0) {
    throw new TaskRefused(
      `the atlas must be of length ${task.facts.length} and epsilon ${task.facts.epsilon} alone`,
      {
        code: isLong ? "codebook_parameters_mismatch" : "codebook_length_mismatch",
        length: task.facts.length,
      },
    );
  }
  return new Atlas({ epsilon, locations, codebooks: [book] });
}

async function questionOf(
  task: Task,
  locations: LocationSet,
  content: Uint8Array | undefined,
): Promise<Mechanism> {
  if (content === undefined) throw missing("zones");
  const { zones, rule, sha256 } = await parseZones(content, locations);
  if (rule !== task.facts.zones) {
    throw new TaskRefused("zones must be made by the rule that the task names", {
      code: "zones_rule_mismatch",
    });
  }
  checkHash(sha256, task.facts.domainSha256);
  const { epsilon, when } = task.facts;
  const made = new ORACLES[task.facts.mechanism as OracleName]({
    epsilon,
    zones,
    ...(when !== null && { when }),
  });
  if (made.labelCount > LABELS_MAX) {
    throw new TaskRefused(
      `a question must have at most ${LABELS_MAX} labels, got ${made.labelCount}; take larger ` +
        "zones",
      { code: "too_many_labels", limit: LABELS_MAX },
    );
  }
  return made;
}

function checkHash(found: string, named: string): void {
  if (found !== named) {
    throw new TaskRefused(
      "locations and atlas or zones must have the hashes that the task names, and have " +
        "others; fetch them again, and take part in nothing if it stays so",
      { code: "task_file_hash_mismatch" },
    );
  }
}

function missing(name: string): TaskRefused {
  return new TaskRefused(`a task must come with ${name}`, {
    code: "task_file_missing",
    files: [name],
  });
}
