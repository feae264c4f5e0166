import re

import pytest

from nomadp.paper.cells import Setting
from nomadp.paper.datasets import SetKey
from nomadp.paper.results import Results
from nomadp.paper.sentences import WORDS, verdict
from nomadp.paper.specs import EXPERIMENTS


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_has_something_to_say(name: str, results: Results) -> None:
    sentences = verdict(EXPERIMENTS[name], results)
    assert sentences
    assert all(sentence.endswith(".") and "nan" not in sentence for sentence in sentences)


def test_no_words_are_left_without_an_experiment() -> None:
    assert WORDS.keys() == EXPERIMENTS.keys()


def test_the_frontier_tells_what_was_published_from_what_is_strict(results: Results) -> None:
    words = " ".join(verdict(EXPERIMENTS["frontier"], results))
    assert "keep to what they claim" in words
    assert (
        "TP as published (not private): at a claimed ε = 1 the draws reveal an unbounded loss"
        in words
    )
    assert "CGM and TraCS" in words


@pytest.mark.parametrize("name", ["ne", "prq", "frontier"])
def test_it_is_said_whether_a_report_or_its_estimate_is_meant(
    name: str, results: Results
) -> None:
    sentences = verdict(EXPERIMENTS[name], results)
    told = [words for words in sentences if "ATLAS" in words]
    assert told
    assert all(re.search(r"report|decoded", words) for words in told)


def test_the_frontier_gives_errors_as_reported_and_decoded(results: Results) -> None:
    last = verdict(EXPERIMENTS["frontier"], results)[-1]
    reported, decoded = (
        results.value(Setting(SetKey("north"), "atlas", (), "4", decoded=each), "ne").mean
        for each in (False, True)
    )
    assert f"ATLAS {reported:.4f} against {decoded:.4f}" in last
    assert "of ATLAS at 0 of 4 settings" in last  # sets, budgets: reports are the best answers


def test_table_1_is_explained_to_the_last_digit(results: Results) -> None:
    (words,) = verdict(EXPERIMENTS["table1"], results)
    assert words.startswith("All 36 printed values come out to the last digit")
    assert "4 instead of 2 at ε = 0.01, 0.05, 0.1, 0.5, 1 and 2" in words
