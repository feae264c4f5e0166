"""What the client's README tells an app developer: packed, installed, and a ledger in Node."""

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from collecting import bundle_of, collector
from snippets import block_of

from nomadp.collector.connections import open_store

PAGE = "web/client/README.md"
pytestmark = pytest.mark.slow

APP = """
import { Client } from "nomadp-client";
import { FileStore } from "./file_store.mjs";

const client = await Client.open({ store: new FileStore("ledger") });
await client.join(process.argv[2]);
const journey = [{ lat: 1, lng: 1 }, { lat: 1.1, lng: 1.1 }];
const said = [];
for (let k = 0; k < 4; k += 1) {
  try {
    said.push((await client.report(journey, { now: true })).state);
  } catch (error) {
    said.push(error.name);
  }
}
console.log(JSON.stringify({ said, left: String((await client.budget()).remaining) }));
"""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory, web: Callable[..., None]) -> Path:
    """A project that installed the packed client, and nothing from anywhere else."""
    web("build")
    if shutil.which("npm") is None:
        pytest.skip("npm is not on the path")
    folder = tmp_path_factory.mktemp("app")
    root = Path(__file__).resolve().parents[2]
    _, pack, install = block_of(PAGE, "python3 dev.py web").splitlines()
    pack = pack.replace("./web/client", str(root / "web" / "client"))
    (folder / "package.json").write_text('{"name": "app", "private": true}')
    for line in (pack, f"{install} --offline --no-audit --no-fund"):
        subprocess.run(["sh", "-c", line], cwd=folder, check=True, capture_output=True)
    (folder / "file_store.mjs").write_text(block_of(PAGE, "import { link"), encoding="utf-8")
    (folder / "app.mjs").write_text(APP, encoding="utf-8")
    return folder


def test_two_processes_with_one_ledger_cannot_overspend(app: Path) -> None:
    bundle = bundle_of(reports_per_contributor=5)
    with collector(open_store(str(app / "collector.sqlite")), bundle) as address:
        url = f"http://127.0.0.1:{address.port}/tasks/{bundle.task.id}"
        command = ["node", "app.mjs", url]
        both = [subprocess.Popen(command, cwd=app, stdout=subprocess.PIPE) for _ in range(2)]
        found = [json.loads(each.communicate(timeout=120)[0]) for each in both]
        assert address.counters(bundle, "accepted") == 5
        again = subprocess.run(command, cwd=app, capture_output=True, check=True, timeout=120)
    said = [each for one in found for each in one["said"]]
    assert said.count("accepted") == 5
    assert said.count("LedgerRefused") == 3
    assert json.loads(again.stdout) == {"said": ["LedgerRefused"] * 4, "left": "0"}
