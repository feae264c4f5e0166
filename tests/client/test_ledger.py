"""The ledger: exact, capped for life, durable, and refused where it is not whole."""

import os
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from devices import atlas_bundle
from refusals import refused

from nomadp.client import Client, ledger_file
from nomadp.client.ledger import Ledger
from nomadp.client.ledger_file import LEDGER, MARKER, TABLES, LedgerFile
from nomadp.client.outbox import Outbox
from nomadp.errors import LedgerRefused
from nomadp.protocol.folder import write_task_folder

(FIXED,) = (sql for sql in TABLES if sql.startswith("CREATE TRIGGER charges_fixed"))


@pytest.fixture
def file(tmp_path: Path):
    opened = LedgerFile(tmp_path / "home", Fraction(2))
    yield opened
    opened.close()


def test_what_is_spent_adds_up_exactly(file: LedgerFile) -> None:
    ledger, third = Ledger(file), atlas_bundle(epsilon="1/3", reports_per_contributor=300).task
    for _ in range(6):
        ledger.charge(third, 7)
    assert ledger.budget().used == 2
    assert ledger.budget().remaining == 0
    with refused(LedgerRefused, "budget_exhausted"):
        ledger.charge(third, 7)


def test_a_charge_that_fits_by_a_hair_only_in_floats_is_refused(tmp_path: Path) -> None:
    # In floats, ten tenths are less than one.
    opened = LedgerFile(tmp_path, Fraction(1))
    ledger = Ledger(opened)
    tenth = atlas_bundle(epsilon="1/10", reports_per_contributor=20).task
    for _ in range(10):
        ledger.charge(tenth, 7)
    tiny = atlas_bundle("b", epsilon="1/1000000").task
    with refused(LedgerRefused, "budget_exhausted"):
        ledger.charge(tiny, 7)
    opened.close()


def test_a_task_takes_no_more_reports_than_it_says(file: LedgerFile) -> None:
    ledger, task = Ledger(file), atlas_bundle(epsilon="1/8", reports_per_contributor=2).task
    ledger.charge(task, 7)
    ledger.charge(task, 9)
    with refused(LedgerRefused, "reports_exhausted", limit=2, reports=2, more=1):
        ledger.charge(task, 9)
    ledger.charge(atlas_bundle("b", epsilon="1/8").task, 9)


def test_a_report_that_was_lost_or_refused_counts_all_the_same(file: LedgerFile) -> None:
    ledger, outbox = Ledger(file), Outbox(file)
    lost, task = atlas_bundle(epsilon=1).task, atlas_bundle("b", epsilon=1).task
    ledger.charge(lost, 7)
    charge = ledger.charge(task, 7)
    outbox.store(charge, b"one", 0)
    outbox.stop(charge.report_id, "refused")
    for once in (lost, task):
        with refused(LedgerRefused, "reports_exhausted", limit=1, reports=1, more=1):
            ledger.charge(once, 7)
    with refused(LedgerRefused, "budget_exhausted"):
        ledger.charge(atlas_bundle("c", epsilon="1/8").task, 7)


def test_nobody_else_can_write_between_a_look_at_the_budget_and_its_charge(
    file: LedgerFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked, check = [], Ledger.check

    def checked(*asked: object) -> None:
        check(*asked)  # type: ignore[arg-type]
        other = sqlite3.connect(tmp_path / "home" / LEDGER, timeout=0, isolation_level=None)
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
        other.close()
        looked.append(True)

    monkeypatch.setattr(Ledger, "check", checked)
    Ledger(file).charge(atlas_bundle().task, 7)
    assert looked


def test_what_a_ledger_refuses_is_said(
    file: LedgerFile, tmp_path: Path, wording: Callable[..., None]
) -> None:
    ledger, told = Ledger(file), []
    once, twice = (
        atlas_bundle(f"{k}", epsilon="1/8", reports_per_contributor=k).task for k in (1, 2)
    )
    for task, reports, asked in ((once, 1, 1), (twice, 0, 3)):
        for _ in range(reports):
            ledger.charge(task, 7)
        with pytest.raises(LedgerRefused) as caught:
            ledger.check(task, asked)
        told.append(str(caught.value))
    with pytest.raises(LedgerRefused) as caught:
        ledger.check(atlas_bundle("c", epsilon=2).task)
    wording("protocol", "a ledger that is exhausted", "\n".join([*told, str(caught.value)]))


def test_a_refused_charge_costs_nothing(file: LedgerFile) -> None:
    ledger = Ledger(file)
    with refused(LedgerRefused, "budget_exhausted", lifetime=2, used=0, more=3):
        ledger.charge(atlas_bundle(epsilon=3).task, 7)
    assert ledger.budget().used == 0


def test_a_charge_is_for_everybody_to_see_as_soon_as_it_returns(
    file: LedgerFile, tmp_path: Path
) -> None:
    charge = Ledger(file).charge(atlas_bundle().task, 7)
    other = sqlite3.connect(tmp_path / "home" / LEDGER)
    assert other.execute("SELECT report_id FROM charges").fetchall() == [(charge.report_id,)]
    other.close()


def test_every_commit_is_flushed_with_its_folder(file: LedgerFile) -> None:
    extra, delete = 3, "delete"
    assert file.rows("PRAGMA synchronous") == [(extra,)]
    assert file.rows("PRAGMA journal_mode") == [(delete,)]
    assert file.rows("PRAGMA fullfsync") == [(1,)]  # what macOS needs besides


def test_a_step_that_fails_leaves_nothing_of_itself(file: LedgerFile) -> None:
    def begun() -> None:
        with file.transaction() as db:
            db.execute("UPDATE about SET lifetime = '1'")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        begun()
    assert file.lifetime == 2
    Ledger(file).charge(atlas_bundle().task, 7)


def test_neither_sending_nor_receipts_tell_in_which_order_reports_were_made(
    file: LedgerFile,
) -> None:
    ledger, outbox = Ledger(file), Outbox(file)
    task = atlas_bundle(epsilon="1/8", reports_per_contributor=12).task
    for _ in range(12):
        outbox.store(ledger.charge(task, 7), b"one", 0)
    for told in (outbox.waiting(None), outbox.receipts()):
        ids = [each.report_id for each in told]
        assert ids == sorted(ids)


def test_what_a_collector_has_stays_accepted_whatever_a_later_reply_says(
    file: LedgerFile,
) -> None:
    charge, outbox = Ledger(file).charge(atlas_bundle().task, 7), Outbox(file)
    outbox.store(charge, b"one", 0)
    outbox.accept(charge.report_id)
    outbox.stop(charge.report_id, "report_replayed")
    outbox.postpone(charge.report_id, "busy (503)", 9)
    assert outbox.receipt(charge.report_id).accepted
    assert outbox.waiting(None, again=True) == []


def test_a_charge_never_gets_a_second_body(file: LedgerFile) -> None:
    charge, outbox = Ledger(file).charge(atlas_bundle().task, 7), Outbox(file)
    outbox.store(charge, b"one", 0)
    with refused(LedgerRefused, "charge_already_used"):
        outbox.store(charge, b"two", 0)
    (waiting,) = outbox.waiting(None)
    assert waiting.body == b"one"


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM charges",
        "UPDATE charges SET epsilon = '1/100'",
        "UPDATE charges SET task = 'other'",
        "UPDATE charges SET body = 'other'",
    ],
)
def test_the_file_itself_refuses_to_forget(file: LedgerFile, change: str) -> None:
    charge = Ledger(file).charge(atlas_bundle().task, 7)
    Outbox(file).store(charge, b"one", 0)
    with refused(LedgerRefused, "ledger_unusable"), file.transaction() as db:
        db.execute(change)
    assert Outbox(file).waiting(None)[0].body == b"one"


def test_nothing_of_a_body_is_left_once_it_is_accepted(
    file: LedgerFile, tmp_path: Path
) -> None:
    charge, outbox = Ledger(file).charge(atlas_bundle().task, 7), Outbox(file)
    outbox.store(charge, b"what-was-released" * 9, 0)
    path = tmp_path / "home" / LEDGER
    assert b"what-was-released" in path.read_bytes()
    outbox.accept(charge.report_id)
    assert b"what-was-released" not in path.read_bytes()
    assert outbox.receipt(charge.report_id).accepted


def test_only_the_owner_can_read_a_ledger(file: LedgerFile, tmp_path: Path) -> None:
    if os.name == "nt":
        pytest.skip("there are no such modes on Windows")
    home = tmp_path / "home"
    mode = {path.name: stat.S_IMODE(path.stat().st_mode) for path in [home, *home.iterdir()]}
    assert mode == {"home": 0o700, LEDGER: 0o600, MARKER: 0o600}


def test_a_ledger_that_is_gone_is_not_begun_again(tmp_path: Path) -> None:
    LedgerFile(tmp_path).close()
    (tmp_path / LEDGER).unlink()
    with refused(LedgerRefused, "ledger_missing"):
        LedgerFile(tmp_path)
    assert not (tmp_path / LEDGER).exists()


def test_a_task_that_was_joined_tells_that_a_ledger_was_there(tmp_path: Path) -> None:
    write_task_folder(tmp_path / "task", atlas_bundle())
    with Client(tmp_path / "home") as client:
        client.join(tmp_path / "task")
    for name in (LEDGER, MARKER):
        (tmp_path / "home" / name).unlink()
    with refused(LedgerRefused, "ledger_missing"):
        Client(tmp_path / "home")


def test_an_empty_file_in_its_place_is_refused(tmp_path: Path) -> None:
    LedgerFile(tmp_path).close()
    (tmp_path / LEDGER).write_bytes(b"")
    with refused(LedgerRefused, "ledger_empty"):
        LedgerFile(tmp_path)


def test_another_ledger_in_its_place_is_refused(tmp_path: Path) -> None:
    for name in ("a", "b"):
        LedgerFile(tmp_path / name).close()
    (tmp_path / "a" / LEDGER).replace(tmp_path / "b" / LEDGER)
    with refused(LedgerRefused, "ledger_mismatch"):
        LedgerFile(tmp_path / "b")


def damaged(content: bytes) -> list[bytes]:
    """The same file, hurt in several ways."""
    middle = len(content) // 2
    return [
        b"no database at all",
        content[:middle],
        content[:100] + bytes(len(content) - 100),
        content[:4096] + bytes(4096) + content[8192:],
        b"S" + content,
    ]


@pytest.mark.parametrize("how", range(5))
def test_a_damaged_ledger_is_refused(tmp_path: Path, how: int) -> None:
    opened = LedgerFile(tmp_path)
    for _ in range(9):
        Ledger(opened).charge(atlas_bundle(epsilon="1/8", reports_per_contributor=300).task, 7)
    opened.close()
    path = tmp_path / LEDGER
    path.write_bytes(damaged(path.read_bytes())[how])
    with pytest.raises(LedgerRefused) as caught:
        LedgerFile(tmp_path)
    assert caught.value.code in ("ledger_damaged", "ledger_unusable")


def test_a_ledger_out_of_which_a_charge_was_cut_is_refused(tmp_path: Path) -> None:
    opened = LedgerFile(tmp_path)
    for _ in range(9):
        Ledger(opened).charge(atlas_bundle(epsilon="1/8", reports_per_contributor=300).task, 7)
    ((page,),) = opened.rows("SELECT rootpage FROM sqlite_master WHERE name = 'charges'")
    ((size,),) = opened.rows("PRAGMA page_size")
    opened.close()
    content = bytearray((tmp_path / LEDGER).read_bytes())
    count = (page - 1) * size + 3  # of the rows on this page, in two bytes
    assert content[count : count + 2] == b"\0\x09"
    content[count + 1] = 8
    (tmp_path / LEDGER).write_bytes(content)
    with refused(LedgerRefused, "ledger_damaged"):
        LedgerFile(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        "DROP TRIGGER charges_stay",
        "ALTER TABLE charges ADD COLUMN more TEXT",
        "UPDATE about SET lifetime = '1000'",
        "UPDATE about SET lifetime = 'x'",
        "UPDATE about SET format = 'nomadp ledger 2'",
        "DELETE FROM about",
        "DROP TRIGGER charges_fixed; UPDATE charges SET epsilon = '-1'",
        *(
            f"DROP TRIGGER charges_fixed; UPDATE charges SET epsilon = '{said}'; {FIXED}"
            for said in ("-1", "0", "x")
        ),
    ],
)
def test_a_ledger_of_another_shape_is_refused(tmp_path: Path, change: str) -> None:
    opened = LedgerFile(tmp_path)
    Ledger(opened).charge(atlas_bundle().task, 7)
    opened.close()
    stranger = sqlite3.connect(tmp_path / LEDGER)
    stranger.executescript(change)
    stranger.close()
    with refused(LedgerRefused, "ledger_damaged"):
        LedgerFile(tmp_path)


def test_a_ledger_whose_marker_was_not_written_yet_goes_on(tmp_path: Path) -> None:
    LedgerFile(tmp_path).close()
    (tmp_path / MARKER).unlink()
    LedgerFile(tmp_path).close()
    assert (tmp_path / MARKER).exists()


def test_a_ledger_that_had_no_time_to_begin_begins(tmp_path: Path) -> None:
    (tmp_path / LEDGER).touch()
    opened = LedgerFile(tmp_path, Fraction(3))
    assert opened.lifetime == 3
    opened.close()


def test_the_lifetime_is_fixed_when_the_ledger_begins(tmp_path: Path) -> None:
    with Client(tmp_path, lifetime="5/2") as client:
        assert client.budget().lifetime == Fraction(5, 2)
    with Client(tmp_path) as client:
        assert client.budget().lifetime == Fraction(5, 2)
    with refused(LedgerRefused, "lifetime_raised", lifetime=Fraction(5, 2)):
        Client(tmp_path, lifetime=3)


@pytest.mark.parametrize(
    "lifetime", ["1_0", "\u0661", "0x5", "nan", "inf", True, "1e999999999"]
)
def test_a_lifetime_is_a_number_in_our_digits(tmp_path: Path, lifetime: object) -> None:
    with refused(LedgerRefused, "lifetime_out_of_range", limit=100):
        Client(tmp_path, lifetime=lifetime)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("lifetime", "epsilon", "fitting"),
    [
        ("1", "500000000000000000000001/1000000000000000000000000", 1),  # in floats, two fit
        ("3/10", "1/10", 3),  # in floats, three tenths are more than .3
        ("999999999999999999999999/1000000000000000000000000", "1/2", 1),
    ],
)
def test_the_cap_is_compared_in_exact_fractions(
    tmp_path: Path, lifetime: str, epsilon: str, fitting: int
) -> None:
    opened = LedgerFile(tmp_path, Fraction(lifetime))
    ledger = Ledger(opened)
    task = atlas_bundle("exact", epsilon=epsilon, length=1, reports_per_contributor=9).task
    ledger.check(task, fitting)
    with refused(LedgerRefused, "budget_exhausted"):
        ledger.check(task, fitting + 1)
    for _ in range(fitting):
        ledger.charge(task, 7)
    with refused(LedgerRefused, "budget_exhausted"):
        ledger.charge(task, 7)
    opened.close()


def test_a_lowered_lifetime_stays_lowered(tmp_path: Path) -> None:
    Client(tmp_path, lifetime=5).close()
    Client(tmp_path, lifetime=4).close()
    with refused(LedgerRefused, "lifetime_raised", lifetime=4):
        Client(tmp_path, lifetime=5)


@pytest.mark.parametrize("lifetime", [0, -1, 101, "x", "1/0", float("nan"), float("inf"), ""])
def test_a_lifetime_beyond_the_ceiling_is_refused(tmp_path: Path, lifetime: object) -> None:
    with refused(LedgerRefused, "lifetime_out_of_range", limit=100):
        Client(tmp_path / "home", lifetime=lifetime)
    assert not (tmp_path / "home").exists()


def test_the_default_lifetime_is_twenty(tmp_path: Path) -> None:
    with Client(tmp_path) as client:
        assert client.budget().lifetime == 20


def test_a_second_process_waits_and_then_goes_on(tmp_path: Path) -> None:
    holder, task = LedgerFile(tmp_path), atlas_bundle().task
    began, ended = threading.Event(), []

    def charge() -> None:
        other = LedgerFile(tmp_path)
        began.set()
        Ledger(other).charge(task, 7)
        ended.append("charged")
        other.close()

    waiting = threading.Thread(target=charge)
    with holder.transaction():
        # It cannot even look while somebody else may be about to begin the ledger.
        waiting.start()
        assert not began.wait(0.3)
        assert ended == []
    waiting.join()
    assert ended == ["charged"]
    holder.close()


def test_whoever_has_waited_long_enough_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    holder = LedgerFile(tmp_path)
    monkeypatch.setattr(ledger_file, "LOCK_WAIT_S", 0.05)
    with holder.transaction(), refused(LedgerRefused, "ledger_in_use"):
        LedgerFile(tmp_path)
    holder.close()


PARALLEL = """
import sys
from devices import atlas_bundle
from nomadp.client.ledger import Ledger
from nomadp.client.ledger_file import LedgerFile
from nomadp.errors import LedgerRefused
from pathlib import Path

ledger = Ledger(LedgerFile(Path(sys.argv[1])))
task = atlas_bundle(epsilon="1/10", reports_per_contributor=300).task
count = 0
try:
    while True:
        ledger.charge(task, 7)
        count += 1
except LedgerRefused:
    print(count)
"""


def test_several_processes_together_spend_the_cap_and_no_more(tmp_path: Path) -> None:
    LedgerFile(tmp_path, Fraction(2)).close()
    tests = Path(__file__).parent.parent
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PARALLEL, str(tmp_path)],
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": str(tests)},
        )
        for _ in range(3)
    ]
    assert sum(int(process.communicate()[0]) for process in running) == 20


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_forked_process_may_not_use_its_parents_ledger(
    file: LedgerFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with refused(LedgerRefused, "ledger_of_another_process"):
        Ledger(file).charge(atlas_bundle().task, 7)


def test_a_full_disk_is_a_refusal_and_nothing_was_charged(file: LedgerFile) -> None:
    ledger = Ledger(file)
    (pages,) = file.rows("PRAGMA page_count")[0]
    file.rows(f"PRAGMA max_page_count={pages}")
    task = atlas_bundle(epsilon="1/1000", reports_per_contributor=366).task
    made = 0
    with refused(LedgerRefused, "ledger_unusable", reason="OperationalError"):
        for _ in range(366):
            ledger.charge(task, 7)
            made += 1
    assert len(file.rows("SELECT * FROM charges")) == made
