import pytest

from nomadp.page import Cell, listed, number, paragraphs, table


def test_text_never_becomes_markup() -> None:
    hostile = "<img src=x onerror=alert(1)>&"
    made = table(hostile, [Cell(hostile)], [[Cell(hostile, '"><b>')]]) + paragraphs([hostile])
    assert "<img" not in made
    assert "<b>" not in made
    assert made.count("&lt;img src=x onerror=alert(1)&gt;&amp;") == 5


def test_rows_are_named_by_their_first_column() -> None:
    made = table("c", [Cell("Name"), number("Value")], [[Cell("x"), number("1")]])
    assert '<th scope="col" class="">Name</th>' in made
    assert '<th scope="row" class="">x</th>' in made
    assert '<td class="number">1</td>' in made


@pytest.mark.parametrize(
    ("items", "text"),
    [([], ""), (["a"], "a"), (["a", "b"], "a and b"), ([*"abc"], "a, b and c")],
)
def test_lists_read_as_sentences(items: list[str], text: str) -> None:
    assert listed(items) == text
