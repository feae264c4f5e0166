"""A whole audit: sound mechanisms pass, every broken variant is caught by name."""

import json
import math
from fractions import Fraction

import pytest
from refusals import refused

from nomadp.audit import GALLERY, AuditRequest, run_audit
from nomadp.audit.sampler import check_sampler, example_channels
from nomadp.errors import DomainError
from nomadp.laws import RandomizedResponse

pytestmark = pytest.mark.slow  # CI runs it


@pytest.fixture(scope="module")
def report():
    return run_audit(
        AuditRequest(
            epsilons=(Fraction(1, 10), Fraction(4)),
            lengths=(1, 2),
            draws=100_000,
            path_draws=0,  # test_paths.py
        )
    )


def test_every_private_mechanism_keeps_its_promise_and_spends_all_of_it(report):
    sound = [row for row in report.rows if row.private]
    assert {row.mechanism for row in sound} >= {"exp", "tp", "atp"}
    for row in sound:
        assert row.ok
        assert row.spent == (row.epsilon,)
        assert row.transcript_loss <= row.epsilon
        assert all(step.loss <= step.share for step in row.steps)


def test_the_published_variant_is_reported_as_it_is(report):
    (row,) = [row for row in report.rows if not row.private and row.epsilon == 4]
    assert row.ok
    assert row.transcript_loss == math.inf
    assert row.final_loss > 3.5


@pytest.mark.parametrize("name", GALLERY)
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(4)])
def test_every_broken_variant_is_flagged(report, name, epsilon):
    (row,) = [row for row in report.gallery if (row.name, row.epsilon) == (name, epsilon)]
    assert row.flagged


@pytest.mark.parametrize(
    ("name", "rule"),
    [
        ("union", "support"),
        ("centred-sectors", "support"),
        ("skipped-direction", "support"),
        ("own-location-only-if-target", "support"),
        ("domain-around-the-truth", "support"),
        ("shared-words", "support"),
        ("truth-always-held", "support"),
        ("others-by-the-truth", "support"),
        ("sensitivity-from-the-private-row", "scale"),
        ("squared-score", "step loss"),
        ("lying-too-rarely", "step loss"),
        ("stale-scale", "scale"),
        ("overspent-split", "budget"),
        ("extra-draw", "budget"),
    ],
)
def test_each_is_caught_for_its_own_reason(report, name, rule):
    assert all(rule in row.flagged_by for row in report.gallery if row.name == name)


def test_the_report_is_json_and_its_verdict_covers_everything(report):
    told = json.loads(json.dumps(report.as_dict(), allow_nan=False))
    assert told["ok"] is report.ok is True
    assert len(told["gallery"]) == 2 * len(GALLERY)
    assert {row["law"] for row in told["sampler"]} == set(example_channels())


def test_progress_is_told_to_the_end():
    seen = []
    request = AuditRequest(("exp",), (Fraction(1),), (1,), (), ("union",), 0, 100)
    run_audit(request, lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] == len(seen)


def test_refuses_a_variant_nobody_knows():
    with refused(DomainError, "unknown_variant", variant="onion"):
        run_audit(AuditRequest((), (), (), (), ("onion",), draws=0))


@pytest.mark.slow
@pytest.mark.parametrize("name", example_channels())
def test_ten_million_draws_follow_each_law(name):
    channel, secret = example_channels()[name]
    row = check_sampler(name, channel, secret, 10_000_000)
    assert row.ok
    assert row.detectable_bias < 0.002


def test_a_sampler_that_is_off_by_what_it_can_detect_is_caught():
    channel, secret = example_channels()["randomised response"]
    honest = check_sampler("x", channel, secret, 1_000_000)

    class Biased(RandomizedResponse):
        """States one law and is drawn from another."""

        drawing = True

        def weights(self, secret):
            weight = super().weights(secret)
            if Biased.drawing:
                Biased.drawing = (
                    False  # the draws come first, then the law they are held against
                )
                shift = round(1.5 * honest.detectable_bias * int(weight.sum()))
                weight[secret] -= shift
                weight[(secret + 1) % self.size] += shift
            return weight

    assert honest.ok
    assert not check_sampler("x", Biased(channel.size, channel.share), secret, 1_000_000).ok
