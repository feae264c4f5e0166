"""Headers came from anybody: what cannot be is refused in one sentence, and soon."""

import json

import pytest
from refusals import refused
from worlds import scattered

import nomadp
from nomadp.errors import BudgetError, DomainError, NomadpError, SchemaError
from nomadp.mechanisms import EXPERIMENTAL, MECHANISMS, PUBLISHED, make_mechanism
from nomadp.randomness import KeyedRandom, RandomSource, SeededRandom, SystemRandom, new_key
from nomadp.reports.header import BYTES_MAX, FORMAT, Header

WORLD = scattered(9)
ATLAS = make_mechanism("atlas", WORLD, 4, size=16)
GOOD = Header.of(ATLAS, None, path="numba").as_dict()
NEEDED = set(GOOD) - {"format", "params", "linked", "path"}


def read(**changes):
    return Header.from_json(json.dumps(GOOD | changes).encode())


@pytest.mark.parametrize("name", [*MECHANISMS, *PUBLISHED, *EXPERIMENTAL])
@pytest.mark.parametrize("words", [None, KeyedRandom(new_key()), SeededRandom(1)])
def test_a_header_survives_its_json_and_makes_its_mechanism_again(name, words):
    mechanism = make_mechanism(name, WORLD, "7/2")
    header = Header.of(mechanism, words, linked=True, path="reference")
    again = Header.from_json(header.to_json())
    assert again == header
    assert again.mechanism_for(WORLD).identity == mechanism.identity
    assert header.private is (mechanism.private and not isinstance(words, SeededRandom))


class ConstantKey(KeyedRandom):
    """Somebody else's source, which says of itself whatever it likes."""

    def __init__(self) -> None:
        super().__init__(bytes(32))


class ConstantSystem(SystemRandom):
    def bound_to(self, purpose):
        return KeyedRandom(bytes(32))


class ConstantSource(RandomSource):
    def stream(self, index):
        return self.bound_to("").stream(index)

    def rows(self, indices, width):
        return self.bound_to("").rows(indices, width)

    def bound_to(self, purpose):
        return KeyedRandom(bytes(32))

    def named(self, names):
        return self.bound_to("").named(names)


@pytest.mark.parametrize("source", [ConstantKey, ConstantSystem, ConstantSource])
def test_a_foreign_source_of_words_is_not_the_systems(source):
    header = Header.of(ATLAS, source())
    assert (header.randomness, header.private) == ("unknown", False)
    city = nomadp.synthetic_city(seed=1, places=50, trips=5)
    exp = make_mechanism("exp", city.locations, 1)
    found = nomadp.perturb_set(exp, city.trajectories, source())
    assert isinstance(found, nomadp.SimulatedReports)


def test_the_systems_words_and_a_key_are_what_they_are_called():
    own = {"system": [None, SystemRandom()], "keyed": [KeyedRandom(bytes(32))]}
    own["keyed"].append(own["keyed"][0].named(["a"]))
    for name, sources in own.items():
        assert {Header.of(ATLAS, source).randomness for source in sources} == {name}


@pytest.mark.parametrize("key", sorted(NEEDED))
def test_a_header_must_say_how_reports_were_made(key):
    said = {name: value for name, value in GOOD.items() if name != key}
    with refused(SchemaError, "header_incomplete", missing=(key,)):
        Header.from_json(json.dumps(said).encode())


BAD = {
    "an atlas without end": {"params": GOOD["params"] | {"size": 10**12}},
    "a negative atlas": {"params": GOOD["params"] | {"size": -5}},
    "an atlas of text": {"params": GOOD["params"] | {"size": "many"}},
    "half an atlas": {"params": GOOD["params"] | {"size": 1.5}},
    "a list of options": {"params": ["size"]},
    "an option in an option": {"params": {"size": {"a": 1}}},
    "too many options": {"params": {f"o{k}": 1 for k in range(99)}},
    "an unknown option": {"params": GOOD["params"] | {"colour": "red"}},
    "long text": {"params": GOOD["params"] | {"size": "9" * 300}},
    "an unknown mechanism": {"mechanism": "atlantis"},
    "another version": {"mechanism_version": 99},
    "a version in text": {"mechanism_version": "1"},
    "a version that is true": {"mechanism_version": True},
    "epsilon as a number": {"epsilon": 4},
    "an epsilon without end": {"epsilon": "1e99999999"},
    "an epsilon with a loop": {"epsilon": "9" * 200},
    "no epsilon": {"epsilon": "0"},
    "a division by nothing": {"epsilon": "1/0"},
    "another epsilon than its options": {"epsilon": "5"},
    "no hash": {"location_set_sha256": "abc"},
    "unknown words": {"rng": "dice"},
    "private as text": {"private": "yes"},
    "linked as a number": {"linked": 0},
    "an unknown name": {"surprise": 1},
    "a newer format": {"format": FORMAT + 1},
    "a format that is true": {"format": True},
    "estimates": {"level": 0.9},
    "a long name": {"mechanism": "a" * 10_000},
}


@pytest.mark.parametrize("what", BAD)
def test_a_header_that_cannot_be_is_refused_in_one_sentence(what):
    with pytest.raises(NomadpError) as told:
        read(**BAD[what]).mechanism_for(WORLD)
    assert "\n" not in str(told.value)
    assert len(str(told.value)) < 500


@pytest.mark.parametrize(
    "content",
    [
        b" " * (BYTES_MAX + 1),
        b"[" * 50_000,
        b'{"a":' * 9_000,
        b"7" * 9_000,
        b'{"mechanism": "exp", "mechanism": "tp"}',
        b'{"level": Infinity}',
        b"\xff\xfe",
    ],
)
def test_json_without_measure_is_refused(content):
    code = "metadata_too_large" if len(content) > BYTES_MAX else "metadata_unreadable"
    with refused(SchemaError, code):
        Header.from_json(content)


def test_a_header_that_is_padded_beyond_its_size_is_refused():
    content = json.dumps(GOOD).encode()
    Header.from_json(content.ljust(BYTES_MAX))
    with refused(SchemaError, "metadata_too_large", most=65536):
        Header.from_json(content.ljust(BYTES_MAX + 1))


def test_simulated_words_are_never_private_whatever_a_header_says():
    assert not read(rng="simulated", private=True).private
    assert not read(rng="unknown", private=True).private
    assert read(rng="keyed", private=True).private


def test_reports_of_another_mechanism_are_refused():
    header = Header.from_json(json.dumps(GOOD).encode())
    header.check_made_by(ATLAS)
    for other in (ATLAS.with_params(epsilon=5), ATLAS.with_params(size=17)):
        with refused(DomainError, "reports_of_another_mechanism"):
            header.check_made_by(other)
    with refused(DomainError, "reports_of_other_locations"):
        header.mechanism_for(scattered(10))
    elsewhere = make_mechanism("atlas", scattered(10), 4, size=16)
    with refused(DomainError, "reports_of_other_locations"):
        header.check_made_by(elsewhere)


def test_an_epsilon_beyond_what_may_be_spent_is_refused():
    with refused(BudgetError, "epsilon_out_of_range"):
        read(epsilon="99999999999", params={})
