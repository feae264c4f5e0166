"""The advice of ``nomadp plan --query``: the better mechanism, and the commands to run."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

from nomadp.analysis.planning import FEASIBLE, Advice, advise
from nomadp.cli.exit_codes import BadUsage
from nomadp.cli.options import chosen_options
from nomadp.cli.output import Result, print_table, progress_bar, say
from nomadp.datasets.city import synthetic_city
from nomadp.formats.location_files import read_locations
from nomadp.mechanisms.atlas import Atlas

__all__ = ["recommend"]

ESTIMATORS = {
    "oracle": "frequency oracle, smoothed",
    "raw": "frequency oracle, raw (from its exact variance)",
    "atlas": "ATLAS, fitted model",
    "sampling": "no privacy (sampling error only)",
    "baseline": "uniform baseline (no information)",
}
UNITS = {"hotspots": "visits", "density": "visits", "flows": "trips"}
LABELS = {"trips": "origin-destination pairs", "visits": "areas"}


def recommend(options: dict[str, Any]) -> Result:
    """The mechanism with the smaller error for a query, and the commands that use it."""
    query, epsilon, people = (options[name] for name in ("query", "epsilon", "people"))
    if epsilon is None:
        raise BadUsage("--query needs --epsilon E", code="option_missing")
    if query == "trajectories":
        decode = f"nomadp decode reports.parquet {_locations(options)} --out where.csv"
        commands = [_perturb(options), decode]
        content = {"query": query, "better": "atlas", "run": commands}
        return Result(content, lambda: _print_trajectories(commands))
    if people is None:
        raise BadUsage(
            f"--query {query} needs --people N, because the error depends on it",
            code="option_missing",
        )
    source = options["locations"]
    places = (
        read_locations(source) if source else synthetic_city(places=1000, trips=1).locations
    )
    zones: Any = chosen_options({"zones": options["zones"]}, places).get("zones")
    atlas = Atlas(locations=places, epsilon=epsilon)
    with progress_bar("simulating") as bar:
        advice = advise(query, atlas, people, zones, bar.advance)
    commands = _commands(advice, query, options)
    content = {**advice.as_dict(), "map": "given" if source else "generated", "run": commands}
    if isinstance(options["zones"], Path):  # people know polygons by file, not by hash
        advice = replace(advice, zones=f"{len(zones)} areas of {options['zones'].name}")
    return Result(content, lambda: _print(advice, query, commands, generated=source is None))


def _perturb(options: dict[str, Any], mechanism: str = "") -> str:
    return (
        f"nomadp perturb trips.csv {_locations(options)}{mechanism} "
        f"--epsilon {options['epsilon']} --out reports.parquet"
    )


def _locations(options: dict[str, Any]) -> str:
    return f"--locations {shlex.quote(str(options['locations'] or 'places.csv'))}"


def _commands(advice: Advice, query: str, options: dict[str, Any]) -> list[str]:
    areas = options["zones"] or advice.zones
    if advice.coarser is not None:
        advice = advice.coarser
        areas = advice.zones
    zones = f" --zones {shlex.quote(str(areas))}"
    mechanism = "" if advice.better == "atlas" else f" --mechanism {advice.better}{zones}"
    estimate = f"nomadp query {query} reports.parquet {_locations(options)}{zones}"
    return [_perturb(options, mechanism), f"{estimate} --out {query}.csv"]


def _print_trajectories(commands: list[str]) -> None:
    say(
        "Trajectories: use atlas. It reports whole trajectories; frequency oracles do not. The "
        "error of a trajectory does not depend on how many people take part."
    )
    _print_commands(commands)
    say("For the error in km: nomadp explain --epsilon E --locations places.csv")


def _print(advice: Advice, query: str, commands: list[str], *, generated: bool) -> None:
    say(f"{query.capitalize()}: {_sentence(advice)}.\n")
    columns = [advice] if advice.coarser is None else [advice, advice.coarser]
    print_table(
        [
            f"% of {UNITS[query]} in the wrong area, {advice.people:,} people",
            *(column.zones for column in columns),
        ],
        [
            [label, *(f"{100 * column.errors[name]:.2f}" for column in columns)]
            for name, label in ESTIMATORS.items()
        ],
    )
    for column in columns:
        say(_share_sentence(column))
    place = "a simulated city (no --locations)" if generated else "this map"
    say(
        f"Simulated on {place} with public random-walk trajectories between places of "
        "simulated popularity; no real trajectory was read. The model of ATLAS fits random "
        "walks well, but people do not move like random walks, so its real error may be "
        "larger. The noise of a frequency oracle does not depend on who takes part.\n"
    )
    _print_commands(commands)


def _share_sentence(advice: Advice) -> str:
    """The error of a single share, which the error over all areas does not show."""
    return (
        f"{advice.zones}: {advice.labels:,} {LABELS.get(advice.oracle, 'values')} with a share "
        f"of {100 / advice.labels:.3g} % on average; the raw standard error of the frequency "
        f"oracle is {100 * advice.std_error:.2g} percentage points for each."
    )


def _sentence(advice: Advice) -> str:
    other = advice.oracle if advice.better == "atlas" else "atlas"
    times = f"{advice.error_ratio:.2g}"
    size = "about the same" if times == "1" else f"{times} times as large"
    text = f"{_choice(advice)}; the error of {other} is {size}"
    if advice.feasible:
        return text
    if not advice.informative:
        text += ", but neither is better than the baseline"
    return f"{text}. {_not_feasible(advice)}"


def _choice(advice: Advice) -> str:
    oracle = "" if advice.better == "atlas" else " (a frequency oracle)"
    return f"use {advice.better}{oracle}"


def _not_feasible(advice: Advice) -> str:
    """Why a query is not feasible, and the larger areas or the number of people that are."""
    text = (
        f"Not feasible with {advice.zones}: {_remaining(advice)} of the baseline's error "
        f"remains (feasible: at most {_percent(FEASIBLE)})"
    )
    if advice.coarser is not None:
        coarser = advice.coarser
        text += (
            f". Feasible with {coarser.zones}: {_choice(coarser)}, and {_remaining(coarser)} "
            "remains"
        )
    else:
        text += ". No coarser areas are feasible"
    return (
        f"{text}. With {advice.zones}, the frequency oracle needs about "
        f"{_rounded_up(advice.people_needed)} people"
    )


def _remaining(advice: Advice) -> str:
    return _percent(advice.best / advice.errors["baseline"])


def _percent(ratio: float) -> str:
    return f"{100 * ratio:.0f} %"


def _rounded_up(number: int) -> str:
    """To two significant digits."""
    step = 10 ** max(0, len(str(number)) - 2)
    return f"{-(-number // step) * step:,}"


def _print_commands(commands: list[str]) -> None:
    say("Next:")
    for command in commands:
        say(f"  {command}")
