"""Streams: the reports of any other way, and the same file however often a run is stopped."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusals import refused

import nomadp
from nomadp.engine import stream, unfinished
from nomadp.engine.batches import Survey, perturb_batch
from nomadp.engine.local import Progress
from nomadp.engine.stream import Job, open_job
from nomadp.engine.unfinished import PART_KEY, Unfinished
from nomadp.errors import InvalidArgument, NotPrivateError, OutputError, SchemaError
from nomadp.formats import atomic, nested_files
from nomadp.locations import LocationSet
from nomadp.mechanisms import EXPERIMENTAL, MECHANISMS, PUBLISHED, Mechanism, make_mechanism
from nomadp.mechanisms.dispatch import path_of
from nomadp.randomness import KeyedRandom, RandomSource, SeededRandom
from nomadp.reports import Header, read_reports
from nomadp.reports.table import report_ids
from tests.engine.conftest import COUNT, PART, write_trips

KEY = bytes(range(32))
PARTS = -(-COUNT // PART)

pytestmark = pytest.mark.usefixtures("small_parts")

MakeJob = Callable[..., Job]


@pytest.fixture
def job(trips: Path, square: LocationSet) -> MakeJob:
    """The job of this world, with room for changes."""

    def made(randomness: RandomSource | None = None, name: str = "exp", **changes: Any) -> Job:
        mechanism = make_mechanism(name, square, 4)
        target = trips.with_name("reports.parquet")
        plain = Job(mechanism, trips, target, randomness, keep_tids=True, simulated=True)
        return replace(plain, **changes)

    return made


def perturb_file(job: Job, *, jobs: int = 1, progress: Progress | None = None) -> Survey:
    """Begin the job, or go on with it, to its end; what it perturbed."""
    with open_job(job) as running:
        if progress is not None and running.done:
            progress(running.rows_done)
        running.run(jobs=jobs, progress=progress)
    return running.survey


def folder_of(job: Job) -> Path:
    return Unfinished(job.target, shuffled=True).folder


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name in ("atlas", "exp", "trips") else pytest.mark.slow)
        for name in (*MECHANISMS, *PUBLISHED, *EXPERIMENTAL)
    ],
)
def test_a_stream_gives_the_reports_of_one_batch(name: str, job: MakeJob) -> None:
    wanted = job(KeyedRandom(KEY), name)
    perturb_file(wanted, jobs=1)
    whole = pq.read_table(wanted.source).combine_chunks().to_batches()
    path = path_of(wanted.mechanism, COUNT)
    asked = wanted.mechanism, KeyedRandom(KEY), whole[0], path
    reports = perturb_batch(*asked, linked=True)
    assert pq.read_table(wanted.target).to_pydict() == reports.to_pydict()
    perturb_file(replace(wanted, keep_tids=False), jobs=1)
    reports = pa.Table.from_batches([perturb_batch(*asked, linked=False)])
    assert pq.read_table(wanted.target).to_pydict() == reports.sort_by("tid").to_pydict()


@pytest.mark.parametrize("linked", [True, False])
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if name == "exp" else pytest.mark.slow)
        for name in (*MECHANISMS, "tracs-c")
    ],
)
def test_neither_workers_nor_pieces_change_a_report(
    name: str, linked: bool, job: MakeJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = job(KeyedRandom(KEY), name, keep_tids=linked)
    perturb_file(wanted, jobs=1)
    alone = wanted.target.read_bytes()
    perturb_file(wanted, jobs=2)
    assert wanted.target.read_bytes() == alone
    monkeypatch.setattr(nested_files, "ROWS_MAX", 11)
    table = pq.read_table(wanted.target).to_pydict()
    perturb_file(wanted, jobs=1)
    assert pq.read_table(wanted.target).to_pydict() == table


def test_the_file_says_how_it_was_made_and_reads_like_any_reports(
    job: MakeJob, square: LocationSet
) -> None:
    found = perturb_file(job())
    reports = read_reports(job().target, square)
    assert reports.header == Header.of(job().mechanism, None, linked=True, path="numpy")
    assert reports.ids == tuple(f"journey {k}" for k in range(COUNT))
    assert reports.lengths.tolist() == [2 + k % 4 for k in range(COUNT)]
    assert (found.trajectories, found.points) == (COUNT, len(reports.locations))
    assert pq.ParquetFile(job().target).num_row_groups == PARTS


@pytest.mark.parametrize("ranges", [1, 4, 256])
def test_random_ids_stand_in_their_order_over_all_parts(
    ranges: int, job: MakeJob, square: LocationSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unfinished, "RANGES_MAX", ranges)
    wanted = job(KeyedRandom(KEY), keep_tids=False)
    perturb_file(wanted)
    reports = read_reports(wanted.target, square)
    tids = tuple(f"journey {k}" for k in range(COUNT))
    assert set(reports.ids) == set(report_ids(KeyedRandom(KEY), wanted.mechanism, tids))
    assert list(reports.ids) == sorted(reports.ids)
    assert not reports.header.linked


@pytest.mark.parametrize(
    "change", [{"randomness": SeededRandom(1)}, {"name": "tp-as-published-not-private"}]
)
def test_a_file_for_people_is_not_written_from_what_protects_nobody(
    change: dict[str, Any], job: MakeJob
) -> None:
    with refused(NotPrivateError, "reports_not_private"):
        perturb_file(job(**change, simulated=False))
    assert not folder_of(job()).exists()
    perturb_file(job(**change))


def test_nothing_but_the_reports_is_left(job: MakeJob) -> None:
    perturb_file(job(), jobs=2)
    left = sorted(path.name for path in job().target.parent.iterdir())
    assert left == ["reports.parquet", "trips.parquet"]


def test_two_jobs_without_a_key_draw_differently(job: MakeJob) -> None:
    perturb_file(job())
    first = pq.read_table(job().target)
    perturb_file(job())
    assert pq.read_table(job().target) != first


@pytest.mark.parametrize("jobs", [1, 2])
def test_progress_counts_every_trajectory_once(jobs: int, job: MakeJob) -> None:
    seen: list[int] = []
    perturb_file(job(), jobs=jobs, progress=seen.append)
    assert sum(seen) == COUNT


class Stopped(BaseException):
    """Ends a run as abruptly as an exception can."""


def stop_after(steps: int, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """The flush number `steps` of a file or folder to the disk never comes back."""
    left, flush = iter(range(steps)), os.fsync

    def fsync(handle: int) -> None:
        if next(left, None) is None:
            raise Stopped
        flush(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    return monkeypatch


@pytest.mark.parametrize("jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_stopped_at_any_step_a_job_goes_on_to_the_same_file(
    jobs: int, job: MakeJob, tmp_path: Path
) -> None:
    undisturbed = job(KeyedRandom(KEY), target=tmp_path / "undisturbed.parquet")
    perturb_file(undisturbed)
    steps = 0
    while True:
        wanted = job(KeyedRandom(KEY), target=tmp_path / f"{steps}.parquet")
        with pytest.MonkeyPatch.context() as patch:
            stop_after(steps, patch)
            try:
                perturb_file(wanted, jobs=jobs)
                break
            except Stopped:
                pass
        perturb_file(wanted, jobs=jobs)
        assert wanted.target.read_bytes() == undisturbed.target.read_bytes()
        assert not folder_of(wanted).exists()
        steps += 1
    # Two for the manifest and for each part, as many for the whole: none was skipped.
    assert steps >= 2 * (PARTS + 2)


def watch_draws(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tids that are perturbed from now on."""
    drawn: list[str] = []

    def watched(
        mechanism: Mechanism, randomness: RandomSource, batch: Any, path: str, **how: bool
    ) -> Any:
        drawn.extend(batch.column("tid").to_pylist())
        return perturb_batch(mechanism, randomness, batch, path, **how)

    monkeypatch.setattr(stream, "perturb_batch", watched)
    return drawn


def test_what_is_done_is_not_drawn_again(job: MakeJob, monkeypatch: pytest.MonkeyPatch) -> None:
    leave_unfinished(job(), parts=3)
    with open_job(job()) as running:
        assert running.rows_done == 3 * PART
    drawn = watch_draws(monkeypatch)
    seen: list[int] = []
    perturb_file(job(), progress=seen.append)
    assert drawn == [f"journey {k}" for k in range(3 * PART, COUNT)]
    assert (seen[0], sum(seen)) == (3 * PART, COUNT)


def test_only_the_part_that_is_missing_is_drawn(
    job: MakeJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    (leave_unfinished(job(), parts=PARTS - 1) / "part-000001.parquet").unlink()
    drawn = watch_draws(monkeypatch)
    perturb_file(job())
    kept = [*range(PART, 2 * PART), *range((PARTS - 1) * PART, COUNT)]
    assert drawn == [f"journey {k}" for k in kept]
    assert pq.read_table(job().target)["tid"].to_pylist() == [
        f"journey {k}" for k in range(COUNT)
    ]


def leave_unfinished(job: Job, parts: int) -> Path:
    """The folder of a job that was stopped after so many parts."""
    write, written = Unfinished.write_part, []

    def write_part(self: Unfinished, k: int, *rest: Any) -> None:
        if len(written) == parts:
            raise Stopped
        written.append(k)
        write(self, k, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Unfinished, "write_part", write_part)
        with pytest.raises(Stopped):
            perturb_file(job)
    return folder_of(job)


def test_a_kept_key_is_the_one_that_is_used_again(job: MakeJob) -> None:
    folder = leave_unfinished(job(), parts=2)
    key = bytes.fromhex((folder / "key").read_text())
    perturb_file(job())
    with_kept = pq.read_table(job().target).to_pydict()
    perturb_file(job(KeyedRandom(key)))
    assert pq.read_table(job().target).to_pydict() == with_kept


def test_the_folder_is_for_its_owner_alone(job: MakeJob) -> None:
    folder = leave_unfinished(job(), parts=1)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / "key").stat().st_mode & 0o777 == 0o600
    perturb_file(job())
    assert job().target.stat().st_mode & 0o777 == 0o600


def test_no_file_and_no_repr_but_the_key_file_holds_the_key(job: MakeJob) -> None:
    folder = leave_unfinished(job(), parts=1)
    digits = (folder / "key").read_text().strip()
    forms = [digits.encode(), bytes.fromhex(digits)]
    others = [path.read_bytes() for path in folder.iterdir() if path.name != "key"]
    with open_job(job()) as running:
        others.append(repr(running).encode())
    assert len(others) >= 3
    assert not [content for content in others for form in forms if form in content]


def test_the_manifest_holds_no_trajectory(job: MakeJob) -> None:
    manifest = json.loads((leave_unfinished(job(), parts=1) / "job.json").read_text())
    assert "journey" not in json.dumps(manifest)
    assert manifest["survey"]["trajectories"] == COUNT
    assert len(manifest["key"]) == 32


def test_a_given_key_is_not_kept(job: MakeJob) -> None:
    folder = leave_unfinished(job(KeyedRandom(KEY)), parts=1)
    assert not (folder / "key").exists()
    with refused(SchemaError, "another_job_begun", differs=("key", "reports")):
        perturb_file(job())


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"name": "tp"}, "mechanism"),
        ({"randomness": KeyedRandom(KEY)}, "key"),
        ({"randomness": SeededRandom(1)}, "key"),
        ({"source": "other"}, "source"),
    ],
)
def test_the_beginning_of_another_job_is_refused_and_kept(
    change: dict[str, Any], what: str, job: MakeJob, tmp_path: Path
) -> None:
    folder = leave_unfinished(job(), parts=2)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    if "source" in change:
        lists = [["p1", "p2"]] * COUNT
        change = {"source": write_trips(tmp_path / "other.parquet", lists)}
    with refused(SchemaError, "another_job_begun") as refusal:
        perturb_file(job(**change))
    assert what in refusal.value.differs  # type: ignore[attr-defined]
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert not job().target.exists()


def test_parts_of_another_size_are_refused(
    job: MakeJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    leave_unfinished(job(), parts=2)
    monkeypatch.setattr(nested_files, "ROWS_MAX", 7)
    with refused(SchemaError, "another_job_begun", differs=("parts",)):
        perturb_file(job())


def test_a_damaged_manifest_is_refused(job: MakeJob) -> None:
    folder = leave_unfinished(job(), parts=1)
    for content in ("{", "[]", "{}"):
        (folder / "job.json").write_text(content)
        with refused(SchemaError, "manifest_damaged"):
            perturb_file(job())


def test_a_damaged_key_is_refused_and_withheld(job: MakeJob) -> None:
    folder = leave_unfinished(job(), parts=1)
    digits = (folder / "key").read_text().strip()
    (folder / "key").write_text(digits[::-1])
    with refused(SchemaError, "another_job_begun", differs=("key",)) as refusal:
        perturb_file(job())
    assert digits[::-1] not in str(refusal.value)


def test_a_part_that_lacks_a_report_is_refused(job: MakeJob) -> None:
    folder = leave_unfinished(job(), parts=3)
    part = folder / "part-000001.parquet"
    table = pq.read_table(part)
    assert table.schema.metadata[PART_KEY]
    pq.write_table(table.slice(1), part, write_page_checksum=True)
    with refused(SchemaError, "part_damaged", part=1):
        perturb_file(job())


def test_a_folder_in_which_another_run_began_meanwhile_is_left_to_it(job: MakeJob) -> None:
    folder = leave_unfinished(job(), parts=1)
    kept = {path: path.read_bytes() for path in folder.iterdir()}
    late = Unfinished(job().target, shuffled=True)
    with late, refused(SchemaError, "begun_by_another_run"):
        late.begin(None)
    assert {path: path.read_bytes() for path in folder.iterdir()} == kept


@pytest.mark.parametrize("damage", ["cut", "emptied", "a page", "another part", "another job"])
def test_a_damaged_part_is_refused_and_drawn_again_once_removed(
    damage: str, job: MakeJob, tmp_path: Path
) -> None:
    folder = leave_unfinished(job(KeyedRandom(KEY)), parts=3)
    part = folder / "part-000001.parquet"
    content = part.read_bytes()
    if damage == "another job":
        elsewhere = leave_unfinished(job(target=tmp_path / "elsewhere.parquet"), parts=3)
        content = (elsewhere / part.name).read_bytes()
    changed = {
        "cut": content[:-20],
        "emptied": b"",
        "a page": content.replace(b"journey", b"Journey", 1),  # only its checksum shows it
        "another part": (folder / "part-000000.parquet").read_bytes(),
        "another job": content,
    }
    part.write_bytes(changed[damage])
    with refused(SchemaError, "part_damaged", part=1):
        perturb_file(job(KeyedRandom(KEY)))
    assert not job().target.exists()
    part.unlink()
    perturb_file(job(KeyedRandom(KEY)))
    resumed = job().target.read_bytes()
    perturb_file(job(KeyedRandom(KEY)))
    assert job().target.read_bytes() == resumed


def test_a_folder_without_a_manifest_counts_for_nothing(job: MakeJob) -> None:
    folder = leave_unfinished(job(), parts=2)
    (folder / "job.json").unlink()
    key = (folder / "key").read_bytes()
    with open_job(job()) as running:
        assert running.rows_done == 0
        assert (folder / "key").read_bytes() != key


@pytest.mark.parametrize("mode", [0o755, 0o770])
def test_a_folder_that_others_may_open_is_not_trusted(mode: int, job: MakeJob) -> None:
    folder = leave_unfinished(job(), parts=1)
    folder.chmod(mode)
    with refused(SchemaError, "folder_not_private"):
        perturb_file(job())


def test_a_second_run_at_the_same_time_is_refused(job: MakeJob) -> None:
    with open_job(job()), refused(SchemaError, "folder_in_use"):
        perturb_file(job())
    perturb_file(job())


def test_a_repeated_tid_is_refused_before_anything_is_made(
    job: MakeJob, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        stream, "perturb_batch", lambda *_, **__: pytest.fail("something was drawn")
    )
    tids = [*(f"t{k}" for k in range(60)), "t0"]
    twice = write_trips(tmp_path / "twice.parquet", [["p1", "p2"]] * 61, tids)
    with refused(SchemaError, "tid_repeated", repeated=1):
        perturb_file(job(source=twice))
    assert not folder_of(job()).exists()


def test_a_refusal_of_what_was_found_leaves_nothing(job: MakeJob) -> None:
    def refuse(found: object) -> None:
        raise SchemaError("not these", code="not_these")

    with refused(SchemaError, "not_these"), open_job(job(), accept=refuse):
        pytest.fail("a refused job was opened")
    assert not folder_of(job()).exists()


@pytest.mark.parametrize("step", ["part", "joined"])
def test_a_full_disk_leaves_the_target_as_it_was_and_the_job_goes_on(
    step: str, job: MakeJob, monkeypatch: pytest.MonkeyPatch
) -> None:
    job().target.write_text("older reports")

    def full(writes: dict[Path, Any]) -> None:
        def write(part: Path) -> None:
            part.write_bytes(b"half")
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        atomic.write_atomically({path: write for path in writes})

    def written(writes: dict[Path, Any], private: Sequence[Path] = ()) -> None:
        if step in next(iter(writes)).name:
            full(writes)
        else:
            atomic.write_atomically(writes, private)

    with monkeypatch.context() as patch:
        patch.setattr("nomadp.engine.unfinished.write_atomically", written)
        with refused(OutputError, "file_unwritable", errno=errno.ENOSPC):
            perturb_file(job())
    assert job().target.read_text() == "older reports"
    assert sorted(path.name for path in job().target.parent.iterdir()) == [
        "reports.parquet",
        "reports.parquet.partial",
        "trips.parquet",
    ]
    perturb_file(job())
    assert pq.read_metadata(job().target).num_rows == COUNT


def test_a_source_that_changes_meanwhile_is_refused(job: MakeJob) -> None:
    with open_job(job()) as running:
        os.utime(job().source, ns=(0, 0))
        with refused(SchemaError, "file_changed"):
            running.run()
    assert not job().target.exists()


def test_a_source_that_changes_at_the_very_end_is_refused(job: MakeJob) -> None:
    with refused(SchemaError, "file_changed"):
        perturb_file(job(), progress=lambda _: os.utime(job().source, ns=(0, 0)))
    assert not job().target.exists()


def test_refuses_less_than_one_worker(job: MakeJob) -> None:
    with refused(InvalidArgument, "jobs_out_of_range", jobs=0):
        perturb_file(job(), jobs=0)


HELD = """
import os, sys, time
from nomadp.formats import nested_files
from nomadp.engine import stream, unfinished
from nomadp.engine.unfinished import Unfinished

nested_files.ROWS_MAX, stream.PIECES_PER_PART = 5, 4
write = Unfinished.write_part

def write_part(self, k, *rest):
    write(self, k, *rest)
    if k == 1 and "UNTIL_KILLED" in os.environ:
        time.sleep(600)

Unfinished.write_part = write_part
from nomadp.cli import main
main(sys.argv[1:])
"""


def test_killed_midway_a_run_goes_on_to_the_file_of_an_undisturbed_one(
    job: MakeJob, square: LocationSet, tmp_path: Path
) -> None:
    nomadp.write_locations(tmp_path / "places.csv", square)
    target = tmp_path / "reports.parquet"
    command = ["perturb", str(job().source), "--locations", str(tmp_path / "places.csv")]
    command += ["--mechanism", "exp", "--epsilon", "4", "--out", str(target), "--jobs", "2"]
    env = os.environ | {"UNTIL_KILLED": "yes"}
    killed = subprocess.Popen([sys.executable, "-c", HELD, *command], env=env)
    folder = target.with_name("reports.parquet.partial")
    deadline = time.monotonic() + 300
    while not (folder / "part-000001.parquet").exists():
        assert killed.poll() is None, "the run ended before it could be killed"
        assert time.monotonic() < deadline, "the run wrote no parts"
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    assert killed.wait(timeout=60) == -signal.SIGKILL
    assert not target.exists()
    key = bytes.fromhex((folder / "key").read_text())
    done = subprocess.run(
        [sys.executable, "-c", HELD, *command], capture_output=True, text=True, check=True
    )
    assert str(folder) in done.stderr  # which goes on with what was begun
    assert key.hex() not in done.stderr + done.stdout
    assert not folder.exists()
    undisturbed = job(
        KeyedRandom(key), target=tmp_path / "undisturbed.parquet", keep_tids=False
    )
    perturb_file(undisturbed)
    assert pq.read_table(target) == pq.read_table(undisturbed.target)
