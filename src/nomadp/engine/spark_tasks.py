"""What a worker does with the batches of its partition, on Spark and on Sail alike.

Every function returns a mapper for `mapInArrow`. The engine carries it to its workers with all
it holds, so a mapper holds a mechanism and at most a key; what is expensive to work out is
worked out where it is needed and kept there. Engines cut batches as they like: a mapper joins
small ones, and no result depends on the cuts. Of an error an engine brings only the text back,
so that of a mapper ends in its code and facts.
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
from nomadp.reports.rows import VALUES, domain_of
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
    "gathered",
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
"""Trajectories that kernels get at a time, where the engine's own batches are smaller."""
_ARITHMETIC = ("numpy", "numba")


def carrying_facts(mapper: Mapper) -> Mapper:
    """The same; its refusals end in ``[code {facts as JSON}]``, which `refusal_in` reads."""

    @wraps(mapper)
    def map_batches(batches: Batches) -> Batches:
        try:
            yield from mapper(batches)
        except NomadpError as error:
            facts = {name: fact for name, fact in vars(error).items() if name[0] != "_"}
            code = facts.pop("code")
            # Without spaces, a " [" is in a text; escaped, the last one is where ours begins.
            said = json.dumps(facts, default=str, separators=(",", ":"))
            said = said.replace(" [", " \\u005b")
            error.args = (f"{error} [{code} {said}]",)
            raise

    return map_batches


def refusal_in(text: str) -> NomadpError | None:
    """What a worker refused, from the text in which an engine wraps it; None if nothing."""
    found = re.search(r"nomadp\.errors\.(\w+): (.+)", text)
    refusal = getattr(errors, found[1], None) if found else None
    if found is None or refusal is None:
        return None
    message = found[2].strip()
    told = re.fullmatch(r"(.+) \[([a-z][a-z0-9_]*)(?: (\{.*\}))?\]", message)
    if told is None:
        return cast(NomadpError, refusal(message))
    try:
        facts = json.loads(told[3] or "{}")
    except ValueError:  # an engine that escapes quotes; the code is as it was
        facts = {}
    # Collections of facts are tuples, and lists in JSON.
    facts = {name: tuple(f) if isinstance(f, list) else f for name, f in facts.items()}
    return cast(NomadpError, refusal(told[1], code=told[2], **facts))


def perturbing(
    mechanism: Mechanism, randomness: KeyedRandom, path: str, *, linked: bool
) -> Mapper:
    """Trajectories to reports, by this path."""
    software = software_of(mechanism)

    @carrying_facts
    def perturb_batches(batches: Batches) -> Batches:
        here = _kept(mechanism)
        _check_software(software, software_of(here))
        for batch in gathered(batches):
            yield perturb_batch(here, randomness, batch, path, linked=linked)

    return perturb_batches


def decoding(mechanism: Mechanism, prior: Prior | None, level: float) -> Mapper:
    """Reports to estimates, each point with the radius that holds ``level`` of its mass."""

    @carrying_facts
    def decode_batches(batches: Batches) -> Batches:
        here = _kept(mechanism)
        decoders = Decoders(here, prior, level)  # a distinct report is worked out once
        for batch in gathered(batches):
            reports = drop_impossible(here, _reports(here, batch))
            found = decoders.decode(reports)
            answers = Sequences(reports.offsets, found.locations, reports.names)
            offsets = pa.array(reports.offsets, pa.int32())
            radius = pa.ListArray.from_arrays(offsets, pa.array(found.radius_km))
            yield batch_of(answers, here.locations).append_column("radius_km", radius)

    return decode_batches


def tallying(mechanism: Mechanism) -> Mapper:
    """Reports to how often each distinct one came in, one table for each partition."""

    @carrying_facts
    def tally_batches(batches: Batches) -> Batches:
        here, counts = _kept(mechanism), Counts()
        for batch in gathered(batches):
            counts += Counts.of(here, _reports(here, batch))
        yield counts.to_arrow()

    return tally_batches


def report_columns(mechanism: Mechanism) -> str:
    """The columns of its reports, as an engine wants them named."""
    if mechanism.is_oracle:
        return VALUE_COLUMNS
    return f"{REPORT_COLUMNS}, number bigint" if is_numbered(mechanism) else REPORT_COLUMNS


def _reports(mechanism: Mechanism, batch: pa.RecordBatch) -> AnyReports:
    rows = raw_reports_of(batch, domain_of(mechanism))
    header = Header.made_by(mechanism)
    columns: dict[str, Any] = {"numbers": rows.numbers, "refused": rows.refused}
    columns["entry_size"] = mechanism.report_size if mechanism.is_oracle else None
    return reports_as(header, mechanism.locations, rows.sequences, **columns)


def gathered(batches: Batches, rows: int = ROWS) -> Batches:
    """The same rows in the same order, at least so many at a time except at the end."""
    held: list[pa.RecordBatch] = []
    for batch in batches:
        held.append(batch)
        if sum(one.num_rows for one in held) >= rows:
            yield from _joined(held)
            held = []
    yield from _joined(held)


def _joined(held: list[pa.RecordBatch]) -> Batches:
    if any(batch.num_rows for batch in held):
        yield from pa.Table.from_batches(held).combine_chunks().to_batches()


def software_of(mechanism: Mechanism) -> str:
    """What a report depends on besides mechanism and key, as one line of text.

    The laws are exact, their weights are not: they are rounded from distances, and another
    library or processor may round the last bit of one the other way.
    """
    row = mechanism.locations.distances_km(0)
    facts = {"nomadp": nomadp.__version__}
    facts |= {name: version_of(name) or "none" for name in _ARITHMETIC}
    facts["distances"] = hashlib.sha256(row.astype("<f8").tobytes()).hexdigest()[:16]
    return json.dumps(facts)


def _check_software(expected: str, found: str) -> None:
    if expected != found:
        raise NomadpError(
            "every worker must compute with what the driver has, else a batch that is run "
            f"again could draw other reports; the driver has {expected}, a worker {found}",
            code="worker_software_differs",
            expected=expected,
            found=found,
        )


@lru_cache(maxsize=4)
def _kept(mechanism: Mechanism) -> Mechanism:
    """The first of equal mechanisms, with the tables that it has worked out by now.

    Every task brings a copy of its own; a worker runs many tasks.
    """
    return mechanism


def summing(locations: LocationSet, radii_km: Sequence[float]) -> Mapper:
    """From rows of (tid, true_ids, reported_ids) to one row of sums for each partition."""
    check_radii(radii_km)  # here, before a cluster works

    @carrying_facts
    def sum_batches(batches: Batches) -> Batches:
        counts = np.zeros(4, dtype=np.int64)
        sums = np.zeros(3 * (1 + len(radii_km)))
        for batch in gathered(batches):
            there, paired = _paired(batch)
            counts += there
            if paired.num_rows:
                found = _evaluated(paired, locations, radii_km)
                counts[:2] += found.trajectories, found.points
                sums += found.trajectories * _flat(found)
        row = dict(zip(_COUNTS, counts.tolist(), strict=True)) | {"sums": sums.tolist()}
        yield pa.RecordBatch.from_pylist([row], _SCHEMA)

    return sum_batches


def finished(
    rows: Iterable[Any], locations: LocationSet, radii_km: Sequence[float]
) -> Evaluation:
    """The evaluation of everything, from the sums of all partitions."""
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
    answers = [_scores(part, locations) for part in np.split(sums / trajectories, 3)]
    radii = tuple(map(float, radii_km))
    return Evaluation(trajectories, points, locations.diameter_km, radii, *answers)


def _paired(batch: pa.RecordBatch) -> tuple[list[int], pa.RecordBatch]:
    """How many rows lack a report or a trajectory, as counts; the rows that have both."""
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


def _flat(found: Evaluation) -> Any:
    answers = found.answers.values()
    return np.concatenate([[each.error_km, *each.range_query] for each in answers])


def _scores(means: Any, locations: LocationSet) -> Scores:
    error_km, *within = means.tolist()
    return Scores(error_km, normalised(locations, error_km), tuple(within))
