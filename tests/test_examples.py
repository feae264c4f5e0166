"""Every example that people read is run: in the docstrings of public names, and the tour."""

import doctest
import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import nomadp

ROOT = Path(__file__).resolve().parent.parent
PUBLIC = [name for name in nomadp.__all__ if name != "__version__"]


def examples(name: str) -> Iterator[doctest.DocTest]:
    """The examples of a public name, its methods' not included."""
    found = getattr(nomadp, name)
    finder = doctest.DocTestFinder(recurse=False, exclude_empty=True)
    yield from (test for test in finder.find(found, name, globs={}) if test.examples)


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_has_an_example_that_holds(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # some write files
    (example,) = examples(name)
    said: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    assert runner.run(example, out=said.append).failed == 0, "".join(said)


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_function_says_what_each_parameter_is(name: str) -> None:
    found = getattr(nomadp, name)
    if inspect.isfunction(found):
        said = set(re.findall(r"\w+", str(found.__doc__)))
        assert inspect.signature(found).parameters.keys() - said == set()


def test_the_tour_in_the_readme_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (tour,) = re.findall(r"```python\n(.*?)```", readme, re.DOTALL)
    exec(compile(tour, "README.md", "exec"), {})
    assert capsys.readouterr().out
