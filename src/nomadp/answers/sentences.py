"""What an answer says of itself, in plain words."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nomadp.answers.geometry import area_column, value_column
from nomadp.answers.numbers import PERCENT, has_intervals, percent
from nomadp.theme import theme

if TYPE_CHECKING:
    from nomadp.answers.scene import Scene
    from nomadp.answers.table import Table

__all__ = [
    "TITLES",
    "facts",
    "filter_words",
    "from_flat",
    "headline",
    "is_withheld",
    "row_name",
]

NO_SIGNIFICANCE = "so no row is called significant either"
TITLES = {
    "hotspots": "Where people are",
    "density": "How people are spread",
    "flows": "From where to where",
    "trajectories": "Which ways people probably took",
    "lengths": "How long journeys are",
    "synthetic": "Journeys as they might have been",
}


def row_name(table: "Table", row: int) -> str:
    """What a row is, and its estimate."""
    column = table.columns
    value = value_column(column)
    if "origin" in column:
        named = f"{column['origin'][row]} to {column['destination'][row]}"
    else:
        named = str(column[area_column(column) or next(iter(column))][row])
    if value not in column:
        return named
    digits = table.decimals
    said = f"{named}: {percent(column[value][row], digits)}"
    if has_intervals(column):
        low, high = (percent(column[name][row], digits) for name in ("ci_low", "ci_high"))
        said += f", from {low} to {high}"
    return f"{said}; {from_flat(table, row)}" if "baseline" in column else said


def from_flat(table: "Table", row: int) -> str:
    """How an estimate lies to what somebody without reports would say."""
    column = table.columns
    value, flat = column[value_column(column)][row], column["baseline"][row]
    if is_withheld(table):
        return f"the baseline is {percent(flat, table.decimals)}"
    than = "more than" if value > flat else "less than"
    if not column["significant"][row]:
        than = "not told apart from"
    return f"{than} a flat map, which has {percent(flat, table.decimals)}"


def is_withheld(table: "Table") -> bool:
    """Whether intervals and significance are left empty, since they would not hold."""
    return "ci_low" in table.columns and not has_intervals(table.columns)


def headline(table: "Table") -> str:
    return TITLES[table.kind]


def filter_words(table: "Table", scene: "Scene | None") -> str:
    """Which rows are drawn, and what became of the others."""
    count: Mapping[str, Any] = {} if scene is None else scene.counts
    times = " All times together; a file has each." if "when" in table.columns else ""
    times += _cell_words(table)
    if is_withheld(table):
        drawn = (
            _greatest_flows(count) if "held" in count else f"{count.get('rows', 0):,} areas."
        )
        return f"{drawn} Intervals and significance are not known.{times}"
    if "hatched" in count:
        many = "it is" if count["hatched"] == 1 else "they are"
        hidden = f"Of {count['hatched']:,} there is too little to say: {many} hatched."
        return (
            f"{count['apart']:,} of {count['rows']:,} are told apart from a flat map, what "
            f"anybody would draw without reports. {hidden if count['hatched'] else ''}{times}"
        ).strip()
    if "held" in count:
        return f"{_drawn_flows(count)}{times}"
    if "journeys" in count:
        return _drawn_journeys(table, count)
    return times.strip()


def _cell_words(table: "Table") -> str:
    """How cells of a grid are called, by the first."""
    column = table.columns
    names = column.get("origin" if "origin" in column else "zone", ())
    rule = str(table.about.get("areas", table.about.get("zones", "")))
    cell = re.fullmatch(r"r([0-9]+)_c([0-9]+)", str(names[0])) if len(names) else None
    if cell is None or not rule.startswith("grid:"):
        return ""
    return (
        f" {names[0]} is row {cell[1]} from the south and column {cell[2]} from the west, "
        "both counted from 0."
    )


def _drawn_flows(count: Mapping[str, Any]) -> str:
    words = (
        f"Drawn are {count['drawn']:,} of {count['rows']:,} flows: those told apart from flat "
        f"that are more, or may be more than the average; at most {theme()['flows_most']}. "
        f"They hold {percent(count['held'])} of all trips; {count['stays']:,} more stay "
        f"within one area ({percent(count['stay_share'])}) and have no line."
    )
    if count["less"]:
        words += f" {count['less']:,} of the lines {'is' if count['less'] == 1 else 'are'}"
        words += " dashed: less than flat has."
    return words


def _greatest_flows(count: Mapping[str, Any]) -> str:
    return (
        f"The map shows the {count['drawn']:,} largest of {count['rows']:,} estimated flows: "
        f"{percent(count['held'])} of all trips. Another {percent(count['stay_share'])} stay "
        "within one area and have no line."
    )


def _drawn_journeys(table: "Table", count: Mapping[str, Any]) -> str:
    made_up = table.kind == "synthetic"
    kind = "synthetic journeys, which nobody made" if made_up else "journeys"
    words = f"Drawn are the first {count['drawn']:,} of {count['journeys']:,} {kind}."
    if count["thinned"]:
        most = theme()["track_points_most"]
        words += f" Of {count['thinned']:,} with more than {most} stops, {most} are drawn,"
        words += " evenly chosen; a file has all."
    if count["lines"] < count["drawn"] and not made_up:
        words += f" They share {count['lines']:,} lines: equal reports have equal answers."
    if "median_radius_km" in count and "level" in table.about:
        level = f"{100 * table.about['level']:g}{PERCENT}"
        words += f" With a probability of {level} each, half of all"
        words += f" points are known to within {count['median_radius_km']:.2g} km or better."
    return words


def facts(table: "Table") -> list[tuple[str, str]]:
    """Names and plain words, in the order in which people ask."""
    about = table.about
    found = [
        _reports(about),
        _promise(about),
        _interval(about),
        _flat(about),
        _poisoning(about),
    ]
    found += [_suppression(about), _task(about)]
    return [each for each in found if each is not None]


Fact = tuple[str, str] | None


def _reports(about: Mapping[str, Any]) -> Fact:
    if "reports" not in about:
        return None
    refused = about.get("refused") or 0
    left = sum(refused.values()) if isinstance(refused, dict) else refused
    said = f"{about['reports']:,}"
    if left:
        said += f"; {left:,} more were left out, since they cannot be read"
    if about.get("invalid_reports_at_least"):
        said += f"; at least {about['invalid_reports_at_least']:,} of them are fakes"
    return "Reports", said


def _promise(about: Mapping[str, Any]) -> Fact:
    if "epsilon" not in about:
        return None
    version = about.get("mechanism_version")
    by = f", by {about['mechanism']}" if "mechanism" in about else ""
    by += f" (version {version})" if version else ""
    return (
        "Privacy",
        f"ε\u00a0=\u00a0{about['epsilon']} for each report{by}; asking costs nothing more",
    )


def _interval(about: Mapping[str, Any]) -> Fact:
    if about.get("no_intervals"):
        return "No intervals", f"{about['no_intervals']}; {NO_SIGNIFICANCE}"
    if "level" not in about:
        return None
    return (
        "Intervals",
        f"hold the truth with a probability of {100 * about['level']:g}{PERCENT} each",
    )


def _flat(about: Mapping[str, Any]) -> Fact:
    flat = about.get("significance", about)
    if not isinstance(flat, dict) and flat is not about:
        return None
    if "significant" not in flat:
        return None
    apart, rate = flat["significant"], flat.get("false_discovery_rate")
    said = f"{apart:,} row{' differs' if apart == 1 else 's differ'} from flat beyond chance"
    if apart and rate is not None:
        said += f"; of these, {percent(rate)} at most are by chance, on average"
    return "Told apart", said


def _poisoning(about: Mapping[str, Any]) -> Fact:
    poisoning = about.get("poisoning_1pct")
    if not isinstance(poisoning, dict) or "increase" not in poisoning:
        return None
    up, down = (percent(poisoning.get(side, 0.0)) for side in ("increase", "decrease"))
    return (
        "Poisoning",
        f"if {percent(0.01)} of all reports were invalid, they could increase a share by at "
        f"most {up} and decrease one by at most {down}",
    )


def _suppression(about: Mapping[str, Any]) -> Fact:
    rule = about.get("suppression")
    if not rule:
        return None
    if not isinstance(rule, dict):
        return "Suppression", str(rule)
    least = rule.get("min_batch_size", 1)
    if least <= 1:
        return "Suppression", "none: one report is enough for an answer"
    return (
        "Suppression",
        f"of fewer than {least:,} reports nothing is said but how many are missing",
    )


def _task(about: Mapping[str, Any]) -> Fact:
    return ("Task", str(about["task"])) if about.get("task") else None
