"""The laws give the answers that were written down when they were made."""

import pytest
from known_answers import FOLDER, answer, load, same
from law_homes import MECHANISMS
from vectors_maker import check_unchanged

FILES = {path.stem: load(path.stem) for path in sorted(FOLDER.glob("*.json"))}
CASES = [
    pytest.param(name, k, id=f"{name}-{case['kind']}-{k}")
    for name, file in FILES.items()
    for k, case in enumerate(file["cases"])
]


@pytest.mark.parametrize("kind", MECHANISMS.values(), ids=MECHANISMS)
def test_every_version_of_a_mechanism_has_known_answers(kind):
    assert f"{kind.name}-{kind.version}" in FILES


@pytest.mark.parametrize(("name", "k"), CASES)
def test_the_answer_is_the_known_one(name, k):
    file = FILES[name]
    case = file["cases"][k]
    if case["kind"] == "many" and case["ask"]["mechanism"] in ("tp", "atp"):
        pytest.importorskip("numba", reason="without it, words are spent otherwise")
    assert same(answer(case, file["worlds"]), case["answer"])


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_known_answers_stays_small(name):
    assert (FOLDER / f"{name}.json").stat().st_size < 250_000


def test_the_maker_refuses_to_change_a_known_answer():
    file = load("exp-1")
    check_unchanged(file, file["cases"], file["worlds"])
    changed = [file["cases"][0] | {"answer": {}}, *file["cases"][1:]]
    with pytest.raises(SystemExit, match="exp"):
        check_unchanged(file, changed, file["worlds"])


def test_the_maker_refuses_to_drop_a_known_answer():
    file = load("exp-1")
    with pytest.raises(SystemExit, match="1 of exp"):
        check_unchanged(file, file["cases"][1:], file["worlds"])
