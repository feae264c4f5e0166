"""Search what people read for retired terms: python docs/vocabulary.py [FILES]

docs/retired-terms.toml lists the terms as regular expressions, with the word to use instead and
the legitimate uses. A blank in a pattern stands for any white space, so that a term is found
across a line break. Case does not matter, and names are split into words: `told_apart` and
`toldApart` are found like "told apart". The search covers whole documents, the quoted strings
of program sources, and the public names of `nomadp`.
"""

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
LIST = Path(__file__).with_name("retired-terms.toml")

STRINGS = re.compile(
    r"//[^\n]*|/\*.*?\*/|(\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)",
    re.DOTALL,
)
"""The strings of TypeScript in the first group; comments, to pass over quotes in them."""
KEY = re.compile(r"(['\"`])[a-z][\w.:/-]*\1")
"""A string that is a key or the name of a module, not a sentence."""
EXPRESSION = re.compile(r"\$\{[^{}]*\}")
NAMES = re.compile(r"(\"[a-z]\w*\")")
"""The strings of Python that may be columns: docs/reference shows its help and its errors."""
RENAMED = re.compile(r"\bw(?:as|ere)\s+`[^`]*`(?:,?\s+(?:and\s+)?`[^`]*`)*")
"""The old names in the changelog: (was `old`, `older`)."""
BETWEEN_WORDS = re.compile(r"_|(?<=[a-z])(?=[A-Z])")


class Term(NamedTuple):
    retired: re.Pattern[str]
    use: str
    exceptions: re.Pattern[str] | None
    allowed_in: tuple[str, ...]


def terms() -> list[Term]:
    """The entries of the list, compiled."""
    listed = tomllib.loads(LIST.read_text(encoding="utf-8"))["term"]
    return [
        Term(
            re.compile(rf"(?<![a-z0-9]){any_of(entry['retired'])}(?![a-z0-9])"),
            entry["use"],
            re.compile(any_of(entry["except"])) if "except" in entry else None,
            tuple(entry.get("allowed_in", ())),
        )
        for entry in listed
    ]


def any_of(patterns: Iterable[str]) -> str:
    # Between the words of a sentence may also stand the mark of a quotation or of emphasis.
    return f"(?:{'|'.join(patterns)})".replace(" ", r"[\s>*#]+")


def blank(text: str) -> str:
    """White space in place of a text, with its line breaks, so that lines keep their number."""
    return "\n" * text.count("\n") or "|"


def readable(path: Path) -> str:
    """The text of a file that people read; the rest of a program is blank."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ts":
        literals = STRINGS
    elif path.suffix == ".py" and ROOT / "src" in path.parents:
        literals = NAMES
    else:
        return text
    parts, end = [], 0
    for match in literals.finditer(text):
        is_read = match[1] and (literals is NAMES or not KEY.fullmatch(match[1]))
        string = EXPRESSION.sub("|", match[1]) if is_read else blank(match[0])
        parts += [blank(text[end : match.start()]), string]
        end = match.end()
    return "".join(parts)


def findings(place: str, text: str, listed: list[Term]) -> Iterator[str]:
    """Every retired term in a text, with its line and what to use instead."""
    if place == "CHANGELOG.md":
        text = RENAMED.sub(lambda match: blank(match[0]), text)
    text = BETWEEN_WORDS.sub(" ", text).lower()
    for term in listed:
        if any(fnmatchcase(place, glob) for glob in term.allowed_in):
            continue
        searched = text
        if term.exceptions is not None:
            searched = term.exceptions.sub(lambda match: blank(match[0]), text)
        for match in term.retired.finditer(searched):
            line = searched.count("\n", 0, match.start()) + 1
            yield f"{place}:{line}: {' '.join(match[0].split())} -> {term.use}"


def places() -> Iterator[tuple[str, str]]:
    """Everything that people read: the name of a place, and its text."""
    import nomadp

    globs = tomllib.loads(LIST.read_text(encoding="utf-8"))["searched"]
    for path in sorted({path for glob in globs for path in ROOT.glob(glob) if path.is_file()}):
        yield path.relative_to(ROOT).as_posix(), readable(path)
    yield "dir(nomadp)", "\n".join(dir(nomadp))


def main(names: list[str]) -> int:
    listed = terms()
    searched = [(name, readable(ROOT / name)) for name in names] or places()
    found = [line for place, text in searched for line in findings(place, text, listed)]
    print("\n".join(found) or "no retired terms")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
