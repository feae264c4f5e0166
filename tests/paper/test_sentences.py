import re

import pytest

from nomadp.paper import findings
from nomadp.paper.cells import Setting
from nomadp.paper.datasets import SetKey
from nomadp.paper.lines import AS_PUBLISHED
from nomadp.paper.reference import direction_rows, largest_difference
from nomadp.paper.results import Results
from nomadp.paper.sentences import DECODING, SENTENCES, verdict
from nomadp.paper.specs import EXPERIMENTS
from nomadp.paper.style import label_of


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_has_something_to_say(name: str, results: Results) -> None:
    sentences = verdict(EXPERIMENTS[name], results)
    assert sentences
    assert all(sentence.endswith(".") and "nan" not in sentence for sentence in sentences)


def test_every_experiment_has_sentences_and_no_others() -> None:
    assert SENTENCES.keys() == EXPERIMENTS.keys()


def test_the_frontier_tells_what_was_published_from_what_is_strict(results: Results) -> None:
    claims = findings.worst_claims(results)
    published = {name: claims.pop(name) for name in AS_PUBLISHED if name in claims}
    assert published
    assert findings.all_hold(claims)
    sentences = verdict(EXPERIMENTS["frontier"], results)
    for name, (epsilon, losses) in published.items():
        assert losses["transcript_loss"] == "infinite"
        (words,) = (each for each in sentences if label_of(name) in each)
        assert f"ε = {epsilon}" in words
    assert all(any(label_of(name) in each for each in sentences) for name in claims)
    assert any("CGM" in each and "TraCS" in each for each in sentences)  # not audited


@pytest.mark.parametrize("name", ["ne", "prq", "frontier"])
def test_it_is_said_what_decoding_is(name: str, results: Results) -> None:
    assert DECODING in verdict(EXPERIMENTS[name], results)


def test_the_frontier_gives_errors_as_reported_and_decoded(results: Results) -> None:
    last = verdict(EXPERIMENTS["frontier"], results)[-1]
    reported, decoded = (
        results.value(Setting(SetKey("north"), "atlas", (), "4", decoded=each), "ne").mean
        for each in (False, True)
    )
    assert {f"{reported:.4f}", f"{decoded:.4f}"} <= set(re.findall(r"[\d.]+\d", last))
    # sets, budgets: reports of ATLAS are the best answers
    gains = [findings.decoding_gains(results, base) for base in ("north", "south")]
    atlas = [each.lower for some in gains for each in some if each.mechanism == "atlas"]
    assert (sum(each.count for each in atlas), sum(each.of for each in atlas)) == (0, 4)


def test_table_1_is_explained_to_the_last_digit(results: Results) -> None:
    rows = direction_rows()
    assert len(rows) == 36
    assert largest_difference("as_printed") < 1e-8 < largest_difference("by_equation")
    other = {
        row["epsilon"]: (row["chosen_as_printed"], row["chosen_by_equation"])
        for row in rows
        if row["chosen_as_printed"] != row["chosen_by_equation"]
    }
    assert {each for each in other if other[each] == (2, 4)} == {
        *("0.01", "0.05", "0.1", "0.5", "1", "2")
    }
    (words,) = verdict(EXPERIMENTS["table1"], results)
    assert {"36", *other} <= set(re.findall(r"[\d.]*\d", words))
