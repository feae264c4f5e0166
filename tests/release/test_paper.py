"""The paper cites what its bibliography holds, and every entry can be looked up."""

import re

import versions

PAPER = versions.ROOT / "paper"
LOOKED_UP = {"doi", "eprint", "booktitle"}
"""One of these finds the work: an identifier, or the proceedings it is in."""


def entries() -> dict[str, dict[str, str]]:
    """The fields of each entry, by its key."""
    text = (PAPER / "paper.bib").read_text(encoding="utf-8")
    found = re.findall(r"^@\w+\{(\w+),\n(.*?)^\}$", text, re.DOTALL | re.MULTILINE)
    assert len(found) == text.count("@")
    return {
        key: dict(re.findall(r"^  (\w+) += \{(.*?)\},?$", fields, re.DOTALL | re.MULTILINE))
        for key, fields in found
    }


def test_the_paper_cites_every_entry_and_no_other() -> None:
    text = (PAPER / "paper.md").read_text(encoding="utf-8")
    cited = re.findall(r"@(\w+)", text.split("---\n")[2])
    assert set(cited) == set(entries())


def test_every_entry_says_who_what_where_and_when() -> None:
    for key, fields in entries().items():
        assert {"author", "title", "year"} <= fields.keys(), key
        assert {"journal", "booktitle"} & fields.keys(), key
        assert LOOKED_UP & fields.keys(), key
        assert fields["year"] in key, key


def test_identifiers_have_their_form() -> None:
    for key, fields in entries().items():
        assert re.fullmatch(r"10\.\d{4,5}/\S+", fields.get("doi", "10.1000/x")), key
        assert re.fullmatch(r"\d{4}\.\d{5}", fields.get("eprint", "1234.56789")), key
