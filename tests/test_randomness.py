"""Words come from where they are said to come from, and never twice for two purposes."""

import os
import subprocess
import sys

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from refusals import refused

from nomadp.errors import InvalidArgument, RandomnessUnavailable, SchemaError, WrongType
from nomadp.randomness import KeyedRandom, SeededRandom, SystemRandom, new_key


def test_keyed_words_are_the_aes_ctr_keystream_of_the_trajectory():
    key = bytes(range(32))
    counter = (7).to_bytes(8, "big") + bytes(8)
    keystream = (
        Cipher(algorithms.AES256(key), modes.CTR(counter)).encryptor().update(bytes(800))
    )
    stream = KeyedRandom(key).stream(7)
    assert [stream.next() for _ in range(100)] == np.frombuffer(keystream, "<u8").tolist()


@pytest.mark.parametrize("before", [0, 1, 63, 64, 65])
def test_taking_many_words_gives_the_same_as_one_by_one(before):
    one, many = SeededRandom(3).stream(0), SeededRandom(3).stream(0)
    for _ in range(before):
        assert one.next() == many.next()
    assert many.take(200).tolist() == [one.next() for _ in range(200)]
    assert many.next() == one.next()


def test_streams_of_different_trajectories_and_purposes_differ():
    randomness = SeededRandom(1)
    streams = [randomness.stream(0), randomness.stream(1), randomness.bound_to("tp").stream(0)]
    streams += [randomness.bound_to("atp").stream(0), SeededRandom(2).stream(0)]
    assert len({stream.next() for stream in streams}) == len(streams)


def test_the_same_seed_gives_the_same_words_in_another_process():
    code = "from nomadp.randomness import SeededRandom as S; "
    code += "print(S(5).bound_to('x').stream(9).next())"
    told = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, text=True
    )
    assert int(told.stdout) == SeededRandom(5).bound_to("x").stream(9).next()


@pytest.mark.parametrize(
    ("source", "simulated"),
    [(SeededRandom(4), True), (KeyedRandom(bytes(32)), False), (SystemRandom(), False)],
)
def test_only_words_of_a_seed_are_marked_as_simulated(source, simulated):
    for words in (source, source.bound_to("anything"), source.named(["a"])):
        assert words.simulated == simulated


def test_system_words_are_never_given_twice_not_even_for_one_purpose_and_name():
    randomness = SystemRandom()
    sources = [randomness, randomness, *(randomness.bound_to("tp") for _ in "ab")]
    sources += [
        *(randomness.bound_to("tp").named(["a"]) for _ in "ab"),
        randomness.named(["a"]),
    ]
    assert len({source.stream(0).next() for source in sources}) == len(sources)


def test_system_words_can_be_asked_for_in_bulk_once_they_are_bound():
    with refused(WrongType, "words_not_bound"):
        SystemRandom().rows(np.arange(2), 3)
    bound = SystemRandom().bound_to("tp").named(["a", "b"])
    assert bound.rows(np.arange(2), 3)[1].tolist() == bound.stream(1).take(3).tolist()


@pytest.mark.parametrize("seed", [1.5, "1", None])
def test_refuses_a_seed_that_is_not_a_whole_number(seed):
    with pytest.raises(TypeError):
        SeededRandom(seed)


def test_a_key_is_never_shown():
    key = os.urandom(32)
    assert key.hex() not in repr(KeyedRandom(key))
    assert str(key) not in repr(KeyedRandom(key))


@pytest.mark.parametrize("use", ["stream", "bound_to", "named"])
def test_a_failing_system_source_is_an_error(use, monkeypatch):
    def broken(count):
        raise OSError("no entropy")

    monkeypatch.setattr(os, "urandom", broken)
    with refused(RandomnessUnavailable, "randomness_failed"):
        _ = {
            "stream": lambda: SystemRandom().stream(0).next(),
            "bound_to": lambda: SystemRandom().bound_to("tp"),
            "named": lambda: SystemRandom().named(["a"]),
        }[use]()


def test_a_system_source_that_gives_too_little_is_an_error(monkeypatch):
    monkeypatch.setattr(os, "urandom", lambda count: b"short")
    with refused(RandomnessUnavailable, "randomness_incomplete", length=5):
        SystemRandom().stream(0).next()


def test_refuses_a_key_of_the_wrong_size():
    with refused(InvalidArgument, "key_length_invalid", length=16, expected=32):
        KeyedRandom(bytes(16))


def test_a_named_stream_is_the_same_whatever_else_is_named_with_it():
    alone = SeededRandom(1).named(["walk to work"])
    among = SeededRandom(1).named(["elsewhere", "walk to work"])
    expected = alone.stream(0).take(100).tolist()
    assert among.stream(1).take(100).tolist() == expected
    assert among.rows(np.array([1]), 100)[0].tolist() == expected
    assert among.stream(0).take(100).tolist() != expected


def test_named_streams_of_purposes_and_keys_differ_and_never_meet_numbered_ones():
    randomness = SeededRandom(1)
    sources = [randomness, randomness.named(["0"]), randomness.bound_to("tp").named(["0"])]
    sources += [randomness.named(["0"]).bound_to("atp"), SeededRandom(2).named(["0"])]
    assert len({source.stream(0).next() for source in sources}) == len(sources)
    assert (
        randomness.named([str(k) for k in range(1000)])._first_blocks(np.arange(1000)) >> 63
    )[:, 1].all()


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Anna", "anna"),  # folded in case
        ("STRASSE", "straße"),
        ("x" * 32 + "1", "x" * 32 + "2"),  # cut off
        ("trip", "trip "),
        ("\u00e9", "e\u0301"),  # the same to look at
        ("1", "01"),
    ],
)
def test_names_that_differ_at_all_have_words_of_their_own(name, other):
    randomness = SeededRandom(1).named([name, other])
    assert randomness.stream(0).next() != randomness.stream(1).next()


def test_no_two_of_many_names_share_their_words():
    many = 20_000  # of 16 bits, two would be the same by now; of 95 bits, never
    first = SeededRandom(1).named([f"trip {k}" for k in range(many)]).rows(np.arange(many), 2)
    assert len(np.unique(first, axis=0)) == many


def test_naming_and_binding_go_in_any_order():
    randomness = SeededRandom(1)
    one, other = randomness.named(["a"]).bound_to("tp"), randomness.bound_to("tp").named(["a"])
    assert one.stream(0).next() == other.stream(0).next()
    assert one.simulated


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Anna", "anna"),
        ("straße", "strasse"),
        ("a" * 32, "a" * 32 + "b"),
        ("a" * 4096 + "1", "a" * 4096 + "2"),
        ("anna ", "anna"),
        ("1", "01"),
        ("\u00e9", "e\u0301"),
        ("", "\0"),
    ],
)
def test_names_that_are_nearly_alike_have_words_of_their_own(one, other):
    named = SeededRandom(1).named([one, other])
    assert named.stream(0).next() != named.stream(1).next()


def test_the_words_of_a_hundred_thousand_names_all_differ():
    count = 100_000
    named = SeededRandom(1).named([f"trip {k}" for k in range(count)])
    first = named.rows(np.arange(count), 1)[:, 0]
    # Two of 64-bit words agree by chance once in a billion such runs; of 16 bits nearly all do.
    assert len(np.unique(first)) == count


def test_a_name_that_comes_twice_is_refused_and_not_shown():
    for words in (SeededRandom(1), KeyedRandom(new_key()), SystemRandom()):
        with refused(SchemaError, "tid_repeated", repeated=1, rows=3) as refusal:
            words.named(["to work", "home", "to work"])
        assert "to work" not in str(refusal.value)
