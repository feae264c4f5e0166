"""What ``nomadp explain`` computes and prints."""

from typing import Any

from nomadp.analysis.guarantee import explain
from nomadp.analysis.utility import WALKS, default_radii_km, simulate_utility
from nomadp.cli.exit_codes import BadUsage
from nomadp.cli.options import chosen_options
from nomadp.cli.output import Result, progress_bar, say
from nomadp.cli.utility_table import print_utility
from nomadp.formats.location_files import read_locations
from nomadp.locations import LocationSet
from nomadp.mechanisms import Mechanism, make_mechanism

__all__ = ["explain_epsilon"]


def explain_epsilon(options: dict[str, Any]) -> Result:
    """The guarantee and the budget split, and with a location set the utility."""
    if options["locations"] is not None:
        return _explain_with_utility(options)
    if options["within_km"] or options["pinned"] is not None:
        raise BadUsage(
            "distances and codebooks need a location set; add --locations FILE",
            code="option_missing",
        )
    if options["length"] is None:
        raise BadUsage(
            "the number of points must be given; add --length N or --locations FILE",
            code="option_missing",
        )
    mechanism = _mechanism_without_map(
        options["mechanism"], options["epsilon"], chosen_options(options)
    )
    explanation = explain(mechanism, options["length"])
    return Result(explanation.as_dict(), str(explanation))


def _explain_with_utility(options: dict[str, Any]) -> Result:
    world = read_locations(options["locations"])
    chosen = chosen_options(options, world)
    mechanism = make_mechanism(options["mechanism"], world, options["epsilon"], **chosen)
    length = options["length"]
    radii_km = options["within_km"] or default_radii_km(world)
    with progress_bar("simulating", WALKS) as bar:
        utility = simulate_utility(mechanism, length, radii_km, progress=bar.advance)
    explanation = explain(mechanism, length)

    def show() -> None:
        say(str(explanation))
        say()
        print_utility(utility, mechanism.epsilon)

    return Result({**explanation.as_dict(), "utility": utility.as_dict()}, show)


def _mechanism_without_map(name: str, epsilon: str, options: dict[str, Any]) -> Mechanism:
    """A mechanism over a few locations: a split depends on epsilon, length and options only."""
    size = max(2, options.get("near_count", 0))  # fewer locations than near_count are refused
    ids = [str(k) for k in range(size)]
    longitudes = [180 * k / size for k in range(size)]
    return make_mechanism(
        name, LocationSet.from_columns(ids, [0.0] * size, longitudes), epsilon, **options
    )
