"""Who may ask and who may operate: a bearer token for each role, kept as its hash alone."""

import hashlib
import hmac
import os
import secrets
from collections.abc import Mapping

from nomadp.collector.store import Connection
from nomadp.errors import NomadpError

__all__ = ["ANALYST", "OPERATOR", "ROLES", "TokenRefused", "first_tokens", "is_token", "renew"]

ANALYST, OPERATOR = "analyst", "operator"
ROLES = (ANALYST, OPERATOR)
LENGTH_MIN = 16


class TokenRefused(NomadpError, ValueError):
    """A token that was chosen is too easy to guess, or serves two roles."""

    code = "token"


def first_tokens(
    connection: Connection, environment: Mapping[str, str] = os.environ
) -> dict[str, str]:
    """Take those of the environment, make those that are missing; returns what was made."""
    made = {}
    chosen = {role: environment.get(f"NOMADP_{role.upper()}_TOKEN", "") for role in ROLES}
    if chosen[ANALYST] and chosen[ANALYST] == chosen[OPERATOR]:
        raise TokenRefused(
            "analyst and operator must have tokens of their own, got one for both"
        )
    with connection.transaction():
        for role, token in chosen.items():
            if token:
                _keep(connection, role, token)
            elif not _hash_of(connection, role):
                made[role] = _keep(connection, role, secrets.token_urlsafe(32))
    return made


def renew(connection: Connection, role: str) -> str:
    """A new token; the old one is worth nothing from now on."""
    with connection.transaction():
        return _keep(connection, role, secrets.token_urlsafe(32))


def is_token(connection: Connection, role: str, token: str) -> bool:
    known = _hash_of(connection, role)
    return known is not None and hmac.compare_digest(_hashed(token), known)


def _keep(connection: Connection, role: str, token: str) -> str:
    if len(token) < LENGTH_MIN:
        raise TokenRefused(f"a token must have at least {LENGTH_MIN} characters, got fewer")
    connection.run(
        "INSERT INTO token (role, sha256) VALUES (?, ?) "
        "ON CONFLICT (role) DO UPDATE SET sha256 = excluded.sha256",
        role,
        _hashed(token),
    )
    return token


def _hash_of(connection: Connection, role: str) -> str | None:
    rows = connection.rows("SELECT sha256 FROM token WHERE role = ?", role)
    return str(rows[0][0]) if rows else None


def _hashed(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()
