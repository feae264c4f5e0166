"""The collection of the demonstration: real processes, the real protocol, nothing left over."""

import http.client
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import groupby
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from collecting import TOKENS, bundle_of, collector
from processes import children, is_gone, start, wait_until
from refusals import refused

from nomadp.answers import flows as between
from nomadp.answers import hotspots
from nomadp.collector.connections import open_store
from nomadp.datasets.city import synthetic_city
from nomadp.datasets.city_districts import city_districts
from nomadp.demo.analyst import Analyst, AnswerMissing
from nomadp.demo.collection import (
    ATLAS_QUERIES,
    FULL,
    ORACLE_QUERIES,
    PURPOSE_SUFFIX,
    CollectionPlan,
    run_collection,
)
from nomadp.demo.collector import CollectorFailed, running_collector
from nomadp.engine.local import perturb_set
from nomadp.inference.model import fit
from nomadp.mechanisms import make_mechanism
from nomadp.randomness import SeededRandom

SMALL = CollectionPlan(places=40, devices=120, codewords=16)
in_proc = pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="looks for processes in /proc"
)


def asked(address: str, path: str, token: str) -> dict[str, object]:
    there = urlsplit(address)
    connection = http.client.HTTPConnection(str(there.hostname), there.port, timeout=30)
    with closing(connection):
        connection.request("GET", path, headers={"authorization": f"Bearer {token}"})
        return dict(json.loads(connection.getresponse().read()))


@pytest.mark.slow
def test_every_device_reports_to_every_task_and_the_analyst_is_answered() -> None:
    stages: list[tuple[str, int]] = []
    done: list[int] = []

    @contextmanager
    def stage(what: str, pieces: int) -> Iterator[Callable[[int], None]]:
        stages.append((what, pieces))
        done.append(0)
        yield lambda count: done.__setitem__(-1, done[-1] + count)

    with run_collection(SMALL, 1, stage) as held:
        assert held.reports == 2 * SMALL.devices == SMALL.reports
        assert done == [pieces for _, pieces in stages]
        by_task = groupby(held.findings, key=lambda finding: finding.task)
        assert [len(list(each)) for _, each in by_task] == [
            len(ORACLE_QUERIES),
            len(ATLAS_QUERIES),
        ]
        tasks = asked(held.running.address, "/tasks", held.running.token)["tasks"]
        assert isinstance(tasks, list)
        assert [each["reports"] for each in tasks] == [SMALL.devices] * 2
        purposes = [each["purpose"] for each in tasks]
        assert all(each.endswith(PURPOSE_SUFFIX) for each in purposes)
        assert len({each[:12] for each in purposes}) == 2  # as much as a phone shows of each
        with refused(AnswerMissing, "query_refused", status=401):
            Analyst(held.running.address, "another-token").start(tasks[0]["task_id"], [{}])
        process = held.running.process
    assert process.poll() is not None


@pytest.mark.slow
def test_what_the_direct_question_finds_is_found_nearly_always() -> None:
    """Reports are drawn anew for every demonstration: chance must not decide what it tells."""
    city = synthetic_city(FULL.seed, places=FULL.places, trips=FULL.devices)
    districts = city_districts(city.locations, FULL.seed)
    trips = make_mechanism("trips", city.locations, FULL.epsilon, zones=districts)
    for repeat in range(8):
        randomness = SeededRandom(repeat).bound_to(trips.identity)
        learned = fit(trips, perturb_set(trips, city.trajectories, randomness))
        ends, flows = hotspots(learned, at="ends"), between(learned)
        assert np.count_nonzero(ends["significant"]) >= 3
        first = int(np.argmax(ends["share"]))
        assert ends["zone"][first] == "Old Town"
        assert ends["significant"][first]
        leaves = np.array(flows["origin"]) != np.array(flows["destination"])
        more = leaves & flows["significant"] & (flows["flow"] > flows["baseline"])
        assert np.count_nonzero(more) >= 2


def test_a_query_of_too_few_reports_fails_with_its_status(tmp_path: Path) -> None:
    bundle = bundle_of("starts")
    with collector(open_store(str(tmp_path / "collector.sqlite")), bundle) as address:
        analyst = Analyst(f"http://127.0.0.1:{address.port}", TOKENS["analyst"])
        (job,) = analyst.start(bundle.task.id, [{"kind": "hotspots"}])
        with refused(AnswerMissing, "query_unanswered", status=200):
            analyst.result(job)


def test_a_collector_that_cannot_start_says_why(tmp_path: Path) -> None:
    with (
        refused(CollectorFailed, "collector_not_started", exit_code=2) as caught,
        running_collector([tmp_path / "nothing"], tmp_path),
    ):
        pass
    assert str(tmp_path / "nothing") in str(caught.value)


@in_proc
def test_a_collector_leaves_with_a_starter_that_was_killed(tmp_path: Path) -> None:
    program = (
        "import sys, time\nfrom pathlib import Path\n"
        "from nomadp.demo.collector import running_collector\n"
        "with running_collector([], Path(sys.argv[1])) as running:\n"
        "    print(running.process.pid, flush=True)\n    time.sleep(60)\n"
    )
    starter = subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    assert starter.stdout is not None
    collector = int(starter.stdout.readline())
    starter.kill()
    starter.communicate()
    assert wait_until(lambda: is_gone(collector), 60), "an orphan is left"


@pytest.fixture
def demo(tmp_path: Path) -> Iterator["subprocess.Popen[str]"]:
    arguments = ["demo", "--quick", "--jobs", "2", "--out", "page", "--json"]
    process = start(arguments, tmp_path)
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def told(process: "subprocess.Popen[str]") -> dict[str, object]:
    """The object that it prints before it stays."""
    assert process.stdout is not None
    text = ""
    for line in process.stdout:
        text += line
        if line == "}\n":
            break
    return dict(json.loads(text))


@in_proc
@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_demo_that_stays_is_ended_by_a_signal_with_all_it_started(
    demo: "subprocess.Popen[str]", number: signal.Signals, tmp_path: Path
) -> None:
    output = told(demo)
    assert (tmp_path / str(output["page"])).exists()
    token = str(output["analyst_token"])
    assert len(list(asked(str(output["collector"]), "/tasks", token)["tasks"])) == 2  # type: ignore[call-overload]
    started = children(demo.pid)
    assert started
    if number == signal.SIGINT:
        os.killpg(demo.pid, number)
    else:
        demo.send_signal(number)
    _, stderr = demo.communicate(timeout=300)
    assert demo.returncode == 128 + number
    assert str(output["page"]) in stderr
    assert wait_until(lambda: all(map(is_gone, started)), 120), "an orphan is left"


@pytest.mark.slow
def test_a_quick_demo_without_serving_ends_by_itself(tmp_path: Path) -> None:
    process = start(["demo", "--quick", "--no-serve", "--json"], tmp_path)
    stdout, stderr = process.communicate(timeout=1800)
    assert process.returncode == 0, stderr
    content = json.loads(stdout)
    assert content["reports"] == 600
    assert (tmp_path / content["page"]).exists()
    there = urlsplit(content["collector"])
    connection = http.client.HTTPConnection(str(there.hostname), there.port, timeout=5)
    with pytest.raises(ConnectionRefusedError):
        connection.request("GET", "/tasks")
