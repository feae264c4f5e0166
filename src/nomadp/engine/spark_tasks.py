"""The work of a cluster's workers on the batches of a partition, for Spark and Sail.

Every function returns a mapper for `mapInArrow`. The engine pickles the mapper and its closure
for every task, so a mapper holds only a mechanism and at most a key. Tables are computed on the
worker and cached there. Engines choose the sizes of batches: a mapper joins small ones, and no
result depends on the sizes. An engine returns only the text of an error, so the text of ours
ends with the code and facts.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache, wraps
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import nomadp
from nomadp import errors
from nomadp.analysis.metrics import Evaluation, Scores, check_radii, evaluate, normalised
from nomadp.engine.batches import perturb_batch
from nomadp.errors import DomainError, NomadpError
from nomadp.extras import version_of
from nomadp.formats.trajectory_batches import trajectories_of
from nomadp.inference import Prior
from nomadp.inference.decode import Decoders
from nomadp.locations import LocationSet
from nomadp.mechanisms import Mechanism
from nomadp.randomness import KeyedRandom
from nomadp.reports.batches import batch_of, is_numbered, raw_reports_of
from nomadp.reports.counts import Counts, drop_impossible
from nomadp.reports.header import Header
from nomadp.reports.raw_reports import VALUES, domain_of
from nomadp.reports.table import AnyReports, reports_as
from nomadp.sequences import Sequences

__all__ = [
    "Batches",
    "ESTIMATE_COLUMNS",
    "Mapper",
    "REPORT_COLUMNS",
    "ROWS",
    "SUM_COLUMNS",
    "TALLY_COLUMNS",
    "carrying_facts",
    "decoding",
    "finished",
    "coalesce_batches",
    "perturbing",
    "refusal_in",
    "report_columns",
    "software_of",
    "summing",
    "tallying",
]

Batches = Iterator[pa.RecordBatch]
Mapper = Callable[[Batches], Batches]

REPORT_COLUMNS = "tid string, location_ids array<string>"
VALUE_COLUMNS = f"tid string, {VALUES} array<bigint>"
ESTIMATE_COLUMNS = f"{REPORT_COLUMNS}, radius_km array<double>"
TALLY_COLUMNS = "law string, length bigint, value bigint, count bigint"
SUM_COLUMNS = (
    "trajectories bigint, points bigint, missing bigint, extra bigint, sums array<double>"
)
_COUNTS = ("trajectories", "points", "missing", "extra")
_SCHEMA = pa.schema(
    [(name, pa.int64()) for name in _COUNTS] + [("sums", pa.list_(pa.float64()))]
)

ROWS = 16384
"""Least number of rows for a kernel; smaller batches of the engine are joined."""
_ARITHMETIC = ("numpy", "numba")


def carrying_facts(mapper: Mapper) -> Mapper:
    """The same mapper, whose errors end in ``[code {facts as JSON}]`` for `refusal_in`."""

    @wraps(mapper)
    def map_batches(batches: Batches) -> Batches:
        try:
            yield from mapper(batches)
        except NomadpError as error:
            facts = {name: fact for name, fact in vars(error).items() if name[0] != "_"}
            code = facts.pop("code")
            # Compact JSON has " [" only inside strings. Escaped there, the last " [" of the
            # message is the one that begins our suffix.
            encoded = json.dumps(facts, default=str, separators=(",", ":"))
            encoded = encoded.replace(" [", " \\u005b")
            error.args = (f"{error} [{code} {encoded}]",)
            raise

    return map_batches


def refusal_in(text: str) -> NomadpError | None:
    """Our error of a worker, from the text in which an engine wraps it; None if not ours."""
    match = re.search(r"nomadp\.errors\.(\w+): (.+)", text)
    error_class = getattr(errors, match[1], None) if match else None
    if match is None or error_class is None:
        return None
    message = match[2].strip()
    parts = re.fullmatch(r"(.+) \[([a-z][a-z0-9_]*)(?: (\{.*\}))?\]", message)
    if parts is None:
        return cast(NomadpError, error_class(message))
    try:
        facts = json.loads(parts[3] or "{}")
    except ValueError:  # the engine escaped quotes; the code survives that
        facts = {}
    # Facts that are tuples became lists in JSON.
    facts = {name: tuple(f) if isinstance(f, list) else f for name, f in facts.items()}
    return cast(NomadpError, error_class(parts[1], code=parts[2], **facts))


def perturbing(
    mechanism: Mechanism, randomness: KeyedRandom, path: str, *, linked: bool
) -> Mapper:
    """A mapper from trajectories to reports, by this code path."""
    software = software_of(mechanism)

    @carrying_facts
    def perturb_batches(batches: Batches) -> Batches:
        local = _cached(mechanism)
        _check_software(software, software_of(local))
        for batch in coalesce_batches(batches):
            yield perturb_batch(local, randomness, batch, path, linked=linked)

    return perturb_batches


def decoding(mechanism: Mechanism, prior: Prior | None, level: float) -> Mapper:
    """A mapper from reports to estimates, each point with its credible radius at ``level``."""

    @carrying_facts
    def decode_batches(batches: Batches) -> Batches:
        local = _cached(mechanism)
        decoders = Decoders(local, prior, level)  # decodes each distinct report once
        for batch in coalesce_batches(batches):
            reports = drop_impossible(local, _reports(local, batch))
            decoded = decoders.decode(reports)
            estimates = Sequences(reports.offsets, decoded.locations, reports.names)
            offsets = pa.array(reports.offsets, pa.int32())
            radius = pa.ListArray.from_arrays(offsets, pa.array(decoded.radius_km))
            yield batch_of(estimates, local.locations).append_column("radius_km", radius)

    return decode_batches


def tallying(mechanism: Mechanism) -> Mapper:
    """A mapper from reports to the counts of distinct reports, one table per partition."""

    @carrying_facts
    def tally_batches(batches: Batches) -> Batches:
        local, counts = _cached(mechanism), Counts()
        for batch in coalesce_batches(batches):
            counts += Counts.of(local, _reports(local, batch))
        yield counts.to_arrow()

    return tally_batches


def report_columns(mechanism: Mechanism) -> str:
    """The schema of its reports, in the syntax of Spark SQL."""
    if mechanism.is_oracle:
        return VALUE_COLUMNS
    return f"{REPORT_COLUMNS}, number bigint" if is_numbered(mechanism) else REPORT_COLUMNS


def _reports(mechanism: Mechanism, batch: pa.RecordBatch) -> AnyReports:
    raw = raw_reports_of(batch, domain_of(mechanism))
    header = Header.made_by(mechanism)
    columns: dict[str, Any] = {"numbers": raw.numbers, "refused": raw.refused}
    columns["entry_size"] = mechanism.report_size if mechanism.is_oracle else None
    return reports_as(header, mechanism.locations, raw.sequences, **columns)


def coalesce_batches(batches: Batches, rows: int = ROWS) -> Batches:
    """The same rows in the same order, in batches of at least ``rows`` except the last."""
    pending: list[pa.RecordBatch] = []
    for batch in batches:
        pending.append(batch)
        if sum(one.num_rows for one in pending) >= rows:
            yield from _combine(pending)
            pending = []
    yield from _combine(pending)


def _combine(batches: list[pa.RecordBatch]) -> Batches:
    if any(batch.num_rows for batch in batches):
        yield from pa.Table.from_batches(batches).combine_chunks().to_batches()


def software_of(mechanism: Mechanism) -> str:
    """Versions and a hash of distances, on which a report depends besides mechanism and key.

    Draws are exact, but the integer weights of a law are rounded from distances in floating
    point, whose last bit may differ between libraries and processors.
    """
    row = mechanism.locations.distances_km(0)
    facts = {"nomadp": nomadp.__version__}
    facts |= {name: version_of(name) or "none" for name in _ARITHMETIC}
    facts["distances"] = hashlib.sha256(row.astype("<f8").tobytes()).hexdigest()[:16]
    return json.dumps(facts)


def _check_software(expected: str, actual: str) -> None:
    if expected != actual:
        raise NomadpError(
            "every worker must have the software of the driver, because a batch that runs "
            f"again must draw the same reports; the driver has {expected}, a worker {actual}",
            code="worker_software_differs",
            expected=expected,
            found=actual,
        )


@lru_cache(maxsize=4)
def _cached(mechanism: Mechanism) -> Mechanism:
    """The first of equal mechanisms, whose tables are computed already.

    Every task unpickles a new copy of the mechanism, and a worker runs many tasks.
    """
    return mechanism


def summing(locations: LocationSet, radii_km: Sequence[float]) -> Mapper:
    """A mapper from rows of (tid, true_ids, reported_ids) to one row of sums per partition."""
    check_radii(radii_km)  # on the driver, before any task starts

    @carrying_facts
    def sum_batches(batches: Batches) -> Batches:
        counts = np.zeros(4, dtype=np.int64)
        sums = np.zeros(3 * (1 + len(radii_km)))
        for batch in coalesce_batches(batches):
            unmatched, paired = _pair(batch)
            counts += unmatched
            if paired.num_rows:
                evaluation = _evaluated(paired, locations, radii_km)
                counts[:2] += evaluation.trajectories, evaluation.points
                # Means of batches do not add up; sums over trajectories do.
                sums += evaluation.trajectories * _means_of(evaluation)
        row = dict(zip(_COUNTS, counts.tolist(), strict=True)) | {"sums": sums.tolist()}
        yield pa.RecordBatch.from_pylist([row], _SCHEMA)

    return sum_batches


def finished(
    rows: Iterable[Any], locations: LocationSet, radii_km: Sequence[float]
) -> Evaluation:
    """The evaluation of all trajectories, from the sums of all partitions."""
    counts = np.zeros(4, dtype=np.int64)
    sums = np.zeros(3 * (1 + len(radii_km)))
    for row in rows:
        counts += [row[name] for name in _COUNTS]
        sums += row["sums"]
    trajectories, points, missing, extra = counts.tolist()
    if missing or extra:
        raise DomainError(
            "reports must carry the tids of the trajectories to be compared with them, but "
            f"{missing} trajectories have no report and {extra} reports have no trajectory; "
            "reports under random ids cannot be compared, perturb with keep_tids",
            code="reports_not_matched",
            missing=missing,
            extra=extra,
        )
    if not trajectories:
        raise DomainError(
            "there must be at least one trajectory to evaluate, got none",
            code="no_trajectories",
        )
    scores = [_scores(means, locations) for means in np.split(sums / trajectories, 3)]
    radii = tuple(map(float, radii_km))
    return Evaluation(trajectories, points, locations.diameter_km, radii, *scores)


def _pair(batch: pa.RecordBatch) -> tuple[list[int], pa.RecordBatch]:
    """The numbers of rows without a report and without a trajectory; the rows with both."""
    true, reported = pc.is_valid(batch["true_ids"]), pc.is_valid(batch["reported_ids"])
    counts = [pc.sum(pc.invert(side)).as_py() for side in (reported, true)]
    return [0, 0, *counts], batch.filter(pc.and_(true, reported))


def _evaluated(
    paired: pa.RecordBatch, locations: LocationSet, radii_km: Sequence[float]
) -> Evaluation:
    true, reported = (
        trajectories_of(
            pa.RecordBatch.from_arrays(
                [paired["tid"], paired[name]], names=["tid", "location_ids"]
            ),
            locations,
        )
        for name in ("true_ids", "reported_ids")
    )
    return evaluate(locations, true, reported, radii_km)


def _means_of(evaluation: Evaluation) -> Any:
    scores = evaluation.answers.values()
    return np.concatenate([[one.error_km, *one.range_query] for one in scores])


def _scores(means: Any, locations: LocationSet) -> Scores:
    error_km, *within = means.tolist()
    return Scores(error_km, normalised(locations, error_km), tuple(within))
