"""The cost of the client on a device: import time, report time and install size.

python benchmarks/device.py [--install]     --install also measures a new environment

Installs the base package without extras, from the index that pip is configured for.
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
    """The shortest time of several runs, which is the least affected by other load."""
    seconds = []
    for _ in range(RUNS):
        began = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True)
        seconds.append(time.perf_counter() - began)
    return min(seconds)


def report_s() -> tuple[float, float]:
    """The time of a process that reports once, and of another report in a running process."""
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
    options = parser.parse_args()
    bare, client = best_s("-c", "pass"), best_s("-c", "import nomadp.client")
    whole, another = report_s()
    print(f"python alone                 {bare:8.3f} s")
    print(f"import nomadp.client         {client - bare:8.3f} s more")
    print(f"a process that reports once  {whole:8.3f} s")
    print(f"one more durable report      {another * 1e3:8.1f} ms")
    if options.install:
        with tempfile.TemporaryDirectory() as folder:
            sizes = installed_mib(built_wheel(Path(folder)))
        for name, mib in sorted(sizes.items(), key=lambda item: -item[1]):
            print(f"installed {name:18} {mib:8.1f} MiB")
        print(f"installed in all             {sum(sizes.values()):8.1f} MiB")


if __name__ == "__main__":
    main()
