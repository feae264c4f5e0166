"""The laws give the answers that were written down when they were made."""

import pytest
from known_answers import FOLDER, answer, load, same
from law_homes import MECHANISMS

FILES = sorted(path.stem for path in FOLDER.glob("*.json"))
CASES = [
    pytest.param(name, k, id=f"{name}-{case['kind']}-{k}")
    for name in FILES
    for k, case in enumerate(load(name)["cases"])
]


@pytest.mark.parametrize("kind", MECHANISMS.values(), ids=MECHANISMS)
def test_every_version_of_a_mechanism_has_known_answers(kind):
    assert f"{kind.name}-{kind.version}" in FILES


@pytest.mark.parametrize(("name", "k"), CASES)
def test_the_answer_is_the_known_one(name, k):
    file = load(name)
    case = file["cases"][k]
    assert same(answer(case, file["worlds"]), case["answer"])


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_known_answers_stays_small(name):
    assert (FOLDER / f"{name}.json").stat().st_size < 150_000
