"""Every sentence of an answer, kept to be reviewed as text: see tests/wording.py."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from page_text import PageText

import nomadp
from nomadp.answers import Estimate
from nomadp.answers.drawing import drawing_of
from nomadp.answers.notebook import notebook_html
from nomadp.answers.picture import render
from nomadp.answers.poisoning import EXACT_FOR_COUNTS, EXACT_FOR_FIXED_MODEL
from nomadp.answers.scene import scene_of
from nomadp.answers.sections import text_table
from nomadp.answers.sentences import facts, filter_text, row_label
from nomadp.answers.shapes import shapes_of
from nomadp.answers.share_columns import MIN_CODEWORDS
from nomadp.answers.summary import summary
from nomadp.locations import LocationSet
from nomadp.zones import zones_of

Wording = Callable[..., None]

SQUARE = LocationSet.from_columns(
    ["North Park", "Old Town", "Harbour", "Station"],
    [52.5, 52.5, 52.6, 52.6],
    [13.3, 13.4, 13.3, 13.4],
)
GRID = zones_of(SQUARE, "grid:2")
ABOUT = {
    "epsilon": "4",
    "mechanism": "atlas",
    "mechanism_version": 2,
    "reports": 5000,
    "refused": {},
    "level": 0.9,
    "significance": {"significant": 2, "false_discovery_rate": 0.1},
    "poisoning_1pct": {"increase": 0.021, "decrease": 0.004, "bound": EXACT_FOR_FIXED_MODEL},
    "suppression": {"min_batch_size": 100},
    "task": "buses",
    "nomadp_version": "VERSION",
    "location_set_sha256": "HASH",
}


def numbers(share: list[float], apart: list[bool], *, level: float = 0.02) -> dict[str, Any]:
    value = np.array(share)
    return {
        "ci_low": np.maximum(value - level, 0),
        "ci_high": np.minimum(value + level, 1),
        "baseline": np.full(len(value), 1 / len(value)),
        "significant": apart,
    }


def places(
    share: tuple[float, ...] = (0.5, 0.26, 0.2, 0.04),
    apart: tuple[bool, ...] = (True, False, False, True),
    **more: Any,
) -> Estimate:
    column = {"location_id": SQUARE.ids, "lat": SQUARE.lat, "lng": SQUARE.lng, "share": share}
    column |= numbers(list(share), list(apart), **more)
    return Estimate("hotspots", column, ABOUT | {"areas": "locations"})


def areas() -> Estimate:
    lat, lng = GRID.centres()
    share = [0.5, 0.26, 0.2, 0.04]
    column = {"zone": GRID.names, "lat": lat, "lng": lng, "share": share}
    column |= numbers(share, [True, False, False, True])
    return Estimate("density", column, ABOUT | {"areas": "grid:2"}, shapes_of(GRID))


def flows(*apart: int, least: bool = False) -> Estimate:
    """From the first area most go to the second; staying is as likely as anything."""
    names = list(GRID.names)
    flow = np.array([4, 9, 2, 1, 2, 4, 1, 1, 1, 1, 4, 3, 1, 1, 1, 4]) / 40
    column = {
        "origin": [one for one in names for _ in names],
        "destination": names * len(names),
        "flow": flow,
        **numbers(flow.tolist(), [k in apart for k in range(16)]),
    }
    if least:
        column["baseline"] = np.full(16, 0.5)
    return Estimate("flows", column, ABOUT | {"areas": "grid:2"}, shapes_of(GRID))


def trajectories(kind: str = "trajectories", **more: Any) -> Estimate:
    at = [0, 1, 0, 1, 2, 3]
    column = {
        "tid": ["a", "a", "b", "b", "c", "c"],
        "seq": [0, 1] * 3,
        "location_id": [SQUARE.ids[k] for k in at],
        "lat": SQUARE.lat[at],
        "lng": SQUARE.lng[at],
        **more,
    }
    return Estimate(kind, column, ABOUT)


def lengths() -> Estimate:
    share = [0.5, 0.3, 0.2]
    column = {"length": [2, 3, 4], "share": share, **numbers(share, [True, False, True])}
    return Estimate("lengths", column, ABOUT)


def withheld(table: Estimate) -> Estimate:
    nothing = np.full(len(table), np.nan)
    column = {**table.columns, "ci_low": nothing, "ci_high": nothing}
    column["significant"] = np.full(len(table), None)
    about = {
        name: each
        for name, each in table.about.items()
        if name not in ("level", "significance")
    }
    reason = f"the codebook has 32 codewords, fewer than {MIN_CODEWORDS}"
    return replace(table, columns=column, about={**about, "no_intervals": reason})


def several(table: Estimate) -> Estimate:
    """The same rows at a time of day, besides all times together."""
    column = {
        name: [*each, *each] if isinstance(each, tuple) else np.tile(each, 2)
        for name, each in table.columns.items()
    }
    column["when"] = ["any"] * len(table) + ["night"] * len(table)
    return replace(table, columns=column)


CASES = {
    "hotspots: most is highest": places(),
    "hotspots: most is not significant": places((0.5, 0.4, 0.06, 0.04), (False, True) * 2),
    "hotspots: one is lower": places((0.5, 0.26, 0.2, 0.04), (False,) * 3 + (True,)),
    "hotspots: several are lower": places((0.9, 0.05, 0.03, 0.02), (False,) + (True,) * 3),
    "hotspots: nothing is significant": places(apart=(False,) * 4),
    "hotspots: one is too uncertain": places(apart=(True, True, True, False), level=0.2),
    "hotspots: some are too uncertain": places(apart=(True, False, False, True), level=0.2),
    "hotspots: no intervals": withheld(places()),
    "hotspots: times of day": several(places()),
    "hotspots: too few reports": replace(places().rows([]), about={"missing": 1234}),
    "density": areas(),
    "flows: most is highest": flows(0, 1, 2),
    "flows: most is not significant": flows(2, 11),
    "flows: one is lower": flows(1, least=True),
    "flows: several are lower": flows(1, 2, 11, least=True),
    "flows: one stays": flows(0),
    "flows: several stay": flows(0, 5, 10),
    "flows: all stay": flows(0, 5, 10).rows([0, 5, 10, 15]),
    "flows: nothing is significant": flows(),
    "flows: no intervals": withheld(flows()),
    "trajectories": trajectories(),
    "trajectories: with radii": trajectories(radius_km=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]),
    "trajectories: distinct": trajectories(
        radius_km=[1.0, 2.0, 3.0, 3.0, 5.0, 6.0], reports=[3, 3, 1, 1, 2, 2]
    ),
    "synthetic": trajectories("synthetic"),
    "lengths": lengths(),
}


def test_what_is_said_over_and_under_a_map(wording: Wording) -> None:
    said = []
    for case, table in CASES.items():
        scene = scene_of(table, SQUARE)
        said.append(f"{case}\n  {summary(table, scene)}\n  {filter_text(table, scene)}")
    wording("answers", "over and under a map", "\n".join(said))


def test_what_a_mark_says(wording: Wording) -> None:
    cases = (places(), withheld(places()), areas(), flows(0, 1, 2), lengths(), trajectories())
    said = [row_label(table, row) for table in cases for row in range(min(4, len(table)))]
    wording("answers", "marks", "\n".join(said))


def test_how_rows_are_listed(wording: Wording) -> None:
    cases = {
        "hotspots": places(),
        "hotspots, the first 2": places(),
        "hotspots without intervals": withheld(places()),
        "density, too uncertain": replace(areas(), columns=places(level=0.2).columns),
        "flows": flows(0, 1, 2).rows(range(4)),
        "trajectories": CASES["trajectories: with radii"],
        "lengths": lengths(),
    }
    said = []
    for case, table in cases.items():
        told = text_table(table, scene_of(table, SQUARE), 2 if "first" in case else None)
        said += [case, f"  {told['caption']}"]
        said.append("  " + " | ".join(each["name"] for each in told["head"]))
        said += ["  " + " | ".join(each["cells"]) for each in told["rows"]]
    wording("answers", "rows", "\n".join(said))


def test_what_is_known_about_an_answer(wording: Wording) -> None:
    cases: dict[str, dict[str, Any]] = {
        "as usual": {},
        "invalid and refused reports": {
            "refused": {"late": 3},
            "invalid_reports_at_least": 1200,
        },
        "no significant row": {"significance": {"significant": 0, "false_discovery_rate": 0.1}},
        "one significant row": {
            "significance": {"significant": 1, "false_discovery_rate": 0.1}
        },
        "no minimum": {"suppression": {"min_batch_size": 1}},
    }
    tables = {name: replace(places(), about=ABOUT | more) for name, more in cases.items()}
    tables["no intervals"] = withheld(places())
    said = []
    for case, table in tables.items():
        said += [case, *(f"  {name}: {words}" for name, words in facts(table))]
    said += ["how poisoning is bounded", f"  {EXACT_FOR_COUNTS}", f"  {EXACT_FOR_FIXED_MODEL}"]
    wording("answers", "facts", "\n".join(said))


PAGES: dict[str, Callable[[], str]] = {
    "a page of one answer": lambda: render(places(), SQUARE),
    "a page of several answers": lambda: render([flows(0, 1, 2), withheld(areas())], SQUARE),
    "a page of synthetic trajectories": lambda: render(CASES["synthetic"], SQUARE),
    "a page of too few reports": lambda: render(CASES["hotspots: too few reports"]),
    "an answer in a notebook": lambda: notebook_html(areas()),
}


@pytest.mark.parametrize("name", PAGES)
def test_what_a_page_says(name: str, wording: Wording) -> None:
    wording("answers", name, str(PageText(PAGES[name]())), hide={nomadp.__version__: "VERSION"})


def test_how_distinct_reports_are_drawn(wording: Wording) -> None:
    drawn = drawing_of(CASES["trajectories: distinct"], SQUARE)
    said = [drawn[name] for name in ("title", "summary", "filter", "caption")]
    said.append(" | ".join(each["name"] for each in drawn["head"]))
    said += [" | ".join(each["cells"]) for each in drawn["rows"]]
    wording("answers", "trajectories of distinct reports", "\n".join(said))
