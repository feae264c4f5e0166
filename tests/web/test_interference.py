"""Whatever a person's file says, a network sees the same of their browser."""

import base64
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browsers import expect, seen
from collecting import Process, bundle_of
from recording_proxy import Seen, recording

from nomadp.protocol import TaskBundle

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

NO_MAPS = "HTMLCanvasElement.prototype.getContext = () => null"
NUMBERS = itertools.count(1)
HERE = "41.8,-87.6\n"
FILES = {
    "empty": "",
    "of one point": HERE,
    "of no place": "nan,nan\n91,0\na,b\n",
    "far away": "-33.9,151.2\n-89.9,0.5\n",
    "with one bad point": f"{HERE}nan,nan\n",
    "beyond the date line": "41.8,272.4\n41.9,-447.7\n",
    "always at home": HERE * 300,
    "very long": "".join(f"{k % 90},{k % 180}\n" for k in range(20_000)),
}


@pytest.fixture(scope="module")
def collector(
    web: Callable[..., None], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Process]:
    web("build")
    folder = tmp_path_factory.mktemp("collector")
    with Process(str(folder / "collector.sqlite"), folder) as process:
        yield process


def seen_of(
    chromium: "Browser", collector: Process, bundle: TaskBundle, file: Path
) -> list[Seen]:
    """From when the file is chosen until its report is accepted."""
    with recording(collector.address) as proxy:
        url = f"http://127.0.0.1:{proxy.server_port}/contribute/{bundle.task.id}"
        with seen(chromium, url, script=NO_MAPS) as page:
            page.locator("[data-step='1']").wait_for()
            page.wait_for_load_state("networkidle")
            before = len(proxy.seen)
            page.locator("#file").set_input_files(file)
            expect(page.locator(".journey input")).to_be_checked()
            page.locator("[data-action=use-journey]").click()
            page.locator("[data-action=preview]").click()
            page.locator("[data-action=to-sending]").click()
            page.locator("#accept").check()
            page.locator("#send").click()
            expect(page.locator("#receipt")).to_have_attribute("data-state", "accepted")
            page.wait_for_load_state("networkidle")
            return proxy.seen[before:]


@pytest.mark.parametrize(
    ("mechanism", "names"),
    [("atlas", list(FILES)), ("trips", ["of one point", "empty", "very long"])],
    ids=["atlas", "trips"],
)
def test_the_network_sees_the_same_for_every_file(
    chromium: "Browser", collector: Process, tmp_path: Path, mechanism: str, names: list[str]
) -> None:
    salt = base64.urlsafe_b64encode(next(NUMBERS).to_bytes(16, "big")).decode().rstrip("=")
    bundle = collector.add(bundle_of(mechanism, salt, min_batch_size=1))
    file, found = tmp_path / "own.csv", {}
    for name in names:
        file.write_text(f"lat,lng\n{FILES[name]}")
        found[name] = seen_of(chromium, collector, bundle, file)
    usual = found["of one point"]
    asked = [
        (each.method, each.path.removeprefix(f"/tasks/{bundle.task.id}")) for each in usual
    ]
    assert asked[-2:] == [("GET", "/status"), ("POST", "/reports")]
    assert {name: each for name, each in found.items() if each != usual} == {}
