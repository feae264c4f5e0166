"""What contributors read is plain English, and guides can be read by professionals."""

from pathlib import Path

import pytest
from scripts import load_script

ROOT = Path(__file__).resolve().parent.parent


readability = load_script(ROOT / "docs" / "readability.py")
LIMITS = readability.limits()


@pytest.mark.parametrize("name", LIMITS)
def test_a_page_can_be_read(name: str) -> None:
    assert readability.ease(name) >= LIMITS[name]


def test_what_contributors_read_has_the_higher_limit() -> None:
    assert LIMITS["docs/contribute.md"] == 60
    assert LIMITS["tests/wording/contributors.md#guarantee"] == 60
    assert LIMITS["docs/guides/privacy.md"] == 45
    assert "docs/protocol.md" not in LIMITS


def test_a_page_below_its_limit_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(readability, "limits", lambda: {"docs/contribute.md": 100})
    assert readability.main([]) == 1
    assert "< 100  docs/contribute.md" in capsys.readouterr().out


def test_the_ease_is_that_of_the_formula() -> None:
    # The cat sat on the mat: 1 sentence, 6 words, 6 syllables.
    assert readability.score("The cat sat on the mat.").ease == pytest.approx(116.145)


@pytest.mark.parametrize(
    ("word", "count"),
    [
        ("cat", 1),
        ("probability", 5),
        ("collector's", 3),
        ("well-known", 2),
        ("perturbed", 2),
        ("unsnapped", 2),
        ("JSON", 1),
        ("85.9", 1),
    ],
)
def test_syllables_are_counted(word: str, count: int) -> None:
    assert readability.syllables(word) == count


@pytest.mark.parametrize(
    "text",
    [
        "One. Two.\n\n```\nA block of code. It has sentences.\n```",
        "One. Two.\n\n| a table | of cells. |\n",
        "# A heading\n\nOne. Two.",
        "One. Two.\n\n    Pr[y | x] <= e^epsilon Pr[y | z]\n",
        "**A heading that begins a paragraph.** One. Two.",
        "One. Two.<!-- measured: it. That. -->",
        "[One](an/address.md). Two.",
        "- One.\n- Two.",
    ],
)
def test_only_sentences_are_read(text: str) -> None:
    assert readability.score(text)[:3] == (2, 2, 0)


@pytest.mark.parametrize(
    "text", ["Local differential privacy", "codewords", "`--stops`", "$e^2$"]
)
def test_a_term_of_the_glossary_and_code_are_one_word_without_syllables(text: str) -> None:
    assert readability.score(f"{text} is good.") == (1, 2, 1, 2)
