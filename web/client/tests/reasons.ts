/** Why something must be refused, in the words of tests/vectors: as tests/protocol_answers.py. */

import { NomadpError } from "../src/index.js";

const CODES: Record<string, readonly string[]> = {
  too_large: ["json_too_large"],
  not_json: ["not_json_object"],
  not_canonical: ["json_not_canonical"],
  value_kind: ["json_value_unsupported"],
  half_character: ["json_text_malformed"],
  too_deep: ["json_too_deep"],
  fields: ["fields_mismatch", "mechanism_malformed"],
  wire_version: ["wire_version_unknown"],
  mechanism: ["mechanism_not_for_tasks"],
  mechanism_version: ["mechanism_version_unknown"],
  params: ["params_malformed"],
  zones_rule: ["zones_rule_malformed", "zones_rule_mismatch"],
  when: ["when_unknown"],
  epsilon_in_all: ["task_epsilon_too_large"],
  epsilon: [
    "epsilon_not_canonical",
    "epsilon_out_of_range",
    "epsilon_too_precise",
    "report_epsilon_out_of_range",
  ],
  length: ["codebook_length_mismatch"],
  purpose: ["purpose_malformed"],
  hash: ["hash_malformed"],
  salt: ["salt_malformed"],
  end: ["task_period_invalid"],
  retention: ["retention_shorter_than_task", "retention_too_long"],
  send_within: ["retention_shorter_than_delay"],
  delete_counts: ["delete_counts_not_true"],
  id: ["task_id_mismatch"],
  missing_file: ["task_file_missing"],
  file_hash: ["task_file_hash_mismatch"],
  locations: [
    "coordinates_out_of_range",
    "invalid_location_ids",
    "location_id_characters",
    "location_ids_repeated",
    "locations_malformed",
    "too_few_locations",
  ],
  atlas: [
    "codebook_epsilon_not_canonical",
    "codebook_format_unknown",
    "codebook_invalid",
    "codebook_malformed",
    "codewords_invalid",
  ],
  zones: [
    "not_a_partition",
    "zone_name_characters",
    "zone_name_repeated",
    "zones_malformed",
    "zones_mismatch",
  ],
  labels: ["label_count_out_of_range", "too_many_labels"],
};
const OF_A_FIELD = ["field_not_text", "task_field_out_of_range"];

/** The reason that the code of a refusal stands for. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof NomadpError)) throw error;
  const field = error.facts["field"];
  if (OF_A_FIELD.includes(error.code) && typeof field === "string") {
    return field.endsWith("_sha256") ? "hash" : field;
  }
  const found = Object.keys(CODES).find((reason) => CODES[reason]!.includes(error.code));
  return found ?? `a code without a reason: ${error.code}`;
}
