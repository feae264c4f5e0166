"""What people are told of a task."""

import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from nomadp.budget import exp_lower, exp_upper
from nomadp.locations import LocationSet
from nomadp.protocol import Task, TaskBundle
from nomadp.protocol.create import create_task
from nomadp.protocol.guarantee import BEYOND_CALENDAR, Guarantee
from nomadp.protocol.public_files import parse_atlas
from nomadp.protocol.registry import Curator, registry_record, registry_yaml
from nomadp.protocol.verify import Verified
from nomadp.zones import Zones
from tests.protocol.conftest import ATLAS, NINE, ZONES, fields, question
from tests.protocol.test_files import atlas_with


@pytest.mark.parametrize("epsilon", ["1/3", "4", "10"])
@pytest.mark.parametrize("mechanism", ["atlas", "trips", "starts", "ends", "visits"])
def test_the_law_of_every_task_keeps_epsilon_exactly(mechanism, epsilon):
    more = {"length": 2} if mechanism == "atlas" else {}
    bundle = create_task(
        NINE, mechanism, epsilon=epsilon, purpose="A test.", end=30_000, start=29_990, **more
    )
    promise = Guarantee(bundle)
    assert 1 <= promise.largest_ratio <= exp_lower(Fraction(epsilon))
    assert promise.holds


@pytest.mark.parametrize("mechanism", ["atlas", "trips"])
def test_the_largest_ratio_is_that_of_weights_or_of_words_whichever_is_more(
    mechanism, monkeypatch
):
    more = {"length": 2} if mechanism == "atlas" else {}
    bundle = create_task(
        NINE, mechanism, epsilon=4, purpose="A test.", end=30_000, start=29_990, **more
    )
    law = bundle.mechanism.report_law(bundle.report_length).channel
    assert Guarantee(bundle).largest_ratio == max(law.bound, law.word_ratio)
    for name in ("bound", "word_ratio"):
        with monkeypatch.context() as patched:
            patched.setattr(type(law), name, Fraction(1000))
            vars(law).pop(name, None)
            assert Guarantee(bundle).largest_ratio == 1000
            assert not Guarantee(bundle).holds


def test_odds_are_rounded_up(atlas_bundle):
    promise = Guarantee(atlas_bundle)
    assert promise.odds == "54.6"
    assert exp_lower(Fraction(4)) < exp_upper(Fraction(4)) < Fraction(promise.odds)
    assert promise.posterior_bounds == {"1": "35.6", "10": "85.9", "50": "98.3"}


def test_reports_of_one_person_add_up():
    promise = Guarantee(TaskBundle(Task(**fields(reports_per_contributor=2)), NINE, ATLAS))
    assert exp_upper(Fraction(8)) <= Fraction(promise.odds_in_all.replace(",", "")) < 2981
    assert "2,981" in promise.adds_up


@pytest.mark.parametrize(
    ("epsilon", "times"),
    [("1/10", "1.11"), ("1", "2.8"), ("2", "7.4"), ("4", "55"), ("10", "22,027")],
)
def test_odds_are_told_in_plain_numbers_that_are_never_too_small(epsilon, times):
    bundle = create_task(
        NINE, "starts", epsilon=epsilon, purpose="A test.", end=30_000, start=29_990
    )
    promise = Guarantee(bundle)
    assert promise.times == promise.as_dict()["times_at_most"] == times
    assert Fraction(times.replace(",", "")) >= exp_upper(Fraction(epsilon))
    assert f" {times} " in promise.guaranteed


@pytest.mark.parametrize("mechanism", ["atlas", "trips", "visits"])
def test_how_many_reports_contain_the_truth_follows_from_the_law(mechanism):
    options = {"length": 2} if mechanism == "atlas" else {"zones": "grid:2"}
    bundle = create_task(
        NINE, mechanism, epsilon=2, purpose="A test.", end=30_000, start=29_990, **options
    )
    law = bundle.mechanism.report_law(bundle.report_length).channel
    if mechanism == "atlas":
        truth = np.array([[0], [1]])
        weights, holds = law.weights(truth)[0], law.near(truth)[0]
    else:
        name, named_by = bundle.mechanism.label_name(0), bundle.mechanism.labels_of
        weights = law.weights(0)
        holds = np.array([name in named_by(law.report(int(each))) for each in law.outputs])
    chance = weights[holds].sum() / weights.sum()
    count, of = re.findall("[0-9]+", Guarantee(bundle).noise)[:2]
    assert (int(count), of) == (round(100 * chance), "100")


def test_a_question_with_one_answer_hides_nothing():
    bundle = create_task(
        NINE,
        "starts",
        epsilon=2,
        purpose="A test.",
        end=30_000,
        start=29_990,
        zones=named(NINE, [0] * 9, ["all"]),
    )
    assert "100" not in Guarantee(bundle).noise


def named(places, of, names):
    """Zones as polygons make them."""
    made = Zones(places, of, tuple(names), "")
    return replace(made, rule=f"polygons:{made.sha256}")


SAID = {"epsilon": 4, "purpose": "A test.", "start": 29_990, "end": 30_000}


def asks(mechanism, **more):
    return Guarantee(create_task(NINE, mechanism, **SAID, **more)).asks


@pytest.mark.parametrize("names", [["Mills", "Market"], ["Mills", "Old Town", "Market"]])
def test_areas_are_told_by_name_and_never_by_a_hash(names):
    zones = named(NINE, [k % len(names) for k in range(9)], names)
    told = asks("trips", zones=zones)
    assert all(name in told for name in names)
    assert zones.sha256 not in told


def test_what_a_task_asks_is_said_for_every_mechanism(wording):
    two, three = ["Mills", "Market"], ["Mills", "Old Town", "Market"]
    told = [
        asks("atlas", length=3),
        asks("atlas", length=1),
        *(asks(each, zones="grid:3") for each in ("trips", "starts", "ends", "visits")),
        *(asks("starts", zones="grid:3", when=each) for each in ("day-part", "weekday")),
        asks("trips", zones=named(NINE, [k % 2 for k in range(9)], two)),
        asks("trips", zones=named(NINE, [k % 3 for k in range(9)], three)),
    ]
    wording("protocol", "what a task asks", "\n".join(told))


def test_of_many_areas_some_are_named():
    names = tuple(f"area {k}" for k in range(16))
    places = LocationSet.from_columns(names, [40 + k / 50 for k in range(16)], [0.0] * 16)
    zones = named(places, range(16), names)
    bundle = create_task(
        places, "ends", epsilon=4, purpose="A test.", end=30_000, start=29_990, zones=zones
    )
    told = Guarantee(bundle).asks
    assert [name for name in names if name in told] == [*names[:10]]
    assert " 6 " in told


def test_an_atlas_in_which_all_are_near_tells_nothing():
    book = parse_atlas(atlas_with(near_count=len(ATLAS.tables[0].codewords)))
    bundle = TaskBundle(Task(**fields(domain_sha256=book.sha256)), NINE, book)
    assert Guarantee(bundle).largest_ratio == 1


def test_a_contributor_reads_what_is_and_is_not_covered(atlas_bundle, wording):
    wording(
        "protocol", "guarantee of an ATLAS task", "\n".join(Guarantee(atlas_bundle).lines())
    )
    delayed = question(send_within=7200, reports_per_contributor=2)
    asked = Guarantee(TaskBundle(Task(**delayed), NINE, ZONES))
    wording("protocol", "guarantee of a delayed task of trips", "\n".join(asked.lines()))


def test_what_is_checked_is_said(atlas_bundle, zones_bundle, wording):
    rows = ATLAS.tables[0].codewords.tolist()
    other = parse_atlas(atlas_with(journeys=rows[::-1]))
    unknown = parse_atlas(atlas_with(recipe="another"))
    exceeding = TaskBundle(atlas_bundle.task, NINE, ATLAS)
    object.__setattr__(exceeding, "task", Task(**fields(epsilon=Fraction(39, 10))))
    bundles = {
        "as its rule makes it": zones_bundle,
        "not as its rule makes it": TaskBundle(
            Task(**fields(domain_sha256=other.sha256)), NINE, other
        ),
        "of an unknown rule": TaskBundle(atlas_bundle.task, NINE, unknown),
        "beyond its epsilon": exceeding,
    }
    told = [
        f"{name}\n" + "\n".join(Verified(bundle).lines()) for name, bundle in bundles.items()
    ]
    hide = {bundle.task.id: "TASK" for bundle in bundles.values()}
    wording("protocol", "verified task", "\n\n".join(told), hide=hide)


def test_what_follows_its_public_rule_is_told_from_what_does_not(atlas_bundle, zones_bundle):
    assert Verified(atlas_bundle).follows is True
    assert Verified(zones_bundle).follows is True
    rows = ATLAS.tables[0].codewords.tolist()
    other = parse_atlas(atlas_with(journeys=rows[::-1]))
    bundle = TaskBundle(Task(**fields(domain_sha256=other.sha256)), NINE, other)
    assert Verified(bundle).follows is False
    assert not Verified(bundle).ok
    unknown = parse_atlas(atlas_with(recipe="another"))
    assert Verified(TaskBundle(atlas_bundle.task, NINE, unknown)).follows is None
    turned = Zones(NINE, ZONES.of[::-1], ZONES.names, "grid:3")
    asked = Task(**question() | {"domain_sha256": turned.sha256})
    assert Verified(TaskBundle(asked, NINE, turned)).follows is False


SCHEMA = {
    "url_slug": str,
    "deployment": {
        "basic": {
            "name": str,
            "data_curators": [
                {
                    "data_curator_name": str,
                    "data_curator_type": {"Government", "Industry", "Nonprofit"},
                }
            ],
            "description": str,
            "intended_use": str,
            "data_product_type": {"Summary statistics"},
            "data_product_region": str,
            "publication_date": str,
        },
        "dp_variant": {
            "variant_name": {"Pure DP"},
            "data_domain": str,
            "unprotected_quantities": str,
        },
        "privacy_loss": {
            "privacy_unit": str,
            "privacy_unit_details": str,
            "privacy_parameters": {"epsilon": float},
            "privacy_parameters_details": str,
        },
        "deployment_model": {
            "model_name": {"Local"},
            "model_name_details": str,
            "trust_assumptions": str,
            "actors": str,
            "release_type": {"One release", "Many releases"},
            "release_type_details": str,
            "data_source_type": {"Static", "Dynamic"},
            "access_type": {"Interactive", "Non-interactive"},
        },
        "implementation": {
            "preprocessing_and_hyperparameter_tuning": str,
            "mechanisms": str,
            "composition": str,
            "post_processing": str,
            "additional_information": str,
        },
        "administrative": {"status": {"Draft"}, "registry_authors": [str], "tier": int},
    },
}
"""What the registry's own schema (2026) allows of what we fill in."""


def conforms(value, schema) -> bool:
    if isinstance(schema, dict):
        return value.keys() == schema.keys() and all(
            conforms(value[k], schema[k]) for k in schema
        )
    if isinstance(schema, list):
        return bool(value) and all(conforms(each, schema[0]) for each in value)
    return value in schema if isinstance(schema, set) else type(value) is schema


@pytest.mark.parametrize("which", ["atlas_bundle", "zones_bundle"])
def test_the_registry_gets_a_record_of_its_schema(which, request):
    bundle = request.getfixturevalue(which)
    record = registry_record(bundle, Curator("A city", "Government", "Chicago"))
    assert conforms(record, SCHEMA)
    assert record["deployment"]["privacy_loss"]["privacy_parameters"]["epsilon"] == 4.0


def parsed_yaml(text):
    """Strict: names, two blanks a level, double-quoted text or numbers, lists of either."""
    import json

    lines = [(len(line) - len(line.lstrip(" ")), line.strip()) for line in text.splitlines()]

    def block(at, depth):
        found = [] if lines[at][1].startswith("- ") else {}
        while at < len(lines) and lines[at][0] == depth:
            line = lines[at][1]
            if isinstance(found, list):
                lines[at] = (depth + 2, line[2:])
                if ": " in line.split('"')[0]:
                    value, at = block(at, depth + 2)
                else:
                    value, at = json.loads(line[2:]), at + 1
                found.append(value)
                continue
            name, _, rest = line.partition(":")
            assert name.isidentifier()
            assert name not in found
            if rest:
                found[name], at = json.loads(rest), at + 1
            else:
                found[name], at = block(at + 1, depth + 2)
        return found, at

    value, end = block(0, 0)
    assert end == len(lines)
    return value


def test_the_record_is_written_as_yaml_that_says_the_same():
    purpose = 'Say "where": # - & * {a} \\ \U0001f68c'
    bundle = TaskBundle(Task(**fields(purpose=purpose, epsilon=Fraction(4))), NINE, ATLAS)
    curator = Curator("A: city", "Industry", "- here")
    assert parsed_yaml(registry_yaml(bundle, curator)) == registry_record(bundle, curator)


def test_an_epsilon_that_has_no_decimals_is_rounded_up_for_the_registry():
    bundle = create_task(
        NINE, "trips", epsilon="1/3", purpose="A test.", end=30_000, start=29_990
    )
    loss = registry_record(bundle, Curator())["deployment"]["privacy_loss"]
    assert Fraction(loss["privacy_parameters"]["epsilon"]) >= Fraction(1, 3)
    assert "1/3" in loss["privacy_parameters_details"]


def test_the_registry_is_told_in_words(atlas_bundle, wording):
    text = registry_yaml(atlas_bundle, Curator("A city", "Government", "Chicago"))
    slug = atlas_bundle.task.id.lower().replace("_", "-").strip("-")
    hide = {atlas_bundle.task.id: "TASK", slug: "SLUG"}
    wording("protocol", "record for a registry of deployments", text, hide=hide)


def test_a_law_that_loses_more_than_its_task_says_is_flagged(atlas_bundle):
    bundle = TaskBundle(atlas_bundle.task, NINE, ATLAS)
    assert Verified(bundle).ok
    claimed = Task(**fields(epsilon=Fraction(39, 10)))
    object.__setattr__(bundle, "task", claimed)  # no such bundle can be made
    assert not Guarantee(bundle).holds
    assert not Verified(bundle).ok
    assert Verified(bundle).as_dict()["law_keeps_epsilon"] is False


def test_how_many_reports_analysts_see_at_least_is_told():
    least = TaskBundle(Task(**question(min_batch_size=137)), NINE, ZONES)
    assert [" 137 " in each for each in Guarantee(least).seen] == [False, False, True, False]


def test_a_task_beyond_the_calendar_can_be_verified():
    far = {"start": 3_362_902_900, "end": 3_362_902_940, "retention": 50}
    bundle = TaskBundle(Task(**question(**far)), NINE, ZONES)
    assert Guarantee(bundle).dates == (BEYOND_CALENDAR,) * 2
    assert Verified(bundle).as_dict()["ok"]
