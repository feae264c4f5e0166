"""A browser that is killed while it reports: nothing is overspent, no charge has two bodies."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from browsers import FLAGS, JOURNEY, PATIENCE_MS, serve_client, until
from collecting import Address, Process, bundle_of, prepared

from nomadp.collector.connections import open_store
from nomadp.protocol import TaskBundle

if TYPE_CHECKING:
    from playwright.sync_api import BrowserType, Page

pytestmark = pytest.mark.browser

KILLS = 6
SALT = "AQEBAQEBAQEBAQEBAQEBAQ"
EPSILON, REPORTS = Fraction(1, 4), 366
BEGIN = """async ([url]) => {
  const { Client } = await import("/client/index.js");
  window.client = await Client.open({ acceptEviction: true, lifetime: 100 });
  await window.client.join(url);
}"""
REPORT_ON = """(points) => {
  const on = async () => {
    for (;;) {
      await window.client.report(points, { queue: true });
      await window.acknowledged();
    }
  };
  void on();
}"""
KEPT = """async () => {
  const receipts = await window.client.receipts();
  const states = receipts.map(({ state }) => state);
  const spent = String((await window.client.budget()).used);
  return { spent, states, ids: receipts.map(({ reportId }) => reportId) };
}"""
SEND = "async () => (await window.client.send({ now: true })).map(({ state }) => state)"


@cache
def task_bundle() -> TaskBundle:
    return bundle_of("trips", SALT, epsilon=EPSILON, reports_per_contributor=REPORTS)


@contextmanager
def browser_in(kind: "BrowserType", profile: Path) -> Iterator[tuple["Page", int]]:
    """A page of a browser whose profile stays, and the number of its process."""
    program = shutil.which("chromium") or shutil.which("google-chrome")
    assert program is not None
    port = profile / "DevToolsActivePort"
    port.unlink(missing_ok=True)
    arguments = [f"--user-data-dir={profile}", "--remote-debugging-port=0", "--headless=new"]
    process = subprocess.Popen(
        [program, *FLAGS, *arguments, "about:blank"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline_s = time.monotonic() + 120
        while not port.exists() or "\n" not in port.read_text():  # a line of it may be there
            assert time.monotonic() < deadline_s
            time.sleep(0.02)
        number = port.read_text().splitlines()[0]
        browser = kind.connect_over_cdp(f"http://127.0.0.1:{number}", timeout=PATIENCE_MS)
        context = browser.contexts[0]
        context.set_default_timeout(PATIENCE_MS)
        context.route("**/client/**", serve_client)
        yield context.new_page(), process.pid
    finally:
        process.kill()
        process.wait()


@pytest.fixture
def collector(web: Callable[..., None], tmp_path: Path) -> Iterator[Address]:
    web("build")
    store = str(tmp_path / "collector.sqlite")
    prepared(open_store(store), task_bundle())
    with Process(store, tmp_path) as process:
        yield process.address


@pytest.mark.slow
def test_a_killed_browser_wastes_charges_at_most(
    chromium: Any, collector: Address, tmp_path: Path
) -> None:
    bundle = task_bundle()
    origin = f"http://127.0.0.1:{collector.port}"
    begin = [f"{origin}/tasks/{bundle.task.id}"]
    acknowledged = 0
    for kill in range(KILLS):
        with browser_in(chromium.browser_type, tmp_path / "profile") as (page, process):
            page.goto(f"{origin}/client/index.html")
            page.evaluate(BEGIN, begin)
            kept = page.evaluate(KEPT)
            before = len(kept["states"])
            assert acknowledged <= before <= REPORTS
            assert Fraction(kept["spent"]) == EPSILON * before
            assert kept["states"].count("charged") <= kill  # one for each kill at most
            assert len(set(kept["ids"])) == len(kept["ids"])
            made: list[int] = []
            page.expose_function("acknowledged", lambda made=made: made.append(1))
            page.evaluate(REPORT_ON, JOURNEY)
            until(page, lambda made=made, kill=kill: len(made) >= 3 + kill)
            page.wait_for_timeout(5 + 7 * kill)  # at another moment each time
            os.kill(process, 9)
            acknowledged = before + len(made)
    assert acknowledged > 3 * KILLS
    with browser_in(chromium.browser_type, tmp_path / "profile") as (page, _):
        page.goto(f"{origin}/client/index.html")
        page.evaluate(BEGIN, begin)
        kept = page.evaluate(KEPT)
        assert len(kept["states"]) >= acknowledged
        sent = page.evaluate(SEND)
        assert set(sent) == {"accepted"}
        assert len(sent) == kept["states"].count("waiting")
    assert collector.counters(bundle, "accepted", len(sent)) == len(sent)
