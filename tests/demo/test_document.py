import json
import re
from base64 import b64encode
from collections.abc import Callable
from hashlib import sha256
from html import unescape
from pathlib import Path

import pytest
from page_reader import PageReader

import nomadp
from nomadp.answers.sentences import is_withheld
from nomadp.demo import embedded_json
from nomadp.demo.experiment import Findings
from nomadp.demo.results import simulate_survey

BLOCKS = r"</(?:p|h1|h2|dt|dd|div)>"


def inside(tag: str, source: str) -> str:
    """The text of the one element of this tag that has no attributes."""
    (text,) = re.findall(f"<{tag}>(.*?)</{tag}>", source, flags=re.DOTALL)
    return str(text)


def of(tag: str, source: str) -> str:
    return source.partition(f"<{tag}")[2].partition(">")[2].partition(f"</{tag}>")[0]


def words_of(markup: str) -> str:
    """What a person reads of it, a line for each element."""
    lines = (" ".join(line.split()) for line in re.sub(BLOCKS, "\0", markup).split("\0"))
    return "\n".join(filter(None, (re.sub("<[^>]+>", "", line).strip() for line in lines)))


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
    assert findings.study.plan.command in read.text


def test_the_page_says_that_it_is_simulated_and_what_is_guaranteed(
    source: str, wording: Callable[..., None]
) -> None:
    text = "\n\n".join(map(words_of, (of("header", source), of("footer", source))))
    hide = {nomadp.__version__: "VERSION"} | {
        each: "HASH" for each in re.findall("[0-9a-f]{64}", text)
    }
    wording("demo", "masthead and footer", text, hide=hide)


def test_json_cannot_close_its_element() -> None:
    hostile = {"id": "</script><script>alert(1)</script><!--&\u2028"}
    text = embedded_json(hostile)
    assert not set("<>&\u2028") & set(text)
    assert json.loads(text) == hostile


def test_json_refuses_numbers_that_are_none() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        embedded_json({"loss": float("inf")})


def test_the_page_says_why_shares_of_few_codewords_have_no_intervals(
    findings: Findings, source: str
) -> None:
    plan = findings.study.plan
    learned = {
        pair.name: pair.estimate
        for pair in simulate_survey(plan.survey, plan.seed, plan.places)
    }
    for name in ("density", "flows"):
        view = source.partition(f'id="view-{name}"')[2].partition('<div class="view"')[0]
        summary = of("p", view)
        assert is_withheld(learned[name])
        assert unescape(summary).count(str(learned[name].about["no_intervals"])) == 1
        drawn, legend = f'fill="url(#{name}-hatch)"', f'fill="url(#{name}-key-hatch)"'
        assert drawn not in view
        assert legend not in view
    assert not is_withheld(learned["hotspots"])
