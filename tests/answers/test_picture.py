"""Pictures: one page that brings everything, a figure, and what a notebook shows."""

import re
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from refusals import refused

from nomadp.answers import Estimate
from nomadp.answers.frame import WIDTH, Frame
from nomadp.answers.geometry import value_column
from nomadp.answers.legend import legend
from nomadp.answers.numbers import percent
from nomadp.answers.picture import (
    picture_writes,
    render,
    with_shapes,
    write_map,
    write_png,
)
from nomadp.answers.scene import scene_of
from nomadp.answers.sections import text_table
from nomadp.answers.sentences import facts, filter_text, row_label
from nomadp.answers.summary import Finding, direction, finding, summary
from nomadp.errors import ExtraMissing, OutputError, SchemaError
from nomadp.formats.atomic import written_whole
from nomadp.locations import LocationSet
from nomadp.theme import theme
from nomadp.zones import zones_of

VOID = {"meta", "rect", "circle", "path", "link", "br", "img"}


class Checked(HTMLParser):
    """Every tag that opens closes, and what there is of each."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in ("meta",):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def of(self, tag: str, kind: str) -> list[dict[str, str | None]]:
        return [a for t, a in self.seen if t == tag and kind in (a.get("class") or "").split()]


def test_the_page_is_well_formed_and_loads_nothing(
    hotspots: Estimate,
    density: Estimate,
    flows: Estimate,
    lengths: Estimate,
    places: LocationSet,
) -> None:
    text = render([hotspots, density, flows, lengths], places)
    page = Checked(text)
    for _, attributes in page.seen:
        assert "src" not in attributes
        assert "style" not in attributes
        assert not [name for name in attributes if name.startswith("on")]
        assert (attributes.get("href") or "#").startswith("#")
    assert "http:" not in text.replace("http-equiv", "")
    assert "https:" not in text
    policy = next(a["content"] for t, a in page.seen if "http-equiv" in a)
    assert str(policy).startswith("default-src 'none'")
    assert len([1 for tag, a in page.seen if (tag, a.get("class")) == ("svg", "scene")]) == 3


def test_equal_estimates_give_equal_pages(hotspots: Estimate, places: LocationSet) -> None:
    assert render(hotspots, places) == render([hotspots], places)


def test_every_row_of_a_map_is_a_mark_with_a_label(
    hotspots: Estimate, density: Estimate
) -> None:
    dots = Checked(render(hotspots)).of("circle", "mark")
    assert {int(str(dot["data-row"])) for dot in dots} == set(range(len(hotspots)))
    areas = Checked(render(density)).of("path", "mark")
    assert {int(str(area["data-row"])) for area in areas} == set(range(len(density)))
    name = row_label(density, 0)
    assert density["zone"][0] in name
    assert percent(density["share"][0], density.decimals) in name
    assert f"<title>{escape(name)}</title>" in render(density)


def test_flows_are_filtered_by_a_rule_that_the_page_states(flows: Estimate) -> None:
    scene = scene_of(flows, None)
    assert scene is not None
    drawn = [curve.row for curve in scene.curves]
    assert drawn
    average = flows["flow"].mean()
    assert set(drawn) == {
        k
        for k in range(len(flows))
        if flows["significant"][k]
        and (flows["flow"][k] > flows["baseline"][k] or flows["ci_high"][k] > average)
        and flows["origin"][k] != flows["destination"][k]
    }
    assert (scene.counts["drawn"], scene.counts["rows"]) == (len(drawn), len(flows))
    assert scene.counts["drawn_share"] == pytest.approx(flows["flow"][drawn].sum())
    sentence = filter_text(flows, scene)
    assert {str(len(drawn)), str(len(flows))} <= set(re.findall(r"\d+", sentence))
    assert percent(scene.counts["drawn_share"]) in sentence
    widths = {curve.row: curve.width for curve in scene.curves}
    assert max(widths, key=widths.__getitem__) == max(drawn, key=lambda k: flows["flow"][k])


def test_without_significant_rows_all_are_hatched_and_the_summary_says_so(
    density: Estimate,
) -> None:
    column = {**density.columns, "significant": np.zeros(len(density), bool)}
    nothing = replace(density, columns=column)
    text = render(nothing)
    assert len(Checked(text).of("path", "hatched")) == len(density)
    scene = scene_of(nothing, None)
    assert finding(nothing, scene).outcome == "not_significant"
    assert escape(summary(nothing, scene)) in text


def test_too_few_reports_are_a_page_that_says_how_many_are_missing() -> None:
    few = Estimate("hotspots", {"location_id": [], "share": []}, {"missing": 1234})
    assert "1,234" in render(few)


def test_facts_contain_their_numbers(density: Estimate) -> None:
    about = {
        **density.about,
        "refused": {"late": 3},
        "significance": {"significant": 9, "false_discovery_rate": 0.1},
        "poisoning_1pct": {
            "increase": 0.021,
            "decrease": 0.004,
            "bound": "exact",
        },
        "suppression": {
            "min_batch_size": 100,
            "rule": "below the minimum, only the number of missing reports is released",
        },
        "task": "commute <b>",
    }
    texts = [text for _, text in facts(replace(density, about=about))]
    expected = (
        ("5,000", "3"),  # reports: counted, refused
        ("ε\u00a0=\u00a04", "atlas"),
        ("90\u00a0%",),  # intervals
        ("9", "10\u00a0%"),  # significant rows, rate of false discoveries
        ("1\u00a0%", "2.1\u00a0%", "0.4\u00a0%"),  # poisoning
        ("100",),  # the minimum batch size
        ("commute <b>",),
    )
    for text, values in zip(texts, expected, strict=True):
        assert all(re.search(rf"(?<!\d){re.escape(value)}", text) for value in values)
    assert "commute &lt;b&gt;" in render(replace(density, about=about))


def test_names_are_escaped(places: LocationSet) -> None:
    hostile = "</title></svg><script>alert(1)</script>"
    column = {"location_id": [hostile], "lat": [52.5], "lng": [13.4], "share": [1.0]}
    table = Estimate("hotspots", column, {"epsilon": hostile, "task": hostile})
    for text in (render(table), table._repr_html_()):
        assert "<script>alert" not in text
        assert "&lt;script&gt;alert(1)" in text
    assert len(Checked(render(table)).of("circle", "mark")) == 1


def test_grids_are_drawn_from_their_rule(places: LocationSet, density: Estimate) -> None:
    bare = Estimate("density", density.columns, density.about)
    shaped = with_shapes(bare, places)
    assert shaped.shapes is not None
    assert set(shaped.shapes.outlines) == set(zones_of(places, "grid:4").names)
    assert with_shapes(replace(bare, about={"areas": "grid:0"}), places).shapes is None
    assert with_shapes(bare, None).shapes is None


def test_maps_show_all_times_combined(hotspots: Estimate) -> None:
    twice = {
        name: [*column, *column] if isinstance(column, tuple) else np.tile(column, 2)
        for name, column in hotspots.columns.items()
    }
    size = len(hotspots)
    timed = Estimate("hotspots", {**twice, "when": ["any"] * size + ["night"] * size}, {})
    scene = scene_of(timed, None)
    assert scene is not None
    assert {dot.row for dot in scene.dots} == set(range(size))
    once = replace(timed.rows(range(size)), columns=dict(hotspots.columns))
    assert filter_text(timed, scene) != filter_text(once, scene_of(once, None))


def test_long_tracks_are_thinned_evenly_and_the_page_says_so() -> None:
    most, length = theme()["track_points_most"], 2000
    places = LocationSet.from_columns(
        [f"p{k}" for k in range(length)], np.linspace(40, 41, length), np.linspace(8, 9, length)
    )
    along = np.arange(length)
    visited = np.concatenate([along, np.repeat(along[:50], 40)])
    column = {
        "tid": ["moves"] * length + ["stays"] * length,
        "seq": np.concatenate([along, along]),
        "location_id": [places.ids[k] for k in visited],
        "lat": places.lat[visited],
        "lng": places.lng[visited],
        "radius_km": np.ones(2 * length),
    }
    table = Estimate("trajectories", column, {})
    scene = scene_of(table, places)
    long, short = scene.tracks
    assert (len(long.line), len(short.line)) == (most, 50)  # it has only 50 different stops
    assert long.line[[0, -1]].tolist() == scene.frame.project([[8, 40], [9, 41]]).tolist()
    gaps = np.hypot(*np.diff(long.line, axis=0).T)
    assert gaps.max() < 1.1 * gaps.min()
    assert scene.counts["thinned"] == 1
    assert str(most) in filter_text(table, scene)
    assert len(render(table, places)) < 200_000


def test_a_map_of_trajectories_states_the_median_radius_and_the_number_of_lines(
    places: LocationSet,
) -> None:
    at = np.array([0, 1, 0, 1, 2, 3])
    column = {
        "tid": ["a", "a", "b", "b", "c", "c"],
        "seq": [0, 1] * 3,
        "location_id": [places.ids[k] for k in at],
        "lat": places.lat[at],
        "lng": places.lng[at],
        "radius_km": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    }
    table = Estimate("trajectories", column, {"level": 0.9})
    scene = scene_of(table, places)
    assert scene is not None
    assert (scene.counts["lines"], scene.counts["median_radius_km"]) == (2, 4.0)
    sentence = filter_text(table, scene)
    assert all(each in sentence for each in ("2", "90\u00a0%", "4 km"))


@pytest.mark.parametrize("kind", ["trajectories", "synthetic"])
def test_trajectories_are_lines_and_the_summary_counts_them(
    kind: str, places: LocationSet
) -> None:
    at = np.arange(6)
    column = {
        "tid": ["a", "a", "b", "b", "b", "c"],
        "seq": [0, 1, 0, 1, 2, 0],
        "location_id": [places.ids[k] for k in at],
        "lat": places.lat[at],
        "lng": places.lng[at],
    }
    table = Estimate(kind, column, {})
    scene = scene_of(table, places)
    assert scene is not None
    assert [len(track.line) for track in scene.tracks] == [2, 3, 1]
    assert (scene.counts["drawn"], scene.counts["trajectories"]) == (3, 3)
    assert finding(table, scene) == Finding("trajectories", None, 3)
    other = Estimate("trajectories" if kind == "synthetic" else "synthetic", column, {})
    assert summary(table, scene) != summary(other, scene)


def test_the_summary_names_the_largest_share(hotspots: Estimate, flows: Estimate) -> None:
    top = int(np.argmax(hotspots["share"]))
    assert finding(hotspots, scene_of(hotspots, None)) == Finding("highest", top)
    leaves = np.array(flows["origin"]) != np.array(flows["destination"])
    greatest = int(np.argmax(np.where(leaves & flows["significant"], flows["flow"], 0)))
    assert finding(flows, scene_of(flows, None)).row == greatest


def test_the_label_of_a_row_compares_it_with_the_baseline(hotspots: Estimate) -> None:
    columns = {**hotspots.columns, "significant": np.array([True, True, False] * 20)}
    columns["share"] = np.array([0.5, 0.001, 0.02] * 20)
    table = replace(hotspots, columns=columns)
    assert [direction(table, row) for row in range(3)] == [1, -1, 0]
    baseline = percent(1 / 60, hotspots.decimals)
    comparisons = [row_label(table, row).rpartition("; ")[2] for row in range(3)]
    assert all(baseline in text for text in comparisons)
    assert len(set(comparisons)) == 3


@pytest.mark.parametrize(("number", "rate"), [(0, None), (2, 0.1)])
def test_the_facts_state_the_false_discovery_rate(
    hotspots: Estimate, number: int, rate: float | None
) -> None:
    counts = {"significant": number, "false_discovery_rate": 0.1}
    ((_, text),) = facts(replace(hotspots, about={"significance": counts}))
    numbers = [str(number)] if rate is None else [str(number), f"{100 * rate:g}"]
    assert re.findall(r"\d+", text) == numbers


def test_a_row_is_above_or_below_the_baseline_or_not_significant(hotspots: Estimate) -> None:
    first = scene_of(hotspots, None).ranking[0]
    columns = {**hotspots.columns, "significant": np.arange(len(hotspots)) == first}
    table = replace(hotspots, columns=columns)
    text = text_table(table, scene_of(table, None))
    assert text["rows"][0]["cells"][-1] == ">\u00a01.7\u00a0%"
    others = {each["cells"][-1] for each in text["rows"][1:]}
    assert len(others) == 2  # not significant, and too uncertain
    assert not re.search(r"[<>\d]", "".join(others))


@pytest.mark.parametrize(("share", "cell"), [(0.3, ">\u00a00.0\u00a0%"), (0.0, "< 0.1\u00a0%")])
def test_a_baseline_near_0_has_only_one_sign(
    hotspots: Estimate, share: float, cell: str
) -> None:
    first = scene_of(hotspots, None).ranking[0]
    is_first = np.arange(len(hotspots)) == first
    value = value_column(hotspots.columns)
    columns = {
        **hotspots.columns,
        "significant": is_first,
        "baseline": np.where(is_first, 1e-6, hotspots["baseline"]),
        value: np.where(is_first, share, hotspots[value]),
    }
    table = replace(hotspots, columns=columns)
    text = text_table(table, scene_of(hotspots, None))
    assert text["rows"][0]["cells"][-1] == cell


def test_lengths_are_listed_with_their_shares(lengths: Estimate) -> None:
    text = text_table(lengths, None)
    assert [each["number"] for each in text["head"]] == [True] * 3
    assert text["rows"][0]["cells"][:2] == ["2", percent(float(lengths["share"][0]), 0)]


def test_only_the_last_edge_of_a_legend_has_a_percent_sign(density: Estimate) -> None:
    drawn = legend(scene_of(density, None), "x")
    edges = re.findall(r'text-anchor="middle">([^<]*)<', drawn)
    assert [each.endswith("%") for each in edges] == [False] * (len(edges) - 1) + [True]


def test_a_page_with_one_estimate_shows_its_title_once(
    hotspots: Estimate, density: Estimate
) -> None:
    assert '<h2 id="answer-0-title" class="unseen">' in render(hotspots)
    assert 'title" class="unseen">' not in render([hotspots, density])


def test_the_lead_states_the_number_of_reports(hotspots: Estimate) -> None:
    known, unknown = hotspots, replace(hotspots, about={"task": "t"})
    leads = [
        re.search(r'<p class="lead">(.*?)</p>', render(each), re.DOTALL)
        for each in (known, unknown)
    ]
    assert all(leads)
    assert "5,000" in leads[0][1]
    assert not re.search(r"\d|None", leads[1][1])


@pytest.mark.parametrize(
    ("share", "wanted"),
    [(0, "0"), (1e-6, "< 0.01"), (0.01234, "1.23"), (0.5, "50"), (1, "100")],
)
def test_shares_are_never_rounded_to_zero(share: float, wanted: str) -> None:
    assert percent(share) == f"{wanted}\u00a0%"


@pytest.mark.slow
def test_a_figure_contains_every_map(
    hotspots: Estimate, density: Estimate, flows: Estimate, places: LocationSet, tmp_path: Path
) -> None:
    from matplotlib.image import imread

    paths = {"png": tmp_path / "x.png", "map": tmp_path / "x.html"}
    written_whole(picture_writes([hotspots, density, flows], places, **paths))
    picture = imread(tmp_path / "x.png")
    assert picture.shape[1] == 1152
    assert len({tuple(each) for each in picture[::7, ::7].reshape(-1, 4).tolist()}) > 20
    assert (tmp_path / "x.html").read_text(encoding="utf-8") == render(
        [hotspots, density, flows], places
    )


def test_what_cannot_be_drawn_is_refused_and_leaves_nothing(
    hotspots: Estimate, lengths: Estimate, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with refused(SchemaError, "unknown_suffix", suffixes=(".html",)):
        write_map(tmp_path / "x.txt", hotspots)
    with refused(SchemaError, "unknown_suffix", suffixes=(".png",)):
        picture_writes(hotspots, map=tmp_path / "x.html", png=tmp_path / "x.jpg")
    with refused(SchemaError, "no_tables"):
        write_map(tmp_path / "x.html", [])
    with refused(SchemaError, "nothing_to_draw", answer="lengths"):
        write_png(tmp_path / "x.png", lengths)
    monkeypatch.setattr("nomadp.extras.find_spec", lambda name: None)
    with refused(ExtraMissing, "package_missing", extra="plot"):
        write_png(tmp_path / "x.png", hotspots)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_a_file_is_refused(hotspots: Estimate, tmp_path: Path) -> None:
    (tmp_path / "x.html").mkdir()
    with pytest.raises(OutputError):
        write_map(tmp_path / "x.html", hotspots)


def test_a_notebook_shows_a_map_and_a_few_rows(answer: Estimate) -> None:
    text = answer._repr_html_()
    assert ("<svg" in text) == (answer.kind != "lengths")
    assert text.count("<tr data-row") == min(8, len(answer))
    assert "<script" not in text
    assert not re.search(r"https?:", text)


def test_two_estimates_in_a_notebook_do_not_share_ids(
    hotspots: Estimate, density: Estimate
) -> None:
    ids = [
        set(re.findall(r' id="([^"]+)"', each._repr_html_())) for each in (hotspots, density)
    ]
    assert ids[0]
    assert ids[0].isdisjoint(ids[1])


@pytest.mark.parametrize("degrees", [0.01, 0.1, 5.0, 60.0])
def test_the_scale_bar_is_visible_on_a_map_of_any_width(degrees):
    frame = Frame.around(np.array([10.0, 10.0 + degrees]), np.array([50.0, 50.0]))
    assert 40 < frame.scale_bar_km * frame.px_per_km < WIDTH / 2
