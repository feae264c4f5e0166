"""The texts on maps, figures and pages of an estimate: titles, rows, and facts about it."""

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from nomadp.answers.geometry import area_column, value_column
from nomadp.answers.numbers import PERCENT, has_intervals, percent
from nomadp.theme import theme

if TYPE_CHECKING:
    from nomadp.answers.estimate import Estimate
    from nomadp.answers.scene import Scene

__all__ = [
    "TITLES",
    "estimate_text",
    "facts",
    "filter_text",
    "headline",
    "is_withheld",
    "row_label",
    "row_name",
    "row_noun",
]

TITLES = {
    "hotspots": "Most visited places",
    "density": "Density of visits",
    "flows": "Origin-destination flows",
    "trajectories": "Decoded trajectories",
    "lengths": "Lengths of trajectories",
    "synthetic": "Synthetic trajectories",
}
_ENDS = {"starts": "Origins of trips", "ends": "Destinations of trips"}
"""Titles of hotspots and density that count starts or ends of trips."""


def headline(table: "Estimate") -> str:
    return _ENDS.get(str(table.about.get("at")), TITLES[table.kind])


def row_name(table: "Estimate", row: int) -> str:
    """The area, the flow or the length that a row is about."""
    column = table.columns
    if "origin" in column:
        return f"{column['origin'][row]} to {column['destination'][row]}"
    return str(column[area_column(column) or next(iter(column))][row])


def row_label(table: "Estimate", row: int) -> str:
    """The name of a row and its estimate, as the label of its mark on the map."""
    column = table.columns
    name = row_name(table, row)
    if value_column(column) not in column:
        return name
    share, *details = _share_and_interval(table, row)
    if "baseline" in column:
        details.append(_versus_baseline(table, row))
    return f"{name}: {share} ({'; '.join(details)})" if details else f"{name}: {share}"


def estimate_text(table: "Estimate", row: int) -> str:
    """An estimate in a sentence: "20.5 % of trips (90 % CI 19.7-23.5 %; baseline 12.6 %)"."""
    share, *details = _share_and_interval(table, row)
    if "baseline" in table.columns:
        details.append(f"baseline {percent(table['baseline'][row], table.decimals)}")
    of = {"flows": " of trips", "lengths": ""}.get(table.kind, " of visits")
    if table.about.get("at") in _ENDS:
        of = " of trips"
    return f"{share}{of} ({'; '.join(details)})" if details else f"{share}{of}"


def _share_and_interval(table: "Estimate", row: int) -> list[str]:
    """The estimate, and its interval if there is one."""
    column, digits = table.columns, table.decimals
    texts = [percent(column[value_column(column)][row], digits)]
    if has_intervals(column):
        low, high = (percent(column[name][row], digits) for name in ("ci_low", "ci_high"))
        texts.append(f"{_level(table)} CI {low.removesuffix(PERCENT)}-{high}")
    return texts


def _level(table: "Estimate") -> str:
    return f"{100 * float(table.about.get('level', 0.9)):g}{PERCENT}"


def _versus_baseline(table: "Estimate", row: int) -> str:
    column = table.columns
    share, baseline = column[value_column(column)][row], column["baseline"][row]
    text = percent(baseline, table.decimals)
    if is_withheld(table):
        return f"baseline {text}"
    if not column["significant"][row]:
        return f"not significantly different from the baseline of {text}"
    side = "above" if share > baseline else "below"
    return f"significantly {side} the baseline of {text}"


def row_noun(table: "Estimate") -> str:
    """The noun for one row."""
    if table.kind in ("flows", "lengths"):
        return {"flows": "flow", "lengths": "length"}[table.kind]
    return "place" if "location_id" in table.columns else "area"


def is_withheld(table: "Estimate") -> bool:
    """Whether intervals and significance are empty because they would not hold."""
    return "ci_low" in table.columns and not has_intervals(table.columns)


def filter_text(table: "Estimate", scene: "Scene | None") -> str:
    """Which rows the map shows, and why it does not show others."""
    count: Mapping[str, Any] = {} if scene is None else scene.counts
    if "trajectories" in count:
        return _drawn_trajectories(table, count)
    sentences = []
    if is_withheld(table):
        drawn = (
            _largest_flows(count)
            if "drawn_share" in count
            else f"{count.get('rows', 0):,} {row_noun(table)}s."
        )
        sentences += [drawn, "Intervals and significance are not known."]
    elif "hatched" in count:
        sentences += _significant_areas(table, count)
    elif "drawn_share" in count:
        sentences += _drawn_flows(count)
    if "when" in table.columns:
        sentences.append("All times of day combined; the file lists them separately.")
    return " ".join([*sentences, *_cell_names(table)])


def _significant_areas(table: "Estimate", count: Mapping[str, Any]) -> list[str]:
    significant, rows, hatched = count["significant"], count["rows"], count["hatched"]
    verb = "differs" if significant == 1 else "differ"
    sentences = [
        f"{significant:,} of {rows:,} {row_noun(table)}s {verb} significantly from the "
        "baseline, which uses no reports."
    ]
    if hatched:
        is_one = hatched == 1
        sentences.append(
            f"{hatched:,} {'is' if is_one else 'are'} hatched: the "
            f"{'interval is' if is_one else 'intervals are'} too wide to show a value."
        )
    return sentences


def _cell_names(table: "Estimate") -> list[str]:
    """A sentence that explains the names of grid cells by the first one, if there are any."""
    column = table.columns
    names = column.get("origin" if "origin" in column else "zone", ())
    rule = str(table.about.get("areas", table.about.get("zones", "")))
    cell = re.fullmatch(r"r([0-9]+)_c([0-9]+)", str(names[0])) if len(names) else None
    if cell is None or not rule.startswith("grid:"):
        return []
    return [
        f"Cell {names[0]} is row {cell[1]} from the south and column {cell[2]} from the west, "
        "counting from 0."
    ]


def _drawn_flows(count: Mapping[str, Any]) -> list[str]:
    sentences = [
        f"The map shows {count['drawn']:,} of {count['rows']:,} flows: those that are "
        "significantly above the baseline, and those below it that may still exceed the "
        f"average flow (at most {theme()['flows_most']}). They are "
        f"{percent(count['drawn_share'])} of all trips."
    ]
    stays = count["stays"]
    if stays:
        verb = (
            "stays within one area and has" if stays == 1 else "stay within one area and have"
        )
        sentences.append(
            f"{stays:,} more ({percent(count['stay_share'])} of trips) {verb} no line."
        )
    if count["less"]:
        is_one = count["less"] == 1
        sentences.append(
            f"{count['less']:,} {'line is' if is_one else 'lines are'} dashed: "
            f"{'it is' if is_one else 'they are'} significantly below the baseline."
        )
    return sentences


def _largest_flows(count: Mapping[str, Any]) -> str:
    return (
        f"The map shows the {count['drawn']:,} largest of {count['rows']:,} estimated flows: "
        f"{percent(count['drawn_share'])} of all trips. Another "
        f"{percent(count['stay_share'])} stay within one area and have no line."
    )


def _drawn_trajectories(table: "Estimate", count: Mapping[str, Any]) -> str:
    is_synthetic = table.kind == "synthetic"
    kind = "synthetic trajectories" if is_synthetic else "trajectories"
    sentences = [
        f"The map shows the first {count['drawn']:,} of {count['trajectories']:,} {kind}."
    ]
    if count["thinned"]:
        most = theme()["track_points_most"]
        sentences.append(
            f"{count['thinned']:,} have more than {most} points, of which {most} evenly spaced "
            "ones are drawn; the file has all."
        )
    if count["lines"] < count["drawn"] and not is_synthetic:
        sentences.append(
            f"They share {count['lines']:,} lines, because equal reports have equal estimates."
        )
    if "median_radius_km" in count and "level" in table.about:
        sentences.append(
            f"Half of all points have a {_level(table)} credible radius of at most "
            f"{count['median_radius_km']:.2g} km."
        )
    return " ".join(sentences)


def facts(table: "Estimate") -> list[tuple[str, str]]:
    """Names and values of the facts about an estimate, the most important first."""
    about = table.about
    candidates = [
        _reports(about),
        _privacy(about),
        _interval(table),
        _significance(about),
        _poisoning(about),
        _min_batch_size(about),
        ("Task", str(about["task"])) if about.get("task") else None,
    ]
    return [fact for fact in candidates if fact is not None]


Fact = tuple[str, str] | None


def _reports(about: Mapping[str, Any]) -> Fact:
    if "reports" not in about:
        return None
    refused = about.get("refused") or 0
    unreadable = sum(refused.values()) if isinstance(refused, dict) else refused
    text = f"{about['reports']:,}"
    if about.get("invalid_reports_at_least"):
        text += f", of which at least {about['invalid_reports_at_least']:,} are invalid"
    if unreadable:
        text += f"; {unreadable:,} more could not be read"
    return "Reports", text


def _privacy(about: Mapping[str, Any]) -> Fact:
    if "epsilon" not in about:
        return None
    text = f"ε\u00a0=\u00a0{about['epsilon']} for each report"
    if "mechanism" in about:
        version = about.get("mechanism_version")
        text += f", mechanism {about['mechanism']}{f' (version {version})' if version else ''}"
    return "Privacy", f"{text}; queries cost no further privacy"


def _interval(table: "Estimate") -> Fact:
    about = table.about
    if about.get("no_intervals"):
        reason = about["no_intervals"]
        return "No intervals", f"{reason}; so significance is not reported either"
    if "level" not in about:
        return None
    if table.kind == "trajectories":
        return (
            "Credible radius",
            f"contains the true location of its point with a probability of {_level(table)}",
        )
    return "Intervals", f"{_level(table)} confidence intervals, each for its own row"


def _significance(about: Mapping[str, Any]) -> Fact:
    counts = about.get("significance")
    if not isinstance(counts, dict) or "significant" not in counts:
        return None
    number, rate = counts["significant"], counts.get("false_discovery_rate")
    rows = "row differs" if number == 1 else "rows differ"
    text = f"{number:,} {rows} significantly from the baseline"
    if number and rate is not None:
        text += f"; on average at most {percent(rate)} of these are false discoveries"
    return "Significance", text


def _poisoning(about: Mapping[str, Any]) -> Fact:
    poisoning = about.get("poisoning_1pct")
    if not isinstance(poisoning, dict) or "increase" not in poisoning:
        return None
    up, down = (percent(poisoning.get(side, 0.0)) for side in ("increase", "decrease"))
    return (
        "Poisoning",
        f"if {percent(0.01)} of all reports were invalid, they could increase a share by at "
        f"most {up} of the total and decrease one by at most {down}",
    )


def _min_batch_size(about: Mapping[str, Any]) -> Fact:
    rule = about.get("suppression")
    if not rule:
        return None
    if not isinstance(rule, dict):
        return "Minimum batch size", str(rule)
    least = rule.get("min_batch_size", 1)
    if least <= 1:
        return "Minimum batch size", "1 report"
    return (
        "Minimum batch size",
        f"{least:,} reports; with fewer, a query returns only how many more are needed",
    )
