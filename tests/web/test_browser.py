"""The client as it is built, in a real browser: in a page, and in a worker."""

import base64
import json
import shutil
import threading
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from known_answers import load
from scipy.stats import chi2

from nomadp import laws
from nomadp.budget import as_epsilon

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parents[2]
SIZE, COUNT, SECRET = 6, 2, 3
ALPHA = 1e-6
WITHOUT_PLACES = ("no-places", "raw-only")
"""A device reads these as a journey without a point: reporting must not depend on places."""

PROBE = """
import { asEpsilon, SubsetSelection, SystemRandom } from "./index.js";
import { ImportRefused, readTrajectories } from "./imports/index.js";

export function draws(...asked) {
  return asked.map((one) => drawn(...one));
}

function drawn(size, count, secret, words) {
  const law = new SubsetSelection(size, count, asEpsilon("4"));
  return words.map((row) => {
    const left = row.map((word) => BigInt("0x" + word));
    return law.draw(secret, () => left.shift());
  });
}

export function counts(size, count, secret, number) {
  const law = new SubsetSelection(size, count, asEpsilon("1"));
  const words = new SystemRandom();
  const found = {};
  for (let k = 0; k < number; k += 1) {
    const set = law.draw(secret, () => words.next()).reduce((bits, one) => bits + 2 ** one, 0);
    found[set] = (found[set] ?? 0) + 1;
  }
  return found;
}

export async function imported(...files) {
  return Promise.all(files.map(read));
}

/** The journeys of an export, or why it is refused; what is none of our refusals is thrown. */
async function read(base64) {
  const bytes = Uint8Array.from(atob(base64), (each) => each.charCodeAt(0));
  try {
    const { trajectories } = await readTrajectories(new Blob([bytes]));
    const shown = ({ momentUs, lat, lng }) => [momentUs && momentUs / 1000, lat, lng];
    return trajectories.map((trajectory) => trajectory.map(shown));
  } catch (error) {
    if (!(error instanceof ImportRefused)) throw error;
    return error.reason;
  }
}
"""
WORKER = """
import * as probe from "./probe.js";
onmessage = async ({ data: [name, args] }) => postMessage(await probe[name](...args));
"""
IN_PAGE = "async ([name, args]) => (await import('/probe.js'))[name](...args)"
IN_WORKER = """(asked) => new Promise((answer, refuse) => {
  const worker = new Worker("/worker.js", { type: "module" });
  worker.onmessage = ({ data }) => answer(data);
  worker.onerror = refuse;
  worker.postMessage(asked);
})"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def page(
    web: Callable[..., None], chromium: "Browser", tmp_path_factory: pytest.TempPathFactory
) -> Iterator["Page"]:
    """An empty page on loopback, beside the client."""
    web("build")
    folder = tmp_path_factory.mktemp("client") / "served"
    shutil.copytree(ROOT / "web" / "client" / "dist", folder)
    for name, text in {
        "index.html": "<!doctype html>",
        "probe.js": PROBE,
        "worker.js": WORKER,
    }.items():
        (folder / name).write_text(text)
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        page = chromium.new_page()
        page.goto(f"http://127.0.0.1:{server.server_port}/index.html")
        yield page
        page.close()
    finally:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize("where", [IN_PAGE, IN_WORKER], ids=["page", "worker"])
def test_a_browser_draws_the_known_answers(page: "Page", where: str) -> None:
    cases = [
        case
        for case in load("labels")["cases"]
        if case["ask"].get("name") == "SubsetSelection" and case["ask"]["share"] == "4"
    ]
    assert len(cases) > 3
    asked, known = [], []
    for case in cases:
        ask = case["ask"]
        asked += [[ask["size"], ask["count"], each, ask["words"]] for each in ask["secrets"]]
        known += case["answer"]["draws"]
    assert page.evaluate(where, ["draws", asked]) == known


def misfit(found: dict[str, int]) -> float:
    """The chance of counts that fit the exact law no better."""
    law = laws.SubsetSelection(SIZE, COUNT, as_epsilon(1))
    weights = law.weights(SECRET)
    counts = np.array([found.pop(str(output), 0) for output in law.outputs])
    assert found == {}
    expected = counts.sum() * weights / weights.sum()
    statistic = float(((counts - expected) ** 2 / expected).sum())
    return float(chi2.sf(statistic, len(counts) - 1))


@pytest.mark.parametrize("where", [IN_PAGE, IN_WORKER], ids=["page", "worker"])
def test_draws_of_a_browser_follow_their_law(page: "Page", where: str) -> None:
    assert misfit(page.evaluate(where, ["counts", [SIZE, COUNT, SECRET, 20_000]])) > ALPHA


def test_draws_for_another_secret_are_seen_not_to(page: "Page") -> None:
    other = page.evaluate(IN_PAGE, ["counts", [SIZE, COUNT, SECRET - 1, 20_000]])
    assert misfit(other) < ALPHA


@pytest.mark.slow
def test_a_million_draws_of_a_worker_follow_their_law(page: "Page") -> None:
    assert misfit(page.evaluate(IN_WORKER, ["counts", [SIZE, COUNT, SECRET, 10**6]])) > ALPHA


def stated(said: dict[str, Any]) -> Any:
    """What tests/imports expects, as the probe shows it."""
    if said.get("refused") in WITHOUT_PLACES:
        return [[]]
    if "refused" in said:
        return said["refused"]
    return [
        [[time and datetime.fromisoformat(time).timestamp() * 1000, *at] for time, *at in each]
        for each in said["journeys"]
    ]


def test_a_worker_reads_every_export_and_refuses_what_is_none(page: "Page") -> None:
    folder = ROOT / "tests" / "imports"
    expected = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    assert len(expected) > 40
    files = [base64.b64encode((folder / name).read_bytes()).decode() for name in expected]
    found = page.evaluate(IN_WORKER, ["imported", files])
    assert dict(zip(expected, found, strict=True)) == {
        name: stated(said) for name, said in expected.items()
    }
