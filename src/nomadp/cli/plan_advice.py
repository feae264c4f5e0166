"""The advice of ``nomadp plan --query``: the better mechanism, and the commands to run."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

from nomadp.analysis.planning import FEASIBLE, Advice, advise
from nomadp.cli.exit_codes import BadUsage
from nomadp.cli.options import chosen_options
from nomadp.cli.output import Answer, print_table, progress_bar, say
from nomadp.datasets.city import synthetic_city
from nomadp.formats.location_files import read_locations
from nomadp.mechanisms.atlas import Atlas

__all__ = ["advice"]

ANSWERS = {
    "oracle": "frequency oracle, smoothed",
    "raw": "frequency oracle, raw (from its exact variance)",
    "atlas": "ATLAS, fitted model",
    "sampling": "no privacy (sampling error only)",
    "baseline": "uniform baseline (no information)",
}
UNITS = {"hotspots": "visits", "density": "visits", "flows": "trips"}
LABELS = {"trips": "origin-destination pairs", "visits": "areas"}


def advice(options: dict[str, Any]) -> Answer:
    """Which mechanism has the smaller error for a query, and the commands that use it."""
    query, epsilon, people = (options[name] for name in ("query", "epsilon", "people"))
    if epsilon is None:
        raise BadUsage("--query needs --epsilon E", code="option_missing")
    if query == "trajectories":
        decode = f"nomadp decode reports.parquet {_locations(options)} --out where.csv"
        run = [_perturb(options), decode]
        content = {"query": query, "better": "atlas", "run": run}
        return Answer(content, lambda: _print_trajectories(run))
    if people is None:
        raise BadUsage(
            f"--query {query} needs --people N: the error depends on it", code="option_missing"
        )
    source = options["locations"]
    places = (
        read_locations(source) if source else synthetic_city(places=1000, trips=1).locations
    )
    zones: Any = chosen_options({"zones": options["zones"]}, places).get("zones")
    atlas = Atlas(locations=places, epsilon=epsilon)
    with progress_bar("simulating") as bar:
        found = advise(query, atlas, people, zones, bar.advance)
    run = _commands(found, query, options)
    content = {**found.as_dict(), "map": "given" if source else "generated", "run": run}
    if isinstance(options["zones"], Path):  # people know polygons by file, not by hash
        found = replace(found, zones=f"{len(zones)} areas of {options['zones'].name}")
    return Answer(content, lambda: _print(found, query, run, generated=source is None))


def _perturb(options: dict[str, Any], mechanism: str = "") -> str:
    return (
        f"nomadp perturb trips.csv {_locations(options)}{mechanism} "
        f"--epsilon {options['epsilon']} --out reports.parquet"
    )


def _locations(options: dict[str, Any]) -> str:
    return f"--locations {shlex.quote(str(options['locations'] or 'places.csv'))}"


def _commands(found: Advice, query: str, options: dict[str, Any]) -> list[str]:
    areas = options["zones"] or found.zones
    if found.coarser is not None:
        found = found.coarser
        areas = found.zones
    zones = f" --zones {shlex.quote(str(areas))}"
    mechanism = "" if found.better == "atlas" else f" --mechanism {found.better}{zones}"
    estimate = f"nomadp query {query} reports.parquet {_locations(options)}{zones}"
    return [_perturb(options, mechanism), f"{estimate} --out {query}.csv"]


def _print_trajectories(run: list[str]) -> None:
    say(
        "Trajectories: use atlas, which reports whole trajectories; frequency oracles report "
        "none. The error of each does not depend on how many people take part."
    )
    _print_run(run)
    say("For the error in km: nomadp explain --epsilon E --locations places.csv")


def _print(found: Advice, query: str, run: list[str], *, generated: bool) -> None:
    say(f"{query.capitalize()}: {_sentence(found)}.\n")
    columns = [found] if found.coarser is None else [found, found.coarser]
    print_table(
        [
            f"% of {found.people:,} people's {UNITS[query]} in a wrong area",
            *(column.zones for column in columns),
        ],
        [
            [label, *(f"{100 * column.errors[name]:.2f}" for column in columns)]
            for name, label in ANSWERS.items()
        ],
    )
    for column in columns:
        say(_share_sentence(column))
    where = "a generated city (no --locations)" if generated else "this map"
    say(
        f"Simulated on {where} with public random-walk trajectories between places of made-up "
        "popularity; no real trajectory was read. People do not move like random walks, which "
        "the model of ATLAS fits well, so its real error may be larger. The noise of a "
        "frequency oracle does not depend on who takes part.\n"
    )
    _print_run(run)


def _share_sentence(found: Advice) -> str:
    """The error of a single share, which a sum over all areas does not show."""
    return (
        f"{found.zones}: {found.labels:,} {LABELS.get(found.oracle, 'values')} with a share "
        f"of {100 / found.labels:.3g} % on average; the raw standard error of the frequency "
        f"oracle is {100 * found.std_error:.2g} percentage points each."
    )


def _sentence(found: Advice) -> str:
    other = found.oracle if found.better == "atlas" else "atlas"
    times = f"{found.error_ratio:.2g}"
    size = "about the same" if times == "1" else f"{times} times as large"
    text = f"{_better(found)}; the error of {other} is {size}"
    if found.feasible:
        return text
    if not found.informative:
        text += ", but neither is better than the baseline"
    return f"{text}. {_not_feasible(found)}"


def _better(found: Advice) -> str:
    oracle = "" if found.better == "atlas" else " (a frequency oracle)"
    return f"use {found.better}{oracle}"


def _not_feasible(found: Advice) -> str:
    """What would be feasible instead: larger areas, or more people."""
    text = (
        f"Not feasible with {found.zones}: {_remaining(found)} of the baseline's error remains "
        f"(feasible: at most {_percent(FEASIBLE)})"
    )
    if found.coarser is not None:
        coarser = found.coarser
        text += (
            f". Feasible with {coarser.zones}: {_better(coarser)}, and {_remaining(coarser)} "
            "remains"
        )
    else:
        text += ". No coarser areas are feasible"
    return (
        f"{text}. With {found.zones}, the frequency oracle needs about "
        f"{_rounded_up(found.people_needed)} people"
    )


def _remaining(found: Advice) -> str:
    return _percent(found.best / found.errors["baseline"])


def _percent(ratio: float) -> str:
    return f"{100 * ratio:.0f} %"


def _rounded_up(number: int) -> str:
    """To two significant digits."""
    step = 10 ** max(0, len(str(number)) - 2)
    return f"{-(-number // step) * step:,}"


def _print_run(run: list[str]) -> None:
    say("Next:")
    for command in run:
        say(f"  {command}")
