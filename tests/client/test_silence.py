"""Nothing that a device says, logs or keeps depends on a journey, but the value it releases."""

import io
import json
import logging
import traceback
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import Any

import pytest
from devices import Collector, Said, atlas_bundle, collecting, question_bundle
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import refused

from nomadp.client import Client
from nomadp.client.private_trajectory import PrivateTrajectory
from nomadp.errors import DomainError, NomadpError
from nomadp.mechanisms.atlas import Atlas
from nomadp.protocol.folder import write_task_folder

BUNDLE = atlas_bundle("s", reports_per_contributor=366, epsilon="1/10")

lat = st.floats(-89.123456, 89.123456).map(lambda x: round(x, 6))
lng = st.floats(-179.123456, 179.123456).map(lambda x: round(x, 6))
points = st.lists(st.tuples(lat, lng), min_size=1, max_size=12)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Client, Collector]]:
    home = tmp_path_factory.mktemp("silent")
    with collecting(BUNDLE) as collector, Client(home, lifetime=100) as client:
        client.join(collector.url, BUNDLE.task.id)
        yield client, collector


class Heard:
    """Everything that is printed, logged, raised or shown meanwhile."""

    def __init__(self) -> None:
        self.text = ""

    def __enter__(self) -> "Heard":
        self._out, self._records = io.StringIO(), logging.Handler(0)
        self._records.emit = lambda record: self._out.write(record.getMessage())  # type: ignore[assignment,method-assign,func-returns-value]
        self._level = logging.getLogger().level
        logging.getLogger().addHandler(self._records)
        logging.getLogger().setLevel(0)
        self._redirects = [redirect_stdout(self._out), redirect_stderr(self._out)]
        for each in self._redirects:
            each.__enter__()
        return self

    def __exit__(self, *failure: Any) -> None:
        for each in self._redirects:
            each.__exit__(None, None, None)
        logging.getLogger().removeHandler(self._records)
        logging.getLogger().setLevel(self._level)
        self.text = self._out.getvalue()


def numbers(journey: list[tuple[float, float]]) -> list[str]:
    """How coordinates would be written, those that say something."""
    return [str(x) for pair in journey for x in pair if len(str(abs(x))) >= 6]


@settings(max_examples=30)
@given(points)
def test_a_report_says_nothing_of_its_journey(
    place: tuple[Client, Collector], journey: list[tuple[float, float]]
) -> None:
    client, collector = place
    collector.seen.clear()
    with Heard() as heard:
        receipt = client.report(journey, now=True)
    said = repr(receipt) + repr(client) + repr(PrivateTrajectory.of(journey, BUNDLE, None))
    assert heard.text == ""
    assert receipt.accepted
    (asked,) = collector.uploads
    kept = (client.home / "ledger.sqlite3").read_bytes().decode("latin-1")
    for number in numbers(journey):
        assert number not in said + kept + (asked.raw_head + asked.body).decode()


@given(points, st.sampled_from(["triple", "text"]))
def test_a_refusal_says_nothing_of_its_journey(
    place: tuple[Client, Collector], journey: list[tuple[float, float]], how: str
) -> None:
    client, _ = place
    wrong: Any = {
        "triple": [(*pair, 1.0) for pair in journey],
        "text": [*journey, ("here", "there")],
    }[how]
    with Heard() as heard, refused(DomainError, "trajectory_malformed") as caught:
        client.report(wrong)
    said = "".join(traceback.format_exception(caught.value)) + heard.text
    assert not any(number in said for number in numbers(journey))
    with refused(DomainError, "trajectory_malformed") as other:
        client.report("somewhere")
    # The same refusal, whatever the journey.
    assert str(caught.value) == str(other.value)
    assert vars(caught.value) == vars(other.value)


@settings(max_examples=10)
@given(st.lists(st.integers(0, 11), min_size=1, max_size=9))
def test_a_failure_after_the_charge_says_nothing_of_its_journey(
    tmp_path_factory: pytest.TempPathFactory, journey: list[int]
) -> None:
    plain = Atlas.report

    def fail(self: Atlas, given: Any, hour: Any) -> None:
        raise ValueError(f"SECRET {list(given)}")

    home = tmp_path_factory.mktemp("failing")
    with Client(home) as client:
        client.join(_folder(home))
        Atlas.report = fail  # type: ignore[assignment,method-assign]
        try:
            with Heard() as heard, pytest.raises(NomadpError) as caught:
                client.report(journey)
        finally:
            Atlas.report = plain  # type: ignore[method-assign]
    said = "".join(traceback.format_exception(caught.value)) + heard.text
    assert "SECRET" not in said + repr(vars(caught.value))
    assert "SECRET" not in repr(caught.value.__context__) + repr(caught.value.__cause__) + str(
        caught.value
    )


def _folder(home: Path) -> Path:
    return write_task_folder(home / "task", BUNDLE)


@pytest.mark.parametrize(
    "bundle", [BUNDLE, question_bundle("visits", "v", reports_per_contributor=99)]
)
def test_retries_do_not_depend_on_the_journey(
    tmp_path: Path, bundle: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the same replies the same requests are made, wherever the person was."""
    from nomadp.client import sending

    monkeypatch.setattr(sending, "RETRY_FIRST_S", 0.001)
    seen = []
    for name, journey in {"near": [(40.0, -74.0)] * 2, "far": [(-33.9, 151.2)] * 50}.items():
        with collecting(bundle) as collector, Client(tmp_path / name) as client:
            client.join(collector.url, bundle.task.id)
            collector.replies = [Said(503), Said(500), Said(400)]
            with suppress(NomadpError):
                client.report(journey)
            sizes = [len(each.raw_head + each.body) for each in collector.seen]
            shape = [(r.state, r.reason) for r in client.receipts()]
            bodies = {json.loads(each.body)["reports"][0]["time"] for each in collector.uploads}
            seen.append((sizes, shape, bodies))
    assert seen[0] == seen[1]
