"""Plan the experiments of `nomadp paper`, compute them, and write the result files."""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from nomadp.errors import DomainError
from nomadp.formats.atomic import write_file
from nomadp.paper.cells import Audit, Work
from nomadp.paper.datasets import Catalogue
from nomadp.paper.figures import rendered
from nomadp.paper.report import render
from nomadp.paper.result_files import as_csv, as_json
from nomadp.paper.results import Results
from nomadp.paper.specs import EXPERIMENTS, FULL, QUICK, Experiment, Plan
from nomadp.paper.store import Progress, Store, complete_all, missing

__all__ = ["ALL", "Paper", "reopen"]

ALL = "all"
REPORT = "report.html"
RUN = "run.json"


@dataclass(frozen=True)
class Paper:
    """A choice of experiments, the data they use, and the folder of their results."""

    experiments: tuple[Experiment, ...]
    catalogue: Catalogue
    plan: Plan
    out: Path

    @classmethod
    def planned(
        cls,
        names: Sequence[str],
        out: Path,
        *,
        data: Path | None = None,
        runs: int | None = None,
        quick: bool = False,
    ) -> "Paper":
        plan = QUICK if quick else FULL
        if runs is not None:
            plan = replace(plan, runs=runs)
        return cls(_named(names), Catalogue(data, plan.trajectories), plan, out)

    @property
    def store(self) -> Store:
        return Store(self.out)

    @cached_property
    def works(self) -> list[Work]:
        """All work without duplicates; audits, the longest, come first to balance the load."""
        unique = dict.fromkeys(
            work
            for experiment in self.experiments
            for work in experiment.works(self.catalogue, self.plan)
        )
        return sorted(unique, key=lambda work: not isinstance(work, Audit))

    def missing(self) -> list[Work]:
        """The work whose results no earlier run has left in the folder."""
        return missing(self.works, self.catalogue, self.store)

    def compute(self, works: Sequence[Work], *, jobs: int, progress: Progress) -> None:
        """Compute this work. Finished results survive if the process is killed."""
        self.out.mkdir(parents=True, exist_ok=True)
        self.store.remove_abandoned_parts()
        self._write_run_file()
        complete_all(works, self.catalogue, self.store, jobs=jobs, progress=progress)

    def write(self) -> list[Path]:
        """Write tables, figures and the report of all experiments that are complete."""
        results = Results(self.catalogue, self.plan, self.store)
        complete = [
            experiment for experiment in self.experiments if results.is_complete(experiment)
        ]
        drawings, written = {}, []
        for experiment in complete:
            png, svg = rendered(experiment, results)
            drawings[experiment.name] = svg
            contents = {
                "csv": as_csv(experiment, results).encode(),
                "json": as_json(experiment, results).encode(),
                "png": png,
                "svg": svg.encode(),
            }
            for suffix, content in contents.items():
                written.append(write_file(self.out / f"{experiment.name}.{suffix}", content))
        page = render(complete, results, drawings).encode()
        return [write_file(self.out / REPORT, page), *written]

    def _write_run_file(self) -> None:
        """Write the arguments of this run for `reopen`; no other file contains a local path."""
        folder = self.catalogue.folder
        content: dict[str, Any] = {
            "names": [experiment.name for experiment in self.experiments],
            "data": None if folder is None else os.path.realpath(folder),
            "plan": asdict(self.plan),
        }
        write_file(self.out / RUN, f"{json.dumps(content, indent=1)}\n".encode())


def reopen(out: Path) -> Paper:
    """The last run in a folder, complete or not."""
    try:
        content = json.loads((out / RUN).read_text(encoding="utf-8"))
        plan = Plan(**{name: _tuple(value) for name, value in content["plan"].items()})
        data = content["data"] and Path(content["data"])
        names = content["names"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise DomainError(
            f"{out} must contain the results of an earlier run, but has no readable {RUN}; "
            'run "nomadp paper all" first',
            code="no_earlier_run",
        ) from error
    return Paper(_named(names), Catalogue(data, plan.trajectories), plan, out)


def _named(names: Sequence[str]) -> tuple[Experiment, ...]:
    if unknown := [name for name in names if name not in (ALL, *EXPERIMENTS)]:
        raise DomainError(
            f"unknown experiment {unknown[0]!r}; choose {ALL} or some of "
            f"{', '.join(EXPERIMENTS)}",
            code="unknown_experiment",
            experiment=unknown[0],
        )
    chosen = EXPERIMENTS if ALL in names else names
    return tuple(EXPERIMENTS[name] for name in EXPERIMENTS if name in chosen)


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
