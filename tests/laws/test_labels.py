"""Laws for direct questions: what is drawn, word by word, is what is stated and paid for."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from refusals import refused
from worlds import exactly_worst

from nomadp.budget import as_epsilon, exp_lower
from nomadp.errors import BudgetError, DomainError, InvalidArgument, OutOfRange
from nomadp.laws import ProjectiveResponse, SubsetSelection, law_of_labels
from nomadp.laws.incidence import by_listing, by_transform
from nomadp.laws.projective import best_space
from nomadp.laws.selection import best_count
from nomadp.randomness import SeededRandom

SHARES = [as_epsilon(text) for text in ("0.01", "1", "4", "8.5", "20")]
SETS = [SubsetSelection(d, w, as_epsilon(1)) for d in range(2, 6) for w in range(1, d)]
SPACES = [
    ProjectiveResponse(size, order, dimensions, as_epsilon(1))
    for size, order, dimensions in (
        (2, 2, 2),
        (4, 2, 3),
        (7, 2, 4),
        (3, 3, 2),
        (9, 3, 3),
        (5, 5, 2),
    )
]
SMALL = pytest.mark.parametrize("law", [*SETS, *SPACES], ids=repr)


def cells(law, inside):
    """For each cell that the first word's answer leaves to the others, its first and its last
    row of words: between them nothing changes, so cells are what is drawn."""
    ranges = law.ranges[0 if inside else 1]
    border = math.ceil(law.true_chance * 2**64)
    ends = (0, border - 1) if inside else (border, 2**64 - 1)
    spare = law.word_count - 1 - len(ranges)
    for row in product(*map(range, ranges)):
        pairs = list(zip(row, ranges, strict=True))
        first = [-(-index * 2**64 // r) for index, r in pairs]
        last = [-(-(index + 1) * 2**64 // r) - 1 for index, r in pairs]
        yield [ends[0], *first, *[0] * spare], [ends[1], *last, *[2**64 - 1] * spare]


def drawn_law(law, secret):
    """The law of the drawing itself, with words so fine that every cell is exact."""
    found = dict.fromkeys(law.outputs.tolist(), Fraction(0))
    for inside, chance in ((True, law.true_chance), (False, 1 - law.true_chance)):
        rows = list(cells(law, inside))
        for first, last in rows:
            taken = iter(first)
            output = law.draw(secret, taken.__next__)
            assert next(taken, None) is None, "another number of words"
            assert law.draw(secret, iter(last).__next__) == output
            found[output] += chance / len(rows)
    return found


@SMALL
def test_the_drawn_law_is_the_stated_one_exactly(law):
    for secret in range(law.size):
        weight = law.weights(secret).tolist()
        stated = {y: Fraction(w, sum(weight)) for y, w in zip(law.outputs, weight, strict=True)}
        assert drawn_law(law, secret) == stated


@SMALL
def test_the_chances_of_support_are_those_of_the_law(law):
    for secret in range(law.size):
        held = [Fraction(0)] * law.size
        weight = law.weights(secret).tolist()
        for output, w in zip(law.outputs.tolist(), weight, strict=True):
            values = np.array(law.report(output))
            for label in np.flatnonzero(law.support(values, np.ones_like(values))):
                held[label] += Fraction(w, sum(weight))
        assert held.pop(secret) == law.true_chance
        assert set(held) == {law.other_chance}


@SMALL
def test_the_variance_of_all_shares_together_is_the_formula_whatever_the_truth(law):
    p, q = law.true_chance, law.other_chance
    for shares in ([1] + [0] * (law.size - 1), [Fraction(1, law.size)] * law.size):
        each = [f * p * (1 - p) + (1 - f) * q * (1 - q) for f in shares]
        assert sum(each) / (p - q) ** 2 == law.variance


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("size", [2, 5, 9])
def test_a_share_is_spent_and_not_more(size, share):
    for law in (SubsetSelection(size, best_count(size, share), share), best_space(size, share)):
        assert exactly_worst(law, range(size)) == law.bound <= exp_lower(share)
        assert math.log(law.bound) == pytest.approx(float(share), rel=1e-5)
        assert len(set(law.weights(np.arange(size)).sum(axis=1).tolist())) == 1
        assert (min(law.extremes), max(law.extremes)) == extremes(law)


def extremes(law):
    weight = law.weights(0).tolist()
    return Fraction(min(weight), sum(weight)), Fraction(max(weight), sum(weight))


@pytest.mark.parametrize("share", [as_epsilon("0.000001"), *SHARES])
@pytest.mark.parametrize("size", [1, 2, 16, 256, 5000, 16384, 65536, 2**20, 3 * 10**6, 2**24])
def test_at_any_size_words_keep_the_share(size, share):
    law = law_of_labels(size, share)
    assert law.word_ratio <= exp_lower(share)
    assert law.word_ratio >= 1


def test_the_loss_in_words_takes_the_most_words_of_one_output_and_the_fewest_of_another():
    """Two of four: inside, a word picks among 3; outside, one among 2 and one among 3."""
    law = SubsetSelection(4, 2, Fraction(1))
    inside = math.ceil(law.true_chance * 2**64)
    fewest, most = 2**64 // 3, 2**64 // 3 + 1
    # Three words in all; outside, two rows of numbers lead to each set.
    ratio = Fraction(inside * most * 2**64, (2**64 - inside) * 2 * 2**63 * fewest)
    assert ratio <= law.word_ratio <= ratio * (1 + Fraction(1, 2**150))


def test_a_weight_that_gives_nothing_away_is_found_in_words():
    """At e^share itself, what 64-bit words cannot resolve is a loss beyond the share."""
    law = SubsetSelection(1000, 7, Fraction(493, 100))
    unpaid = SubsetSelection(1000, 7, law.share)
    vars(unpaid).clear()
    unit = 2**60
    heavy = math.floor(unit * exp_lower(law.share))
    vars(unpaid).update(size=1000, count=7, share=law.share, light=unit, heavy=heavy)
    assert law.word_ratio < exp_lower(law.share) < unpaid.word_ratio


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("size", [2, 3, 10, 60])
def test_the_best_number_of_labels_is_that_of_the_least_variance(size, share):
    every = [SubsetSelection(size, w, share) for w in range(1, size // 2 + 1)]
    best = min(every, key=lambda law: law.variance)
    assert SubsetSelection(size, best_count(size, share), share).variance == best.variance


@pytest.mark.parametrize(
    ("size", "share"),
    [(20_000, "0.01"), (20_000, "1"), (65_536, "4"), (2**20, "6"), (3 * 10**6, "8.5")],
)
def test_a_space_is_nearly_as_exact_as_the_best_sets_where_it_is_used(size, share):
    """Within 4 % of Ye and Barg's optimum, which nothing can beat."""
    law, odds = law_of_labels(size, Fraction(share)), exp_lower(Fraction(share))
    assert isinstance(law, ProjectiveResponse)
    w = best_count(size, law.share)
    p = w * odds / (w * odds + size - w)
    q = (w - p) / (size - 1)
    optimum = (size * q * (1 - q) + (1 - p - q) * (p - q)) / (p - q) ** 2
    assert law.variance <= optimum * Fraction(104, 100)


@pytest.mark.parametrize("share", [as_epsilon(text) for text in ("0.1", "2", "9")])
def test_no_prime_in_reach_does_better_than_the_chosen_one(share):
    size, chosen = 20_000, best_space(20_000, share)
    for order in (2, 3, 5, 7, 11, 13, 17, 29, 53, 101, 1009, 5003, 8111, 20011):
        dimensions = next(t for t in range(2, 20) if order ** (t - 1) >= size)
        assert ProjectiveResponse(size, order, dimensions, share).variance >= chosen.variance


@pytest.mark.parametrize(
    ("size", "share", "kind"),
    [
        (16384, "0.1", SubsetSelection),  # a bit for each label
        (16385, "0.1", ProjectiveResponse),
        (65536, "5", SubsetSelection),  # 439 labels of 2 bytes
        (65536, "4", ProjectiveResponse),  # 1,179 of them
        (70000, "5", SubsetSelection),  # 469 labels of 3 bytes
        (2**20, "5", ProjectiveResponse),
    ],
)
def test_a_report_stays_within_two_kilobytes(size, share, kind):
    assert type(law_of_labels(size, Fraction(share))) is kind


@pytest.mark.parametrize(
    "law",
    [
        SubsetSelection(40, 7, Fraction(1)),
        SubsetSelection(3000, 55, Fraction(4)),
        ProjectiveResponse(3000, 53, 4, Fraction(4)),
        ProjectiveResponse(2**20, 22027, 3, Fraction(10)),
        SubsetSelection(1, 1, Fraction(1)),
    ],
    ids=repr,
)
def test_many_draws_are_single_draws_and_possible(law):
    labels = np.arange(60) * 7 % law.size
    randomness = SeededRandom(2)
    many = law.drawn(labels, randomness.rows(np.arange(60), law.word_count))
    alone = [law.draw(x, randomness.stream(k).next) for k, x in enumerate(labels.tolist())]
    assert [list(law.report(output)) for output in alone] == many.tolist()
    assert law.possible(many).all()


@pytest.mark.parametrize(
    "rows", [[[1, 2]], [[1, 2, 2]], [[2, 1, 3]], [[-1, 2, 3]], [[1, 2, 9]], [[1, 2, 3, 4]]]
)
def test_what_is_no_report_of_a_set_is_told(rows):
    assert not SubsetSelection(9, 3, Fraction(1)).possible(np.array(rows)).any()


@pytest.mark.parametrize("rows", [[[-1]], [[13]], [[1, 2]]])
def test_what_is_no_point_of_a_space_is_told(rows):
    assert not ProjectiveResponse(9, 3, 3, Fraction(1)).possible(np.array(rows)).any()


@pytest.mark.parametrize(
    ("order", "dimensions", "size"), [(2, 5, 11), (3, 4, 27), (7, 3, 40), (53, 2, 53)]
)
def test_both_ways_to_count_support_agree_with_every_pair(order, dimensions, size):
    law = ProjectiveResponse(size, order, dimensions, Fraction(1))
    rng = np.random.default_rng(1)
    points = law.coordinates(np.arange(law.output_count))
    counts = rng.integers(0, 9, len(points))
    digits = law.digits(np.arange(size))
    rest = (points[:, :1] + points[:, 1:] @ digits.T) % order
    pairs = (counts[:, None] * (rest == 0)).sum(axis=0)
    assert by_listing(points, counts, order, size).tolist() == pairs.tolist()
    assert by_transform(points, counts, order, size).tolist() == pairs.tolist()


def test_a_million_reports_are_counted_exactly_by_a_transform():
    law = ProjectiveResponse(40_000, 53, 4, Fraction(4))
    rng = np.random.default_rng(1)
    values = rng.choice(law.output_count, 2000, replace=False)
    counts = rng.integers(1, 1000, 2000)
    points = law.coordinates(values)
    found = by_transform(points, counts, law.order, law.size)
    assert found.tolist() == by_listing(points, counts, law.order, law.size).tolist()


def test_an_input_out_of_range_is_refused_without_being_shown():
    for law in (SETS[-1], SPACES[0]):
        for read in (
            law.weights,
            lambda secret, law=law: law.draw(secret, iter([0] * 99).__next__),
        ):
            with refused(OutOfRange, "input_out_of_range") as refusal:
                read(77)
            assert "77" not in str(refusal.value)
            with refused(OutOfRange, "input_out_of_range"):
                read(-1)


def test_more_sets_than_can_be_walked_are_not_enumerated():
    with refused(InvalidArgument, "too_many_outputs"):
        SubsetSelection(256, 5, Fraction(4)).weights(0)


def test_refuses_what_words_or_labels_do_not_allow():
    with refused(BudgetError, "word_precision_exceeded"):
        SubsetSelection(2**20, 2**19, Fraction(1))
    # Of 2^64 words, 2^23 would say that the truth is not supported.
    with refused(BudgetError, "word_precision_exceeded"):
        SubsetSelection(5000, 4999, Fraction(20))
    with refused(DomainError, "label_count_out_of_range", most=2**24):
        law_of_labels(2**24 + 1, Fraction(1))
    with refused(InvalidArgument, "count_out_of_range", count=4, size=4):
        SubsetSelection(4, 4, Fraction(1))
    for order, dimensions in ((4, 3), (3, 2), (17, 1)):
        with refused(
            InvalidArgument, "projective_space_unsuitable", order=order, dimensions=dimensions
        ):
            ProjectiveResponse(9, order, dimensions, Fraction(1))


@pytest.mark.parametrize("power", [24, 28])
def test_a_share_so_small_that_reports_would_tell_nothing_has_no_variance(power):
    share = Fraction(1, 2**power)
    for size in (2, 12):  # the smallest sets: known answers pin their law
        with refused(BudgetError, "share_too_small"):
            _ = law_of_labels(size, share).variance
    with refused(BudgetError, "share_too_small"):
        law_of_labels(100_000, share)
    assert law_of_labels(1, share).variance == 0


@pytest.mark.parametrize("size", [2, 12, 100_000])
def test_the_smallest_share_of_which_reports_tell_something_has_a_variance(size):
    assert law_of_labels(size, Fraction(1, 2**23)).variance > 0
