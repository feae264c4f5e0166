"""Pinned atlases: their content is part of the identity, and never part of the promise."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest
from many import drawn_many
from refusals import refused
from reported import reported
from worlds import scattered, small_map, triangle

from nomadp.audit import measure
from nomadp.errors import DomainError
from nomadp.inference import decode
from nomadp.mechanisms import perturb_one
from nomadp.mechanisms.atlas import Atlas, PinnedCodebooks, build_pinned, design
from nomadp.mechanisms.atlas.codebook import CodebookTable
from nomadp.mechanisms.atlas.lloyd import follows_its_recipe
from nomadp.randomness import SeededRandom
from nomadp.reports.counts import drop_impossible
from nomadp.trajectory import TrajectorySet

LOCATIONS = scattered(40)
FOUR = Fraction(4)


def by_hand(locations, *tables, recipe="by hand", epsilon=1, near_count=1):
    pages = [
        CodebookTable(np.array(table, dtype=np.int32), near_count, math.nan) for table in tables
    ]
    return PinnedCodebooks(locations.sha256, recipe, Fraction(epsilon), None, tuple(pages))


def some_tracks(*lengths):
    rng = np.random.default_rng(3)
    return TrajectorySet.from_lists([rng.integers(0, 40, n) for n in lengths], size=40)


def test_the_pinned_atlases_of_a_recipe_are_those_everybody_builds():
    pinned = build_pinned(LOCATIONS, [3, 1, 3], FOUR, 30)
    assert pinned.lengths == (1, 3)
    for length in (1, 3):
        built = design(LOCATIONS, length, FOUR, 30)
        found = pinned.table(length)
        assert found.codewords.tolist() == built.codewords.tolist()
        assert (found.near_count, found.error_km) == (built.near_count, built.error_km)


def test_a_pinned_atlas_gives_the_law_of_a_built_one_under_a_name_of_its_own():
    pinned = build_pinned(LOCATIONS, [2], FOUR)
    built = Atlas(locations=LOCATIONS, epsilon=4)
    other = Atlas(locations=LOCATIONS, epsilon=4, pinned=pinned)
    secret = np.array([5, 6])
    weights = [each.channel(2).weights(secret).tolist() for each in (built, other)]
    assert weights[0] == weights[1]
    assert other.get_params() == {**built.get_params(), "pinned": pinned.sha256}
    assert pinned.sha256 in other.identity


def test_without_a_pinned_atlas_the_identity_is_as_it_always_was():
    # Seeded results and kept keys hang on these very words.
    mechanism = Atlas(locations=LOCATIONS, epsilon=4)
    assert json.loads(mechanism.identity) == {
        "mechanism": "atlas",
        "version": 3,
        "params": dict.fromkeys(["size", "near_count", "control_points"]) | {"epsilon": "4"},
        "locations": LOCATIONS.sha256,
    }


def test_another_content_is_another_identity():
    one, other = by_hand(triangle(), [[0, 1], [2, 2]]), by_hand(triangle(), [[0, 1], [2, 1]])
    mechanisms = [Atlas(locations=triangle(), epsilon=1, pinned=p) for p in (one, other)]
    assert one != other
    assert mechanisms[0] != mechanisms[1]
    assert mechanisms[0].identity != mechanisms[1].identity
    assert mechanisms[0] == mechanisms[0].with_params(epsilon=1)


@pytest.mark.parametrize("page", [[[0, 0]], [[3, 3], [0, 0]], [[0, 1], [1, 0], [2, 3], [1, 1]]])
def test_no_content_costs_privacy(page):
    here = small_map(4)
    mechanism = Atlas(locations=here, epsilon=1, pinned=by_hand(here, page))
    found = measure(mechanism, 2)
    assert found.ok
    assert found.transcript_loss <= 1


def test_many_at_once_report_pinned_journeys_as_the_program_does():
    mechanism = Atlas(
        locations=LOCATIONS, epsilon=4, pinned=build_pinned(LOCATIONS, [1, 2, 5, 8], FOUR, 9)
    )
    some, words = some_tracks(1, 2, 5, 8, 30), SeededRandom(1)
    alone = [perturb_one(mechanism, some[k], words.stream(k)) for k in range(len(some))]
    assert drawn_many(mechanism, some, words).tolist() == [y for one in alone for y in one]


def test_reports_of_a_pinned_atlas_can_be_decoded():
    rng = np.random.default_rng(8)
    pinned = by_hand(LOCATIONS, rng.integers(0, 40, (64, 2)), epsilon=3)
    mechanism = Atlas(locations=LOCATIONS, epsilon=3, pinned=pinned)
    some = some_tracks(*[2] * 50)
    drawn = drawn_many(mechanism, some, SeededRandom(1)).reshape(-1, 2)
    reports = reported(mechanism, list(drawn))
    assert len(decode(mechanism, reports)) == 100
    longer = reported(mechanism, [*drawn, [1, 2, 3]])
    assert drop_impossible(mechanism, longer).n_refused == 1  # there is no atlas of that length


def test_refuses_lengths_that_are_not_pinned_and_says_which_are():
    mechanism = Atlas(
        locations=LOCATIONS, epsilon=4, pinned=build_pinned(LOCATIONS, [2, 3], FOUR)
    )
    with refused(DomainError, "codebook_length_missing", length=8, lengths=(2, 3)):
        mechanism.channel(20)


def test_refuses_the_atlas_of_another_location_set():
    with refused(DomainError, "codebook_of_other_locations"):
        Atlas(locations=triangle(), epsilon=4, pinned=build_pinned(LOCATIONS, [2], FOUR))


@pytest.mark.parametrize(
    ("pages", "code", "facts"),
    [
        ([], "codebook_lengths_unordered", {"lengths": ()}),
        ([np.zeros((0, 2))], "codewords_invalid", {"codewords": 0}),
        ([[[0, 1], [2, 2], [0, 1]]], "codewords_invalid", {"codewords": 3}),
        ([[[0, 1]], [[2]]], "codebook_lengths_unordered", {"lengths": (2, 1)}),
        ([[[0]], [[1]]], "codebook_lengths_unordered", {"lengths": (1, 1)}),
    ],
)
def test_refuses_pinned_atlases_that_are_none(pages, code, facts):
    with refused(DomainError, code, **facts):
        by_hand(triangle(), *pages)


def test_locations_that_are_not_there_are_refused_when_the_atlas_is_opened():
    with refused(DomainError, "codebook_invalid", size=3):
        Atlas(locations=triangle(), epsilon=1, pinned=by_hand(triangle(), [[0, 3]])).atlas(2)


def test_tells_whether_building_again_gives_the_same():
    good = build_pinned(LOCATIONS, [1, 3], FOUR)
    changed = np.array(good.tables[1].codewords)
    changed[3, 1] = (changed[3, 1] + 1) % 40
    tables = good.tables[0].codewords, changed
    bad = by_hand(LOCATIONS, *tables, recipe=good.recipe, epsilon=4)
    assert follows_its_recipe(good, LOCATIONS) is True
    assert follows_its_recipe(bad, LOCATIONS) is False
    assert follows_its_recipe(by_hand(LOCATIONS, [[0]]), LOCATIONS) is None


def test_another_number_of_near_journeys_is_another_content():
    one, two = (by_hand(triangle(), [[0], [1], [2]], near_count=near) for near in (1, 2))
    assert one.sha256 != two.sha256
    mechanism = Atlas(locations=triangle(), epsilon=1, pinned=two)
    assert mechanism.channel(1).near_count == 2
    assert mechanism.with_params(near_count=1).channel(1).near_count == 1


def test_refuses_a_number_of_near_journeys_there_is_not():
    with refused(DomainError, "codewords_invalid", near_count=3, codewords=2):
        by_hand(triangle(), [[0], [1]], near_count=3)


def test_refuses_the_atlas_of_another_epsilon_or_size():
    pinned = build_pinned(LOCATIONS, [2], FOUR, 9)
    with refused(DomainError, "codebook_parameters_mismatch", epsilon="5", size=None):
        Atlas(locations=LOCATIONS, epsilon=5, pinned=pinned)
    with refused(DomainError, "codebook_parameters_mismatch", epsilon="4", size=8):
        Atlas(locations=LOCATIONS, epsilon=4, size=8, pinned=pinned)
