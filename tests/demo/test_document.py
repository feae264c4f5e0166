import json
import re
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest
from page_reader import PageReader

import nomadp
from nomadp.demo import embedded_json
from nomadp.demo.experiment import Findings


def inside(tag: str, source: str) -> str:
    """The text of the one element of this tag that has no attributes."""
    (text,) = re.findall(f"<{tag}>(.*?)</{tag}>", source, flags=re.DOTALL)
    return str(text)


def hashed(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


@pytest.fixture(scope="module")
def source(page_file: Path) -> str:
    return page_file.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def read(source: str) -> PageReader:
    return PageReader(source)


def test_the_page_loads_nothing(read: PageReader, source: str) -> None:
    assert [address for address in read.loads if not address.startswith("#")] == []
    assert not {"link", "iframe", "object", "embed", "base", "form"} & set(read.tags)
    style = inside("style", source)
    assert "@import" not in style
    assert "url(" not in style
    # The one address in the page is a name: SVG's namespace.
    assert set(re.findall(r"\bhttps?:[^\s\"'<]+", source)) == {"http://www.w3.org/2000/svg"}


def test_only_this_style_and_script_may_run(read: PageReader, source: str) -> None:
    assert read.policy == (
        f"default-src 'none'; style-src {hashed(inside('style', source))}; "
        f"script-src {hashed(inside('script', source))}; base-uri 'none'; form-action 'none'"
    )
    assert read.inline == []


def test_nothing_is_left_to_fill_in(source: str) -> None:
    without_scripts = re.sub(r"<script.*?</script>", "", source, flags=re.DOTALL)
    assert not re.findall(r"\$[a-z_]+", without_scripts)


def test_the_footer_says_how_to_repeat_the_page(findings: Findings, read: PageReader) -> None:
    assert findings.study.city.locations.sha256 in read.text
    assert nomadp.__version__ in read.text
    assert "nomadp demo" in read.text
    assert "Simulated data." in read.text


def test_the_guarantee_is_stated_with_what_it_does_not_cover(source: str) -> None:
    words = " ".join(re.sub(r"<[^>]+>", " ", source).split())
    assert "ε-local differential privacy over all journeys of the same public length" in words
    assert "Revealed how many points it has" in words
    assert "Never sent timestamps and user ids" in words


def test_json_cannot_close_its_element() -> None:
    hostile = {"id": "</script><script>alert(1)</script><!--&\u2028"}
    text = embedded_json(hostile)
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == hostile


def test_json_refuses_numbers_that_are_none() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        embedded_json({"loss": float("inf")})


def test_the_page_says_why_shares_of_few_codewords_have_no_intervals(source: str) -> None:
    for name in ("density", "flows"):
        view = source.partition(f'id="view-{name}"')[2].partition('<div class="view"')[0]
        summary, _, learned = view.partition("<b>Learned</b>")
        assert "the codebook has" in summary
        assert "fewer than 64" in summary
        for claim in ("told apart", ", from ", "hatched", "less certain", "more than"):
            assert claim not in learned
