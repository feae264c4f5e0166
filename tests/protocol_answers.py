"""Recompute the answers of the protocol's test vectors: tasks, files, reports, refusals.

A world of these vectors is a task with its files. The reason of a refusal is one word, which is
derived from the code of our error; a refusal for another reason is a wrong answer.
"""

import json

import numpy as np

from nomadp.errors import NomadpError, ReportRefused
from nomadp.protocol import Task, TaskBundle, resample
from nomadp.protocol.canonical import canonical_bytes, parse_canonical, parse_object
from nomadp.protocol.public_files import parse_atlas, parse_locations, parse_zones
from nomadp.protocol.upload import SentReport, is_report_id, report_id, upload_bytes

CODES = {
    "too_large": ["json_too_large"],
    "not_json": ["not_json_object"],
    "not_canonical": ["json_not_canonical"],
    "value_kind": ["json_value_unsupported"],
    "half_character": ["json_text_malformed"],
    "too_deep": ["json_too_deep"],
    "fields": ["fields_mismatch", "mechanism_malformed"],
    "wire_version": ["wire_version_unknown"],
    "mechanism": ["mechanism_not_for_tasks"],
    "mechanism_version": ["mechanism_version_unknown"],
    "params": ["params_malformed"],
    "zones_rule": ["zones_rule_malformed", "zones_rule_mismatch"],
    "when": ["when_unknown"],
    "epsilon_in_all": ["task_epsilon_too_large"],
    "epsilon": [
        "epsilon_not_canonical",
        "epsilon_out_of_range",
        "epsilon_too_precise",
        "report_epsilon_out_of_range",
    ],
    "length": ["codebook_length_mismatch"],
    "purpose": ["purpose_malformed"],
    "hash": ["hash_malformed"],
    "salt": ["salt_malformed"],
    "end": ["task_period_invalid"],
    "retention": ["retention_shorter_than_task", "retention_too_long"],
    "send_within": ["retention_shorter_than_delay"],
    "delete_counts": ["delete_counts_not_true"],
    "id": ["task_id_mismatch"],
    "missing_file": ["task_file_missing"],
    "file_hash": ["task_file_hash_mismatch"],
    "locations": [
        "coordinates_out_of_range",
        "invalid_location_ids",
        "location_id_characters",
        "location_ids_repeated",
        "locations_malformed",
        "too_few_locations",
    ],
    "atlas": [
        "codebook_epsilon_not_canonical",
        "codebook_format_unknown",
        "codebook_invalid",
        "codebook_malformed",
        "codewords_invalid",
    ],
    "zones": [
        "not_a_partition",
        "zone_name_characters",
        "zone_name_repeated",
        "zones_malformed",
        "zones_mismatch",
    ],
    "labels": ["label_count_out_of_range", "too_many_labels"],
}
REASONS = {code: reason for reason, codes in CODES.items() for code in codes}
"""The reason in the vectors, by error code."""
OF_A_FIELD = ("field_not_text", "task_field_out_of_range")


def reason_of(refusal):
    if refusal.code in OF_A_FIELD:
        return "hash" if refusal.field.endswith("_sha256") else refusal.field
    return REASONS.get(refusal.code, f"a code without a reason: {refusal.code}")


def refused(attempt):
    try:
        attempt()
    except NomadpError as refusal:
        return {"refused": reason_of(refusal)}
    return {"refused": None}


def content_of(text=None, hexadecimal=None):
    return bytes.fromhex(hexadecimal) if text is None else text.encode()


def bundle_of(world):
    files = {name: text.encode() for name, text in world["files"].items()}
    return TaskBundle.from_files(Task.from_bytes(world["task"].encode()), files)


def canonical(text):
    """The canonical text of a value in any spelling."""
    return {"bytes": canonical_bytes(parse_object(text.encode(), "it", 10**6)).decode()}


def task(fields):
    """The bytes and the id of a task."""
    made = Task.from_bytes(canonical_bytes(fields))
    return {"bytes": made.content.decode(), "task_id": made.id}


def public_files(locations, atlas=None, zones=None):
    """The hashes of the contents of files in any spelling."""
    made = parse_locations(locations.encode())
    found = {"locations_sha256": made.sha256}
    if atlas is not None:
        found["atlas_sha256"] = parse_atlas(atlas.encode()).sha256
    if zones is not None:
        found["zones_sha256"] = parse_zones(zones.encode(), made).sha256
    return found


def resampled(count, length):
    """The indices of the points that resampling keeps."""
    return resample(range(count), length)


def value_size(world):
    """The encoding of the reports of a task."""
    code = world.code
    return {
        "entries": code.entries,
        "size": code.size,
        "bits": code.bits,
        "bytes": code.byte_count,
        "characters": code.characters,
    }


def sent(world, points, words, random, time, hour=None):
    """All steps of a device, from the points of a trajectory to the bytes of the request."""
    from known_answers import Given, Recording

    lat, lng = np.array([[float(each) for each in point] for point in points]).T
    snapped = world.locations.nearest(lat, lng).tolist()
    length = world.task.length
    read = snapped if length is None else resample(snapped, length)
    given = Given(words)
    choose, made = Recording(given), world.mechanism
    values, number = made.reported(made.read(np.array(read), hour), choose)
    numbers = [int(each) for each in (values if number is None else [number])]
    report = SentReport(report_id(bytes.fromhex(random)), time, world.code.text(tuple(numbers)))
    return {
        "task_id": world.task.id,
        "snapped": snapped,
        "read": read,
        "steps": choose.steps,
        "words_left": given.left(),
        "numbers": numbers,
        "value": report.value,
        "upload": upload_bytes([report]).decode(),
    }


def refused_canonical(**content):
    return refused(lambda: parse_canonical(content_of(**content), "it", 4096))


def refused_task(expected_id=None, **content):
    return refused(lambda: Task.from_bytes(content_of(**content), expected_id))


def refused_files(world, files):
    """Check wrong files of a task; those that are not given are the right ones."""
    given = {name: text.encode() for name, text in files.items() if text is not None}
    kept = {name: own for name, own in world.files.items() if name not in files}
    return refused(lambda: TaskBundle.from_files(world.task, kept | given))


def refused_upload(world, now, closed=False, **content):
    """The reply of a collector at the time ``now``: a problem, or the reports that failed."""
    try:
        reports = _reports(json.loads(content_of(**content)))
    except ValueError:
        return {"status": 400, "type": "urn:nomadp:error:invalid_message"}
    found = [(each["report_id"], _failure(world, each, now, closed)) for each in reports]
    return {
        "status": 200,
        "failures": [{"id": name, "error": error} for name, error in found if error],
    }


def _reports(said):
    members = {"report_id": str, "time": int, "value": str}
    if not isinstance(said, dict) or said.keys() != {"reports"}:
        raise ValueError("the members of an upload")
    reports = said["reports"]
    if not isinstance(reports, list) or not 1 <= len(reports) <= 100:
        raise ValueError("1 to 100 reports")
    for each in reports:
        if not isinstance(each, dict) or each.keys() - {"simulated"} != members.keys():
            raise ValueError("the members of a report")
        if any(type(each[name]) is not kind for name, kind in members.items()):
            raise ValueError("their kinds")
        if not is_report_id(each["report_id"]):
            raise ValueError("an id")
    return reports


def _failure(world, report, now, closed):
    task, time = world.task, report["time"]
    try:
        world.code.parse(report["value"])
    except ReportRefused:
        return "invalid_message"
    if "simulated" in report:
        return "invalid_message"
    if closed:
        return "report_dropped"
    if time < task.start:
        return "task_not_started"
    if time >= task.end:
        return "task_expired"
    if time > now + 1:
        return "report_too_early"
    return "report_replayed" if now >= time + task.retention else None


KINDS = {
    kind.__name__: kind
    for kind in (
        canonical,
        task,
        public_files,
        resampled,
        value_size,
        sent,
        refused_canonical,
        refused_task,
        refused_files,
        refused_upload,
    )
}
