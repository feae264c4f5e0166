"""Compare errors by their class, code and facts, never by their message."""

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
    """The block must raise an error of this ``kind`` with this code and these facts."""
    with pytest.raises(kind) as caught:
        yield caught
    check(caught.value, code, **facts)


def check(error: BaseException, code: str, **facts: object) -> None:
    """Check an error that was already caught."""
    assert isinstance(error, NomadpError), repr(error)
    attributes = vars(error)
    assert (error.code, {name: attributes.get(name) for name in facts}) == (code, facts)


def printed_code(stderr: str) -> str:
    """The error code at the end of what a command printed on stderr."""
    codes = re.findall(r"^nomadp: .* \[([a-z][a-z0-9_]*)\]$", stderr, re.MULTILINE | re.DOTALL)
    assert len(codes) == 1, stderr
    return str(codes[0])


def json_code(stdout: str) -> str:
    """The error code in the output of a command with ``--json``."""
    return str(json.loads(stdout)["error"]["code"])
