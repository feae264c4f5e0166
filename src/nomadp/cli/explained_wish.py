"""What ``nomadp explain --wish`` finds and prints: the better mechanism, and what to run."""

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

from nomadp.analysis.planning import REACHED, Advice, advise
from nomadp.cli.exit_codes import BadUsage
from nomadp.cli.options import chosen_options
from nomadp.cli.output import Answer, print_table, progress_bar, say
from nomadp.datasets.city import synthetic_city
from nomadp.formats.location_files import read_locations
from nomadp.mechanisms.atlas import Atlas

__all__ = ["explained_wish"]

ANSWERS = {
    "direct": "asked directly, smoothed",
    "raw": "asked directly, raw (by its exact variance)",
    "atlas": "ATLAS, estimated",
    "no privacy": "no privacy (sampling alone)",
    "flat": "flat (no information)",
}
ABOUT = {"hotspots": "visits", "density": "visits", "flows": "trips"}


def explained_wish(options: dict[str, Any]) -> Answer:
    """Which mechanism to use for a wish, by how much, and with which commands."""
    wish, epsilon, people = (options[name] for name in ("wish", "epsilon", "people"))
    if epsilon is None:
        raise BadUsage("a wish needs --epsilon E", code="option_missing")
    if wish == "journeys":
        decode = f"nomadp decode reports.parquet {_places(options)} --out where.csv"
        run = [_perturb(options), decode]
        content = {"wish": wish, "better": "atlas", "run": run}
        return Answer(content, lambda: _print_journeys(run))
    if people is None:
        raise BadUsage(
            "a wish for shares needs --people N: errors fall with them", code="option_missing"
        )
    source = options["locations"]
    places = (
        read_locations(source) if source else synthetic_city(places=1000, trips=1).locations
    )
    zones: Any = chosen_options({"zones": options["zones"]}, places).get("zones")
    atlas = Atlas(locations=places, epsilon=epsilon)
    with progress_bar("simulating") as bar:
        found = advise(wish, atlas, people, zones, bar.advance)
    run = _commands(found, options)
    content = {**found.as_dict(), "map": "given" if source else "generated", "run": run}
    if isinstance(options["zones"], Path):  # a hash, which names polygons, tells nobody which
        found = replace(found, zones=f"{len(zones)} areas of {options['zones'].name}")
    return Answer(content, lambda: _print(found, run, generated=source is None))


def _perturb(options: dict[str, Any], more: str = "") -> str:
    return (
        f"nomadp perturb trips.csv {_places(options)}{more} --epsilon {options['epsilon']} "
        "--out reports.parquet"
    )


def _places(options: dict[str, Any]) -> str:
    return f"--locations {shlex.quote(str(options['locations'] or 'places.csv'))}"


def _commands(found: Advice, options: dict[str, Any]) -> list[str]:
    named = options["zones"] or found.zones
    if found.coarser is not None:
        found = found.coarser
        named = found.zones
    zones = f" --zones {shlex.quote(str(named))}"
    direct = found.better != "atlas"
    asked = f" --mechanism {found.better}{zones}" if direct else ""
    ask = f"nomadp query {found.wish} reports.parquet {_places(options)}{zones}"
    return [_perturb(options, asked), f"{ask} --out {found.wish}.csv"]


def _print_journeys(run: list[str]) -> None:
    say(
        "Journeys: atlas. It reports whole journeys, which no direct question tells; how far "
        "off they are does not depend on how many people take part."
    )
    _print_run(run)
    say("In km: nomadp explain --epsilon E --locations places.csv")


def _print(found: Advice, run: list[str], *, generated: bool) -> None:
    say(f"{found.wish.capitalize()}: {_sentence(found)}.\n")
    columns = [found] if found.coarser is None else [found, found.coarser]
    print_table(
        [
            f"of {found.people:,} people's {ABOUT[found.wish]}, % in a wrong zone",
            *(each.zones for each in columns),
        ],
        [
            [label, *(f"{100 * each.errors[name]:.2f}" for each in columns)]
            for name, label in ANSWERS.items()
        ],
    )
    for each in columns:
        say(_said_of_shares(each))
    where = "a generated city, for want of --locations" if generated else "this map"
    say(
        "Simulated on public walks "
        f"between places of a made-up popularity on {where}; no trajectory was read. Walks are "
        "not people: ATLAS is told more about walks than about people, whom they do not "
        "resemble in all; a direct question errs the same whoever answers.\n"
    )
    _print_run(run)


def _said_of_shares(found: Advice) -> str:
    """How far off a single share is, which a sum over all areas does not say."""
    return (
        f"{found.zones}: {found.labels:,} labels of {found.question}, a share of "
        f"{100 / found.labels:.3g} % each on average; asked directly, raw, each has a standard "
        f"deviation of {100 * found.deviation:.2g} % of all."
    )


def _sentence(found: Advice) -> str:
    other = "atlas" if found.better != "atlas" else f"asking {found.question} directly"
    said = f"{_better(found)}; {other} errs {found.times:.2g} times as much"
    if found.in_reach:
        return said
    if not found.tells:
        said += ", but neither tells more than no report at all"
    return f"{said}. {_out_of_reach(found)}"


def _better(found: Advice) -> str:
    return "atlas" if found.better == "atlas" else f"ask directly ({found.question})"


def _out_of_reach(found: Advice) -> str:
    """What would do instead: larger areas, or more people."""
    said = (
        f"Out of reach with {found.zones}: {found.best / found.errors['flat']:.0%} of what a "
        f"flat map gets wrong stays wrong, and at most {REACHED:.0%} is worth asking for"
    )
    if found.coarser is not None:
        less = found.coarser
        said += (
            f". In reach with {less.zones}: {_better(less)}, and "
            f"{less.best / less.errors['flat']:.0%} stays wrong"
        )
    else:
        said += ". No coarser areas were found that are in reach"
    return (
        f"{said}. Asked directly with {found.zones}, {_about(found.enough)} people are enough"
    )


def _about(number: int) -> str:
    """To two digits, rounded up."""
    step = 10 ** max(0, len(str(number)) - 2)
    return f"{-(-number // step) * step:,}"


def _print_run(run: list[str]) -> None:
    say("Next:")
    for command in run:
        say(f"  {command}")
