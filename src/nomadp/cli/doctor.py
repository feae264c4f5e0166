"""``nomadp doctor``: the installation, and the source of randomness."""

import os
import platform
from pathlib import Path
from typing import Any

import click

import nomadp
from nomadp.cli.options import default_jobs
from nomadp.cli.output import Result, json_option, print_table
from nomadp.extras import EXTRAS, version_of

__all__ = ["doctor"]

REQUIRED = ("numpy", "cryptography", "click")
PAPER_SETS = ("nyc", "chi", "cle", "cps")


@click.command()
@json_option
def doctor() -> Result:
    """Check the installation: versions, cores, extras and the source of randomness.

    Exits with 1 if a required package is missing or the randomness does not work.

    \b
    Example:
      nomadp doctor --json
    """
    findings = _findings()
    healthy = all(findings[name] for name in REQUIRED) and findings["randomness"] == "works"
    extras = {
        extra.name: {"package": extra.package, "gives": extra.gives, "remedy": extra.remedy}
        for extra in EXTRAS.values()
    }
    remedies = {extra.package: f"{extra.remedy}  ({extra.gives})" for extra in EXTRAS.values()}
    rows = [
        [name, str(status or f"missing: {remedies.get(name, 'pip install nomadp')}")]
        for name, status in findings.items()
    ]
    rows.append(["verdict", "ready" if healthy else "not ready"])
    content = {**findings, "extras": extras, "ok": healthy}
    return Result(content, lambda: print_table(["component", "status"], rows), healthy)


def _findings() -> dict[str, Any]:
    return {
        "nomadp": nomadp.__version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        **{name: version_of(name) for name in REQUIRED},
        **{extra.package: version_of(extra.package) for extra in EXTRAS.values()},
        "cores": default_jobs(),
        "randomness": _randomness(),
        "paper data": _paper_data(),
        "mechanisms": _mechanisms(),
    }


def _mechanisms() -> str:
    """Registered mechanisms, including those of other packages, and problems with plugins."""
    from nomadp.mechanisms import mechanism_names, plugin_problems

    return "; ".join([", ".join(mechanism_names()), *plugin_problems()])


def _randomness() -> str:
    try:
        from nomadp.randomness import SystemRandom

        stream = SystemRandom().stream(0)
        return "works" if stream.next() != stream.next() else "repeats itself"
    except Exception as error:  # a diagnosis must report every failure
        return f"fails ({type(error).__name__})"


def _paper_data() -> str:
    folder = os.environ.get("NOMADP_DATA")
    if not folder:
        return "not checked (NOMADP_DATA is not set; only the paper's experiments need it)"
    present = [name for name in PAPER_SETS if (Path(folder) / name / "locations.csv").is_file()]
    return f"{len(present)} of {len(PAPER_SETS)} data sets in NOMADP_DATA"
