/**
 * NomaDP on a device: exact laws perturb a trajectory before anything leaves the device.
 *
 * Runs in a browser, a web worker and Node, and needs nothing but WebCrypto. Seeded randomness is
 * in a separate module, `nomadp-client/seeded`.
 */

export {
  BudgetError,
  DomainError,
  type Facts,
  InvalidArgument,
  LedgerRefused,
  NomadpError,
  NotPrivateError,
  OutOfRange,
  RandomnessUnavailable,
  type RefusalOptions,
  ReportRefused,
  SchemaError,
  TaskRefused,
  UploadFailed,
} from "./errors.js";
export { Fraction } from "./fraction.js";
export { asEpsilon, expLower, MAX_EPSILON, MIN_EPSILON } from "./budget.js";
export { SystemRandom, type Word } from "./randomness.js";
export { EARTH_RADIUS_KM, haversineKm, type LatLng } from "./geometry.js";
export { type Location, LocationSet, type Snapped } from "./locations.js";
export { Zones } from "./zones.js";
export { Channel, heaviest, highProduct, largestUnit, type Law } from "./laws/law.js";
export { RandomizedResponse, Uniform } from "./laws/response.js";
export { Subset } from "./laws/subset.js";
export { LabelLaw, type Levels } from "./laws/labels.js";
export { bestCount, SubsetSelection } from "./laws/selection.js";
export { bestSpace, ProjectiveResponse } from "./laws/projective.js";
export { labelLaw } from "./laws/oracles.js";
export {
  Codebook,
  codebooksSha256,
  CodewordResponse,
  Atlas,
  type AtlasOptions,
} from "./atlas.js";
export {
  Ends,
  HOURS,
  FrequencyOracle,
  type OracleName,
  type OracleOptions,
  ORACLES,
  Starts,
  Trips,
  Visits,
  WHEN,
  type When,
} from "./oracles.js";
export {
  type Choose,
  drawing,
  type Trajectory,
  type Mechanism,
  type Released,
} from "./mechanism.js";
export { Report, SimulatedReport } from "./report.js";
export * as ceilings from "./protocol/ceilings.js";
export { resampled } from "./protocol/resampling.js";
export { TaskBundle, type BundleFiles } from "./protocol/bundle.js";
export { type TaskFacts, type TaskMechanism, WIRE_VERSION } from "./protocol/rules.js";
export { Task } from "./protocol/task.js";
export { UPLOAD_TYPE, uploadBytes } from "./protocol/upload.js";
export { ValueCode } from "./protocol/values.js";
export { isReportId, isTaskId } from "./protocol/base64url.js";
export {
  Client,
  type ClientOptions,
  type ReportOptions,
  type SendOptions,
} from "./device/client.js";
export { fetchBundle, type FetchedBundle, isClosed } from "./device/joining.js";
export type { Upload } from "./device/sending.js";
export {
  browserLedgerBegan,
  isPersistent,
  openBrowserStore,
  type BrowserStoreOptions,
} from "./device/browser_store.js";
export { Ledger, type Receipt, type Budget, type TaskBudget } from "./device/ledger.js";
export type {
  ChargeState,
  LedgerChange,
  LedgerMarker,
  LedgerState,
  LedgerStore,
} from "./device/store.js";
