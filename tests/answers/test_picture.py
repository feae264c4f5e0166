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
from nomadp.answers.sections import rows_told
from nomadp.answers.sentences import facts, filter_words, row_name
from nomadp.answers.summary import Finding, direction, finding, summary
from nomadp.errors import ExtraMissing, OutputError, SchemaError
from nomadp.formats.atomic import write_atomically
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


def test_the_page_is_whole_and_asks_for_nothing(
    hotspots: Estimate,
    density: Estimate,
    flows: Estimate,
    lengths: Estimate,
    places: LocationSet,
) -> None:
    text = render([hotspots, density, flows, lengths], places)
    found = Checked(text)
    for _, attributes in found.seen:
        assert "src" not in attributes
        assert "style" not in attributes
        assert not [name for name in attributes if name.startswith("on")]
        assert (attributes.get("href") or "#").startswith("#")
    assert "http:" not in text.replace("http-equiv", "")
    assert "https:" not in text
    policy = next(a["content"] for t, a in found.seen if "http-equiv" in a)
    assert str(policy).startswith("default-src 'none'")
    assert len([1 for tag, a in found.seen if (tag, a.get("class")) == ("svg", "scene")]) == 3


def test_the_same_answers_make_the_same_page(hotspots: Estimate, places: LocationSet) -> None:
    assert render(hotspots, places) == render([hotspots], places)


def test_every_row_of_a_map_is_a_mark_that_says_what_it_is(
    hotspots: Estimate, density: Estimate
) -> None:
    dots = Checked(render(hotspots)).of("circle", "mark")
    assert {int(str(dot["data-row"])) for dot in dots} == set(range(len(hotspots)))
    areas = Checked(render(density)).of("path", "mark")
    assert {int(str(area["data-row"])) for area in areas} == set(range(len(density)))
    name = row_name(density, 0)
    assert density["zone"][0] in name
    assert percent(density["share"][0], density.decimals) in name
    assert f"<title>{escape(name)}</title>" in render(density)


def test_flows_are_filtered_by_a_rule_that_is_stated(flows: Estimate) -> None:
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
    words = filter_words(flows, scene)
    assert {str(len(drawn)), str(len(flows))} <= set(re.findall(r"\d+", words))
    assert percent(scene.counts["drawn_share"]) in words
    widths = {curve.row: curve.width for curve in scene.curves}
    assert max(widths, key=widths.__getitem__) == max(drawn, key=lambda k: flows["flow"][k])


def test_what_reports_do_not_tell_is_hatched_and_said(density: Estimate) -> None:
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


def test_facts_are_told_in_plain_words(density: Estimate) -> None:
    about = {
        **density.about,
        "refused": {"late": 3},
        "significance": {"significant": 9, "false_discovery_rate": 0.1},
        "poisoning_1pct": {
            "increase": 0.021,
            "decrease": 0.004,
            "bound": "exact",
        },
        "suppression": {"min_batch_size": 100, "rule": "of fewer nothing is said"},
        "task": "commute <b>",
    }
    told = [words for _, words in facts(replace(density, about=about))]
    wanted = (
        ("5,000", "3"),  # reports: counted, refused
        ("ε\u00a0=\u00a04", "atlas"),
        ("90\u00a0%",),  # intervals
        ("9", "10\u00a0%"),  # significant rows, of them by chance
        ("1\u00a0%", "2.1\u00a0%", "0.4\u00a0%"),  # fakes
        ("100",),  # the minimum batch size
        ("commute <b>",),
    )
    for words, values in zip(told, wanted, strict=True):
        assert all(re.search(rf"(?<!\d){re.escape(each)}", words) for each in values)
    assert "commute &lt;b&gt;" in render(replace(density, about=about))


def test_names_are_shown_and_never_run(places: LocationSet) -> None:
    hostile = "</title></svg><script>alert(1)</script>"
    column = {"location_id": [hostile], "lat": [52.5], "lng": [13.4], "share": [1.0]}
    table = Estimate("hotspots", column, {"epsilon": hostile, "task": hostile})
    for text in (render(table), table._repr_html_()):
        assert "<script>alert" not in text
        assert "&lt;script&gt;alert(1)" in text
    assert len(Checked(render(table)).of("circle", "mark")) == 1


def test_grids_are_drawn_from_their_rule(places: LocationSet, density: Estimate) -> None:
    bare = Estimate("density", density.columns, density.about)
    found = with_shapes(bare, places)
    assert found.shapes is not None
    assert set(found.shapes.outlines) == set(zones_of(places, "grid:4").names)
    assert with_shapes(replace(bare, about={"areas": "grid:0"}), places).shapes is None
    assert with_shapes(bare, None).shapes is None


def test_times_are_drawn_together(hotspots: Estimate) -> None:
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
    assert filter_words(timed, scene) != filter_words(once, scene_of(once, None))


def test_of_long_tracks_evenly_chosen_points_are_drawn_and_that_is_said() -> None:
    most, length = theme()["track_points_most"], 2000
    places = LocationSet.from_columns(
        [f"p{k}" for k in range(length)], np.linspace(40, 41, length), np.linspace(8, 9, length)
    )
    along = np.arange(length)
    way = np.concatenate([along, np.repeat(along[:50], 40)])
    column = {
        "tid": ["moves"] * length + ["stays"] * length,
        "seq": np.concatenate([along, along]),
        "location_id": [places.ids[k] for k in way],
        "lat": places.lat[way],
        "lng": places.lng[way],
        "radius_km": np.ones(2 * length),
    }
    table = Estimate("trajectories", column, {})
    scene = scene_of(table, places)
    long, short = scene.tracks
    assert (len(long.line), len(short.line)) == (most, 50)  # which has so few stops
    assert long.line[[0, -1]].tolist() == scene.frame.at([[8, 40], [9, 41]]).tolist()
    gaps = np.hypot(*np.diff(long.line, axis=0).T)
    assert gaps.max() < 1.1 * gaps.min()
    assert scene.counts["thinned"] == 1
    assert str(most) in filter_words(table, scene)
    assert len(render(table, places)) < 200_000


def test_a_map_of_journeys_says_how_far_off_they_are_and_which_are_one(
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
    words = filter_words(table, scene)
    assert all(each in words for each in ("2", "90\u00a0%", "4 km"))


@pytest.mark.parametrize("kind", ["trajectories", "synthetic"])
def test_journeys_are_lines_and_say_how_many(kind: str, places: LocationSet) -> None:
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
    assert summary(table, scene) != summary(other, scene)  # nobody takes one for the other


def test_the_summary_names_the_greatest(hotspots: Estimate, flows: Estimate) -> None:
    top = int(np.argmax(hotspots["share"]))
    assert finding(hotspots, scene_of(hotspots, None)) == Finding("highest", top)
    leaves = np.array(flows["origin"]) != np.array(flows["destination"])
    greatest = int(np.argmax(np.where(leaves & flows["significant"], flows["flow"], 0)))
    assert finding(flows, scene_of(flows, None)).row == greatest


def test_a_row_says_what_a_flat_map_has(hotspots: Estimate) -> None:
    columns = {**hotspots.columns, "significant": np.array([True, True, False] * 20)}
    columns["share"] = np.array([0.5, 0.001, 0.02] * 20)
    table = replace(hotspots, columns=columns)
    assert [direction(table, row) for row in range(3)] == [1, -1, 0]
    flat = percent(1 / 60, hotspots.decimals)
    said = [row_name(table, row).rpartition("; ")[2] for row in range(3)]
    assert all(flat in each for each in said)
    assert len(set(said)) == 3


@pytest.mark.parametrize(("apart", "rate"), [(0, None), (2, 0.1)])
def test_the_facts_say_how_many_rows_may_be_chance(
    hotspots: Estimate, apart: int, rate: float | None
) -> None:
    flat = {"significant": apart, "false_discovery_rate": 0.1}
    ((_, words),) = facts(replace(hotspots, about={"significance": flat}))
    numbers = [str(apart)] if rate is None else [str(apart), f"{100 * rate:g}"]
    assert re.findall(r"\d+", words) == numbers


def test_a_row_is_more_or_less_than_flat_or_not_told_apart(hotspots: Estimate) -> None:
    first = scene_of(hotspots, None).shown[0]
    columns = {**hotspots.columns, "significant": np.arange(len(hotspots)) == first}
    found = replace(hotspots, columns=columns)
    told = rows_told(found, scene_of(found, None))
    assert told["rows"][0]["cells"][-1] == ">\u00a01.7\u00a0%"
    others = {each["cells"][-1] for each in told["rows"][1:]}
    assert len(others) == 2  # not told apart, and too little to say
    assert not re.search(r"[<>\d]", "".join(others))


@pytest.mark.parametrize(("share", "said"), [(0.3, ">\u00a00.0\u00a0%"), (0.0, "< 0.1\u00a0%")])
def test_a_flat_share_of_nearly_0_has_one_sign(
    hotspots: Estimate, share: float, said: str
) -> None:
    first = scene_of(hotspots, None).shown[0]
    is_first = np.arange(len(hotspots)) == first
    value = value_column(hotspots.columns)
    columns = {
        **hotspots.columns,
        "significant": is_first,
        "baseline": np.where(is_first, 1e-6, hotspots["baseline"]),
        value: np.where(is_first, share, hotspots[value]),
    }
    found = replace(hotspots, columns=columns)
    told = rows_told(found, scene_of(hotspots, None))
    assert told["rows"][0]["cells"][-1] == said


def test_lengths_are_shares_like_any_other(lengths: Estimate) -> None:
    told = rows_told(lengths, None)
    assert [each["number"] for each in told["head"]] == [True] * 3
    assert told["rows"][0]["cells"][:2] == ["2", percent(float(lengths["share"][0]), 0)]


def test_only_the_last_edge_of_a_legend_has_the_sign(density: Estimate) -> None:
    drawn = legend(scene_of(density, None), "x")
    edges = re.findall(r'text-anchor="middle">([^<]*)<', drawn)
    assert [each.endswith("%") for each in edges] == [False] * (len(edges) - 1) + [True]


def test_a_page_of_one_answer_shows_its_title_once(
    hotspots: Estimate, density: Estimate
) -> None:
    assert '<h2 id="answer-0-title" class="unseen">' in render(hotspots)
    assert 'title" class="unseen">' not in render([hotspots, density])


def test_the_lead_says_how_many_reports(hotspots: Estimate) -> None:
    told, unknown = hotspots, replace(hotspots, about={"task": "t"})
    leads = [
        re.search(r'<p class="lead">(.*?)</p>', render(each), re.DOTALL)
        for each in (told, unknown)
    ]
    assert all(leads)
    assert "5,000" in leads[0][1]
    assert not re.search(r"\d|None", leads[1][1])


@pytest.mark.parametrize(
    ("share", "wanted"),
    [(0, "0"), (1e-6, "< 0.01"), (0.01234, "1.23"), (0.5, "50"), (1, "100")],
)
def test_shares_are_never_rounded_to_nothing(share: float, wanted: str) -> None:
    assert percent(share) == f"{wanted}\u00a0%"


@pytest.mark.slow
def test_a_figure_is_written_of_every_map(
    hotspots: Estimate, density: Estimate, flows: Estimate, places: LocationSet, tmp_path: Path
) -> None:
    from matplotlib.image import imread

    where = {"png": tmp_path / "x.png", "map": tmp_path / "x.html"}
    write_atomically(picture_writes([hotspots, density, flows], places, **where))
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


def test_a_notebook_shows_a_picture_and_a_few_rows(answer: Estimate) -> None:
    text = answer._repr_html_()
    assert ("<svg" in text) == (answer.kind != "lengths")
    assert text.count("<tr data-row") == min(8, len(answer))
    assert "<script" not in text
    assert not re.search(r"https?:", text)


def test_two_answers_in_a_notebook_do_not_share_ids(
    hotspots: Estimate, density: Estimate
) -> None:
    ids = [
        set(re.findall(r' id="([^"]+)"', each._repr_html_())) for each in (hotspots, density)
    ]
    assert ids[0]
    assert ids[0].isdisjoint(ids[1])


@pytest.mark.parametrize("degrees", [0.01, 0.1, 5.0, 60.0])
def test_the_bar_of_scale_is_seen_on_a_map_of_any_width(degrees):
    frame = Frame.around(np.array([10.0, 10.0 + degrees]), np.array([50.0, 50.0]))
    assert 40 < frame.bar_km * frame.km < WIDTH / 2
