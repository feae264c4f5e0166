"""What a refusal is recognised by: its class, its code and its facts, never its sentence."""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from nomadp import NomadpError


@contextmanager
def refused(
    kind: type[NomadpError], code: str, **facts: object
) -> Iterator[pytest.ExceptionInfo[NomadpError]]:
    """Inside, something must be refused as ``kind`` with this code and these facts."""
    with pytest.raises(kind) as caught:
        yield caught
    check(caught.value, code, **facts)


def check(error: BaseException, code: str, **facts: object) -> None:
    """Compare an error that was caught elsewhere."""
    assert isinstance(error, NomadpError), repr(error)
    attributes = vars(error)
    assert (error.code, {name: attributes.get(name) for name in facts}) == (code, facts)


def printed_code(stderr: str) -> str:
    """The code at the end of what a command that failed printed on stderr."""
    codes = re.findall(r"^nomadp: .* \[([a-z][a-z0-9_]*)\]$", stderr, re.MULTILINE | re.DOTALL)
    assert len(codes) == 1, stderr
    return str(codes[0])


def json_code(stdout: str) -> str:
    """The same of a command that was given ``--json``."""
    return str(json.loads(stdout)["error"]["code"])
