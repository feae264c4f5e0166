"""People read the field's words: no retired term stands where they look."""

import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from scripts import load_script

ROOT = Path(__file__).resolve().parent.parent
SCRIPT = ROOT / "docs" / "vocabulary.py"


@pytest.fixture(scope="module")
def vocabulary() -> ModuleType:
    return load_script(SCRIPT)


def lines(vocabulary: ModuleType, text: str, place: str = "page.md") -> list[str]:
    return list(vocabulary.findings(place, text, vocabulary.terms()))


def test_nothing_that_people_read_has_a_retired_term(
    vocabulary: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (vocabulary.main([]), capsys.readouterr().out) == (0, "no retired terms\n")


@pytest.mark.parametrize(
    "sentence",
    [
        "No flow is told to be more.",
        "The rows that are told apart.",
        "A flat map has 12.6 %.",
        "less than flat",
        "what an epsilon buys",
        "No trajectory is such a trajectory.",
        "after so many hours",
        "the how-maniest",
        "the found",
        "it is paid all the same",
        "`nomadp ask flows`",
        "1 % of fakes",
        "a book of journeys",
    ],
)
def test_a_retired_term_is_found(vocabulary: ModuleType, sentence: str) -> None:
    assert lines(vocabulary, sentence)


def test_a_finding_names_its_line_and_the_word_to_use(vocabulary: ModuleType) -> None:
    (finding,) = lines(vocabulary, "one\n\nThe rows told\napart.")
    place, _, rest = finding.partition(": ")
    assert place == "page.md:3"
    assert rest.startswith("told apart -> significant")


@pytest.mark.parametrize("name", ["told_apart", "toldApart", "TOLD_APART"])
def test_a_retired_name_is_found_however_it_is_written(
    vocabulary: ModuleType, name: str
) -> None:
    assert lines(vocabulary, f"the column `{name}`")


@pytest.mark.parametrize(
    "sentence",
    [
        "`std_error` is the standard error",
        "async open(): Promise<Client>;",
        "`GET /tasks/ID/promise`",
        "The browser does not promise to keep it.",
        "a bookkeeper, flattened",
    ],
)
def test_a_legitimate_use_is_left_alone(vocabulary: ModuleType, sentence: str) -> None:
    assert lines(vocabulary, sentence) == []


def test_contributors_read_of_journeys_and_nobody_else(vocabulary: ModuleType) -> None:
    assert lines(vocabulary, "Your journey", "docs/contribute.md") == []
    assert lines(vocabulary, "Your journey", "docs/analyst.md")


def test_the_changelog_may_name_what_was_renamed(vocabulary: ModuleType) -> None:
    renamed = "`fit` and `Model` (was `learn`,\n  `Learned`)"
    assert lines(vocabulary, renamed, "CHANGELOG.md") == []
    assert lines(vocabulary, renamed, "README.md")
    assert lines(vocabulary, "a learned prior", "CHANGELOG.md")


def test_only_the_sentences_of_a_source_are_read(
    vocabulary: ModuleType, tmp_path: Path
) -> None:
    source = tmp_path / "page.ts"
    source.write_text(
        "// a flat list\nconst flat = 1;\nshow('flat');\n"
        "show(`${flat} rows`);\nshow(`The map is flat.`);\n"
    )
    assert lines(vocabulary, vocabulary.readable(source), "page.ts") == [
        "page.ts:5: flat -> baseline (in full: uniform baseline)"
    ]


def test_every_exception_is_still_needed(vocabulary: ModuleType) -> None:
    texts = {
        name: vocabulary.BETWEEN_WORDS.sub(" ", text).lower()
        for name, text in vocabulary.places()
    }
    listed = tomllib.loads(vocabulary.LIST.read_text(encoding="utf-8"))["term"]
    unused = [
        exception
        for entry in listed
        for exception in entry.get("except", ())
        if not any(re.search(vocabulary.any_of([exception]), text) for text in texts.values())
    ]
    for entry, term in zip(listed, vocabulary.terms(), strict=True):
        for glob in entry.get("allowed_in", ()):
            found = [text for name, text in texts.items() if vocabulary.fnmatchcase(name, glob)]
            if not any(term.retired.search(text) for text in found):
                unused.append(glob)
    assert unused == []
