"""What a device costs: the time to import and to report, and the size of its install.

python benchmarks/device.py [--install]     --install makes an empty environment and measures it

The install is that of the base package, without extras, from the index that pip is set up for.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from devices import atlas_bundle, collecting  # noqa: E402
from install import built_wheel, installed_mib  # noqa: E402

RUNS = 9
REPORTS = 200
ONE_REPORT = """
import sys
import nomadp.client
with nomadp.client.Client(sys.argv[1]) as client:
    client.join(sys.argv[2], sys.argv[3])
    assert client.report([(40.0, -74.0), (40.02, -73.97)]).accepted
"""


def best_s(*arguments: str) -> float:
    """Of several runs the quickest: what else the machine does is not what is measured."""
    found = []
    for _ in range(RUNS):
        began = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True)
        found.append(time.perf_counter() - began)
    return min(found)


def report_s() -> tuple[float, float]:
    """Of a whole process that reports once, and of one more report in the same process."""
    from nomadp.client import Client

    first = atlas_bundle("first", epsilon="1/10", reports_per_contributor=366)
    with collecting(first) as collector, tempfile.TemporaryDirectory() as folder:
        home = f"{folder}/home"
        arguments = ["-c", ONE_REPORT, home, collector.url, first.task.id]
        whole = best_s(*arguments)
        with Client(home) as client:
            client.join(collector.url, first.task.id)
            count = min(REPORTS, 190 - RUNS)
            began = time.perf_counter()
            for _ in range(count):
                client.report([0, 5, 7])
            return whole, (time.perf_counter() - began) / count


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--install", action="store_true")
    asked = parser.parse_args()
    bare, client = best_s("-c", "pass"), best_s("-c", "import nomadp.client")
    whole, more = report_s()
    print(f"python alone                 {bare:8.3f} s")
    print(f"import nomadp.client         {client - bare:8.3f} s more")
    print(f"a process that reports once  {whole:8.3f} s")
    print(f"one more durable report      {more * 1e3:8.1f} ms")
    if asked.install:
        with tempfile.TemporaryDirectory() as folder:
            sizes = installed_mib(built_wheel(Path(folder)))
        for name, mib in sorted(sizes.items(), key=lambda item: -item[1]):
            print(f"installed {name:18} {mib:8.1f} MiB")
        print(f"installed in all             {sum(sizes.values()):8.1f} MiB")


if __name__ == "__main__":
    main()
