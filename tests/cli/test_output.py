"""Tables that commands print."""

import pytest

from nomadp.cli.output import print_table


@pytest.mark.parametrize("number", ["12", "0.35", "1/2", "3e-05", "1,849", "18.4 %", "1.3x"])
def test_numbers_stand_on_the_right(number: str, capsys: pytest.CaptureFixture[str]) -> None:
    print_table(["a long header"], [[number]])
    assert capsys.readouterr().out.splitlines()[1] == number.rjust(13)


@pytest.mark.parametrize("first", "aZ4-_")
def test_an_id_stands_on_the_left_whatever_it_begins_with(
    first: str, capsys: pytest.CaptureFixture[str]
) -> None:
    print_table(["task"], [[first + "OSfVu2KDfVL6hY1jCwc0wXRmQUTp73TtK3rLpkQPvU"]])
    assert capsys.readouterr().out.startswith("task\n")
