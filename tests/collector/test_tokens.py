"""Tokens that are easy to guess are not taken; wrong ones are counted and slowed down."""

import secrets
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from collecting import Address, bundle_of, collector, logged
from refusals import refused

from nomadp.collector import tokens
from nomadp.collector.store import Store
from nomadp.collector.tokens import TokenRefused, first_tokens, is_token


@pytest.mark.parametrize(
    "token",
    [
        "short",
        "sixteen-letters!",
        "Qm9hdHMgYW5kIHRyYWlu"[:21],
        "0123456789abcdef0123456789abcde",
        "01234567890123456789012345678901234567",
        "correcthorsebatterystaple",
        "a" * 60,
        "abcde" * 20,
        "t\u00f6ken-of-many-characters-and-more",
        "a token with spaces, and many characters",
    ],
)
def test_a_token_that_can_be_guessed_is_not_taken(sqlite: Store, token: str) -> None:
    connection = sqlite.connect()
    with refused(TokenRefused, "token_too_weak", role="analyst", bits=128) as caught:
        first_tokens(connection, {"NOMADP_ANALYST_TOKEN": token})
    assert token not in f"{caught.value} {vars(caught.value)}"
    assert not connection.rows("SELECT * FROM token")
    connection.close()


def test_tokens_of_128_random_bits_are_taken_in_any_usual_form(sqlite: Store) -> None:
    connection = sqlite.connect()
    for _ in range(200):
        for token in (secrets.token_hex(16), secrets.token_urlsafe(16), secrets.token_hex(32)):
            first_tokens(connection, {"NOMADP_ANALYST_TOKEN": f" {token}\n"})
            assert is_token(connection, "analyst", token)
    first_tokens(connection, {"NOMADP_ANALYST_TOKEN": f"{secrets.randbits(160):048d}"})
    connection.close()


def shown(address: Address, token: str, path: str = "/tasks") -> int:
    return address.ask("GET", path, authorization=f"Bearer {token}").status


def test_wrong_tokens_are_counted_and_logged_without_what_they_are(
    sqlite: Store, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "DELAY_S", 0.0)
    with collector(sqlite, bundle_of()) as address:
        for k in range(30):
            assert shown(address, f"secret-guess-{k}") == 401
        assert shown(address, "secret-guess", "/operator/tasks") == 401
        assert address.ask("GET", "/tasks").status == 401  # no token is no wrong one
        said = address.ask("GET", "/metrics").body.decode()
    assert 'nomadp_wrong_tokens_total{role="analyst"} 30' in said
    assert 'nomadp_wrong_tokens_total{role="operator"} 1' in said
    said = capfd.readouterr().err
    assert "secret" not in said
    told = [line for line in logged(said) if line["code"] == "wrong_tokens"]
    assert len(told) == 2  # the first at once, the others at the end of a minute or of all
    assert sum(line.get("analyst", 0) for line in told) == 30
    assert sum(line.get("operator", 0) for line in told) == 1


def test_wrong_tokens_are_answered_late_and_correct_ones_at_once(
    sqlite: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tokens, "DELAY_S", 1.0)
    monkeypatch.setattr(tokens, "DELAYED_MAX", 8)
    with collector(sqlite, bundle_of()) as address:
        began_s = time.monotonic()
        assert shown(address, "wrong") == 401
        assert time.monotonic() - began_s >= 1
        with ThreadPoolExecutor(20) as threads:
            began_s = time.monotonic()
            wrong = [threads.submit(shown, address, f"wrong-{k}") for k in range(20)]
            assert address.ask("GET", "/tasks", role="analyst").status == 200
            assert time.monotonic() - began_s < 1
            assert {each.result() for each in wrong} == {401}
