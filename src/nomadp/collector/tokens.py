"""Bearer tokens, one for each role. The store has only their hashes."""

import asyncio
import hashlib
import hmac
import math
import os
import re
import secrets
from collections import Counter
from collections.abc import Mapping

from nomadp.collector.logs import log
from nomadp.collector.metrics import Metrics
from nomadp.collector.store import Connection
from nomadp.errors import NomadpError

__all__ = [
    "ANALYST",
    "OPERATOR",
    "ROLES",
    "TokenRefused",
    "WrongTokens",
    "first_tokens",
    "is_token",
    "renew_token",
]

ANALYST, OPERATOR = "analyst", "operator"
ROLES = (ANALYST, OPERATOR)
BITS_MIN = 128
DISTINCT_MIN = 6
"""Tokens with fewer distinct characters are patterns: 39 random digits have fewer with
probability 1e-9."""
DELAY_S = 0.5
DELAYED_MAX = 64
"""Delayed replies at a time: more could use up the connections of honest clients."""
LOG_EVERY_S = 60.0
# The alphabets of tokens and their sizes.
_ALPHABETS = (
    ("[0-9]+", 10),
    ("[0-9a-f]+|[0-9A-F]+", 16),
    ("[a-z]+|[A-Z]+", 26),
    ("[0-9a-z]+|[0-9A-Z]+", 36),
    ("[!-~]+", 64),
)


class TokenRefused(NomadpError, ValueError):
    """A chosen token is too easy to guess, or is used for two roles."""

    kind = "token"


class WrongTokens:
    """Requests with wrong tokens: counted, logged without the token, and answered late.

    A correct token is never delayed. Senders have no identity here, so a lockout would also
    lock out the owner of the right token. The delay only slows down somebody who tries one
    token after another; guessing is hopeless because tokens are long.
    """

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._unlogged: Counter[str] = Counter()
        self._next_log: asyncio.TimerHandle | None = None
        self._delayed = 0

    async def refuse(self, role: str) -> None:
        """Count a wrong token, and return when the request may be answered."""
        self._metrics.wrong_tokens[role] += 1
        self._unlogged[role] += 1
        if self._next_log is None:
            self._log_next()
        if self._delayed >= DELAYED_MAX:
            return
        self._delayed += 1
        try:
            await asyncio.sleep(DELAY_S)
        finally:
            self._delayed -= 1

    def stop(self) -> None:
        if self._next_log is not None:
            self._next_log.cancel()
        self._log()

    def _log_next(self) -> None:
        self._next_log = None
        if self._log():
            loop = asyncio.get_running_loop()
            self._next_log = loop.call_later(LOG_EVERY_S, self._log_next)

    def _log(self) -> bool:
        """Log one line for all wrong tokens since the last line, if there are any."""
        if not self._unlogged:
            return False
        log("wrong_tokens", "requests with wrong tokens were refused", **self._unlogged)
        self._unlogged.clear()
        return True


def first_tokens(
    connection: Connection, environment: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Store the tokens of the environment and generate missing ones; returns the new ones."""
    generated = {}
    chosen = {
        role: environment.get(f"NOMADP_{role.upper()}_TOKEN", "").strip() for role in ROLES
    }
    if chosen[ANALYST] and chosen[ANALYST] == chosen[OPERATOR]:
        raise TokenRefused(
            "the analyst and the operator must have different tokens, got one token for both",
            code="token_of_both_roles",
        )
    with connection.transaction():
        for role, token in chosen.items():
            if token:
                _keep(connection, role, token)
            elif not _hash_of(connection, role):
                generated[role] = _keep(connection, role, secrets.token_urlsafe(32))
    return generated


def renew_token(connection: Connection, role: str) -> str:
    """Generate a new token, which invalidates the old one."""
    with connection.transaction():
        return _keep(connection, role, secrets.token_urlsafe(32))


def is_token(connection: Connection, role: str, token: str) -> bool:
    known = _hash_of(connection, role)
    # Compared in constant time. A plain hash suffices, because tokens have 128 random bits.
    return known is not None and hmac.compare_digest(_hashed(token), known)


def _keep(connection: Connection, role: str, token: str) -> str:
    _check_strength(role, token)
    connection.run(
        "INSERT INTO token (role, sha256) VALUES (?, ?) "
        "ON CONFLICT (role) DO UPDATE SET sha256 = excluded.sha256",
        role,
        _hashed(token),
    )
    return token


def _check_strength(role: str, token: str) -> None:
    """Check length and alphabet; only the owner knows whether the token is random."""
    alphabet = next((n for kind, n in _ALPHABETS if re.fullmatch(kind, token)), 0)
    bits = len(token) * math.log2(alphabet) if alphabet else 0
    if bits < BITS_MIN or len(set(token)) < DISTINCT_MIN:
        raise TokenRefused(
            f"the {role}'s token must have {BITS_MIN} random bits or more, such as 32 hex "
            "digits or 22 characters of base64, got a weaker one; generate one with python3 -c "
            '"import secrets; print(secrets.token_urlsafe(32))"',
            code="token_too_weak",
            role=role,
            bits=BITS_MIN,
        )


def _hash_of(connection: Connection, role: str) -> str | None:
    rows = connection.rows("SELECT sha256 FROM token WHERE role = ?", role)
    return str(rows[0][0]) if rows else None


def _hashed(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()
