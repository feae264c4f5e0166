"""A task is named by all that it says, and says nothing beyond the ceilings."""

import base64
import hashlib
import json
from fractions import Fraction

import pytest
from refusals import check, refused

from nomadp.errors import BudgetError, TaskRefused
from nomadp.protocol import Task
from nomadp.protocol.canonical import canonical_bytes
from nomadp.protocol.task import is_task_id
from tests.protocol.conftest import fields, question


def good(**changes) -> Task:
    return Task(**fields(**changes))


def said(**changes) -> dict:
    return json.loads(good().content) | changes


def test_the_id_is_the_hash_of_tag_and_bytes():
    task = good()
    tag = hashlib.sha256(b"nomadp task v1").digest()
    digest = hashlib.sha256(tag + task.content).digest()
    assert base64.urlsafe_b64decode(task.id + "=") == digest
    assert len(task.id) == 43
    assert is_task_id(task.id)


@pytest.mark.parametrize("task", [good(), Task(**question()), Task(**question("visits"))])
def test_a_task_survives_its_bytes(task):
    again = Task.from_bytes(task.content, task.id)
    assert again == task
    assert hash(again) == hash(task)
    assert again.content == task.content


@pytest.mark.parametrize(
    "change",
    [
        {"locations_sha256": "0" * 64},
        {"domain_sha256": "0" * 64},
        {"salt": "AAECAwQFBgcICQoLDA0ODg"},
        {"purpose": "Where buses should go!"},
        {"epsilon": Fraction(3)},
        {"start": 20_001},
        {"end": 20_101},
        {"retention": 181},
        {"send_within": 1},
        {"min_batch_size": 101},
        {"reports_per_contributor": 2},
        {"length": 4},
        {"time_precision": 86_399},
    ],
)
def test_whatever_differs_for_one_person_gives_another_id(change):
    other = good(**change)
    assert other.id != good().id
    with refused(TaskRefused, "task_id_mismatch", expected=good().id, task_id=other.id):
        Task.from_bytes(other.content, good().id)


BOUNDS = {
    "time_precision": (3600, 31 * 86_400),
    "send_within": (0, 7 * 86_400),
    "min_batch_size": (1, 10**9),
    "length": (1, 8),
}


@pytest.mark.parametrize(("name", "low", "high"), [(n, *b) for n, b in BOUNDS.items()])
def test_a_number_is_taken_up_to_its_ceiling_and_no_further(name, low, high):
    for value in (low, high):
        more = {"end": 20_001, "retention": 50} if name == "time_precision" else {}
        assert getattr(good(**{name: value}, **more), name) == value
    for value in (low - 1, high + 1, float(low), str(low), None, True):
        if name == "length" and value is None:
            continue
        with refused(TaskRefused, "task_field_out_of_range", field=name):
            good(**{name: value})


@pytest.mark.parametrize("epsilon", ["10", "1/1000000", "7/3"])
def test_an_epsilon_within_the_ceiling_is_taken(epsilon):
    assert Task.from_bytes(good(epsilon=Fraction(epsilon)).content).epsilon == Fraction(epsilon)


@pytest.mark.parametrize(
    ("epsilon", "code"),
    [
        ("10.5", "epsilon_not_canonical"),
        ("21/2", "report_epsilon_out_of_range"),
        ("11", "report_epsilon_out_of_range"),
        ("4.0", "epsilon_not_canonical"),
        ("8/2", "epsilon_not_canonical"),
        (" 4", "epsilon_not_canonical"),
        ("4 ", "epsilon_not_canonical"),
        ("1e0", "epsilon_not_canonical"),
    ],
)
def test_an_epsilon_beyond_it_or_written_otherwise_is_refused(epsilon, code):
    with refused(TaskRefused, code):
        Task.from_bytes(canonical_bytes(said(epsilon=epsilon)))


@pytest.mark.parametrize("epsilon", ["0", "-1", "1_0", "", "x", "\u0664"])
def test_an_epsilon_that_is_none_is_refused(epsilon):
    with pytest.raises(TaskRefused) as caught:
        Task.from_bytes(canonical_bytes(said(epsilon=epsilon)))
    check(caught.value.__cause__, caught.value.code)
    assert isinstance(caught.value.__cause__, BudgetError)


@pytest.mark.parametrize("epsilon", [4, 4.0, "4", True, None])
def test_an_epsilon_is_an_exact_fraction(epsilon):
    with refused(TaskRefused, "report_epsilon_out_of_range", limit=10):
        good(epsilon=epsilon)


def test_a_person_spends_at_most_one_hundred_in_a_task():
    assert good(epsilon=Fraction(10), reports_per_contributor=10).epsilon_in_all == 100
    assert good(epsilon=Fraction(1, 4), reports_per_contributor=366).epsilon_in_all < 100
    with refused(TaskRefused, "task_epsilon_too_large", limit=100):
        good(epsilon=Fraction(10), reports_per_contributor=11)
    with refused(TaskRefused, "task_field_out_of_range", field="reports_per_contributor"):
        good(epsilon=Fraction(1, 10), reports_per_contributor=367)
    with refused(TaskRefused, "task_field_out_of_range", field="reports_per_contributor"):
        good(reports_per_contributor=0)


def test_a_task_lasts_up_to_two_years():
    good(end=20_000 + 732, retention=732)
    with refused(TaskRefused, "task_period_invalid"):
        good(end=20_000 + 733, retention=733)
    for end in (20_000, 19_999):
        with refused(TaskRefused, "task_period_invalid", end_s=end * 86_400):
            good(end=end)


def test_times_that_do_not_fit_are_told_as_days_that_people_know(wording):
    told = []
    for change in ({"end": 19_999}, {"end": 3_000_000_000}, {"retention": 99}):
        with pytest.raises(TaskRefused) as caught:
            good(**change)
        told.append(str(caught.value))
    wording("protocol", "times of a task that do not fit", "\n".join(told))


def test_reports_are_kept_until_the_end_and_up_to_five_years():
    good(retention=100)
    good(retention=1830)
    with refused(TaskRefused, "retention_shorter_than_task", task_s=100 * 86_400):
        good(retention=99)
    with refused(TaskRefused, "retention_too_long", limit_s=1830 * 86_400):
        good(retention=1831)


def test_a_window_for_sending_ends_before_reports_are_late():
    good(end=20_001, retention=2, send_within=86_400)
    with refused(TaskRefused, "retention_shorter_than_delay"):
        good(end=20_001, retention=2, send_within=86_401)
    with refused(TaskRefused, "retention_shorter_than_delay"):
        good(end=20_001, retention=1, send_within=1)


@pytest.mark.parametrize(
    "purpose",
    [
        "",
        " ",
        " a",
        "a ",
        "a\nb",
        "a\tb",
        "\x1b[2Ja",
        "\u202eabc",
        "\u200b",
        "a\u2028b",
        "a" * 501,
        5,
    ],
)
def test_a_purpose_is_a_sentence_that_shows_what_it_is(purpose):
    code = "field_not_text" if purpose == 5 else "purpose_malformed"
    with refused(TaskRefused, code):
        good(purpose=purpose)


def test_a_purpose_may_be_in_any_language():
    sentence = "Fahrg\u00e4ste z\u00e4hlen \U0001f68c " + "\u4e2d" * 480
    assert Task.from_bytes(good(purpose=sentence).content).purpose == sentence


@pytest.mark.parametrize("code_point", [0x378, 0x600, 0x1FAE9, 0x3FFFD, 0xE0002])
def test_a_purpose_is_judged_alike_by_every_version_of_unicode(code_point):
    """Unassigned, new and unusual: whoever reads the task must come to the same answer."""
    assert good(purpose=f"Buses {chr(code_point)}").purpose.endswith(chr(code_point))


@pytest.mark.parametrize("name", ["locations_sha256", "domain_sha256"])
@pytest.mark.parametrize(
    "value", ["", "0" * 63, "0" * 65, "A" * 64, "g" * 64, 1, "0" * 64 + "\n"]
)
def test_a_hash_has_sixty_four_digits(name, value):
    with refused(TaskRefused, "field_not_text" if value == 1 else "hash_malformed"):
        good(**{name: value})


@pytest.mark.parametrize(
    "salt", ["", "A" * 21, "A" * 23, "A" * 21 + "B", "A" * 21 + "=", "+" * 21 + "A", 5]
)
def test_a_salt_stands_for_sixteen_bytes(salt):
    with refused(TaskRefused, "field_not_text" if salt == 5 else "salt_malformed"):
        good(salt=salt)


@pytest.mark.parametrize(
    "name", ["exp", "tp", "atp", "brr", "ngram", "cgm", "tp-published", "", 5]
)
def test_only_what_has_reports_of_one_size_may_be_named(name):
    with refused(TaskRefused, "mechanism_not_for_tasks"):
        good(mechanism=name)


def test_another_version_of_a_mechanism_is_refused():
    for version in (2, 4, "3", True):
        with refused(TaskRefused, "mechanism_version_unknown", known=3):
            good(version=version)


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({}, "params_malformed"),
        ({"zones": "grid:3", "size": "4"}, "params_malformed"),
        ({"when": "weekday"}, "params_malformed"),
        ({"zones": 3}, "params_malformed"),
        ({"zones": "grid:03"}, "zones_rule_malformed"),
        ({"zones": "grid:12345"}, "zones_rule_malformed"),
        ({"zones": "\u0667"}, "zones_rule_malformed"),
        ({"zones": "polygons:" + "0" * 64}, "zones_rule_malformed"),
        ({"zones": "grid:3", "when": "hour"}, "when_unknown"),
        ({"zones": "grid:3", "when": ""}, "when_unknown"),
        (["zones"], "params_malformed"),
    ],
)
def test_a_question_has_zones_by_a_rule_and_perhaps_when(params, code):
    with refused(TaskRefused, code):
        Task(**question(params=params))


def test_polygons_are_named_by_the_hash_of_their_zones():
    named = question()["domain_sha256"]
    Task(**question(params={"zones": f"polygons:{named}", "when": "weekday"}))


def test_atlas_has_a_length_and_no_params_and_a_question_has_none():
    with refused(TaskRefused, "options_of_another_mechanism", mechanism="atlas"):
        good(length=None)
    with refused(TaskRefused, "options_of_another_mechanism", mechanism="trips"):
        Task(**question() | {"length": 3})
    with refused(TaskRefused, "params_malformed", mechanism="atlas"):
        good(params={"zones": "grid:3"})


@pytest.mark.parametrize("name", sorted(said()))
def test_every_field_is_needed(name):
    fewer = {other: value for other, value in said().items() if other != name}
    code = "mechanism_malformed" if name == "mechanism" else "fields_mismatch"
    with refused(TaskRefused, code):
        Task.from_bytes(canonical_bytes(fewer))


@pytest.mark.parametrize("strange", ["simulated", "uid", "", "zones_sha256", "Length"])
def test_no_other_field_is_taken(strange):
    with refused(TaskRefused, "fields_mismatch", unknown=1, missing=[]):
        Task.from_bytes(canonical_bytes(said(**{strange: "x"})))


@pytest.mark.parametrize("version", [0, 2, True, "1"])
def test_another_wire_version_is_refused(version):
    with refused(TaskRefused, "wire_version_unknown", known=1):
        Task.from_bytes(canonical_bytes(said(wire_version=version)))


def test_a_task_written_otherwise_is_refused():
    content = good().content
    for other in (content + b"\n", b" " + content, json.dumps(json.loads(content)).encode()):
        with refused(TaskRefused, "json_not_canonical"):
            Task.from_bytes(other)


def test_a_task_of_more_than_sixteen_kilobytes_is_refused():
    with refused(TaskRefused, "json_too_large", limit=16_384):
        Task.from_bytes(canonical_bytes(said(purpose="a" * 16_384)))


def test_times_are_counted_from_1970():
    assert good().epoch(20_000 * 86_400) == 20_000
    assert good().epoch(20_001 * 86_400 - 0.5) == 20_000


def test_params_cannot_be_changed_behind_its_back():
    params = {"zones": "grid:3"}
    task = Task(**question(params=params))
    before = task.id
    params["zones"] = "grid:4"
    assert task.params == {"zones": "grid:3"}
    assert Task(**question()).id == before


@pytest.mark.parametrize(
    "text", ["", "A" * 42, "A" * 44, "A" * 42 + "B", "A" * 42 + "=", "\u00e4" * 43]
)
def test_what_cannot_be_an_id_is_told_apart(text):
    assert not is_task_id(text)
