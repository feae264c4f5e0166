"""The report is one file that needs nothing else and allows nothing else."""

import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from page_reader import PageReader

import nomadp
from nomadp.datasets.built import write_built
from nomadp.datasets.city import build_city
from nomadp.paper.datasets import Catalogue
from nomadp.paper.findings import PAPER_METHODS, losing_to_the_constant
from nomadp.paper.report import amount
from nomadp.paper.results import Results
from nomadp.paper.sentences import verdict
from nomadp.paper.specs import EXPERIMENTS
from nomadp.paper.tasks import Paper


@pytest.fixture(scope="module")
def source(written: dict[str, Path]) -> str:
    return written["report.html"].read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def read(source: str) -> PageReader:
    return PageReader(source)


def test_the_report_loads_nothing(read: PageReader, source: str) -> None:
    assert [address for address in read.loads if not address.startswith("#")] == []
    assert not {"link", "iframe", "object", "embed", "base", "form", "img"} & set(read.tags)
    (style,) = re.findall(r"<style>(.*?)</style>", source, flags=re.DOTALL)
    assert "@import" not in style
    assert "url(" not in style
    # The only addresses are names: those of SVG and its links.
    hosts = set(re.findall(r"\bhttps?:[^\s\"'<]+", source))
    assert hosts == {"http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"}


def test_nothing_runs_and_only_one_style_applies(read: PageReader, source: str) -> None:
    (style,) = re.findall(r"<style>(.*?)</style>", source, flags=re.DOTALL)
    digest = b64encode(sha256(style.encode()).digest()).decode()
    assert f"default-src &#x27;none&#x27;; style-src &#x27;sha256-{digest}&#x27;; " in source
    assert "script" not in read.tags
    assert read.inline == []


def test_every_name_is_given_once_and_every_link_has_a_target(read: PageReader) -> None:
    assert len(read.ids) == len(set(read.ids))
    assert {address[1:] for address in read.loads} <= set(read.ids)


def test_every_experiment_has_a_section_with_figure_and_numbers(source: str) -> None:
    for name, experiment in EXPERIMENTS.items():
        (section,) = re.findall(
            rf'<section class="band" id="{name}".*?</section>', source, re.S
        )
        assert experiment.title in section
        assert "<svg" in section
        assert "<table>" in section


def test_baselines_and_what_is_worse_are_in_the_words(
    read: PageReader, results: Results
) -> None:
    first = verdict(EXPERIMENTS["ne"], results)[0]
    words = " ".join(read.text.split())
    assert words.count(first) == 2  # in short, and beside its figure
    of = losing_to_the_constant(results, PAPER_METHODS).of
    assert str(of) in first
    assert f"ε = {results.plan.epsilons[-1]}" in words
    assert nomadp.__version__ in words


def test_a_quick_look_says_that_it_is_one(read: PageReader, results: Results) -> None:
    said = amount(results)
    assert said in " ".join(read.text.split())
    assert {"2", "10"} <= set(re.findall(r"\d+", said))  # runs, trajectories at most


def test_nothing_is_left_to_fill_in(source: str) -> None:
    assert not re.findall(r"\$[a-z_]+", source)


def test_the_name_of_a_set_is_shown_and_never_run(paper: Paper, tmp_path: Path) -> None:
    hostile = "<img src=x onerror=alert(1)> $x^2$"
    write_built(tmp_path / "data" / hostile, build_city(1, places=20, trips=30))
    small = replace(
        paper,
        experiments=(EXPERIMENTS["directions"],),
        catalogue=Catalogue(tmp_path / "data", 5),
        out=tmp_path / "out",
    )
    small.compute(small.missing(), jobs=1, progress=lambda count: None)
    text = small.write()[0].read_text(encoding="utf-8")
    reader = PageReader(text)
    assert "img" not in reader.tags
    assert reader.inline == []
    assert hostile in reader.text
