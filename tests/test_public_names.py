"""The public surface is exactly `nomadp.__all__`, and reaching for it costs nothing."""

import ast
import inspect
import re
import subprocess
import sys

import pytest

import nomadp

HEAVY = ("numpy", "scipy", "pyarrow", "rich", "cryptography")


def loaded_by(program: str) -> set[str]:
    """The top-level packages a fresh interpreter has loaded after running ``program``."""
    report = "\nimport sys\nsys.stderr.write(' '.join({m.split('.')[0] for m in sys.modules}))"
    done = subprocess.run(
        [sys.executable, "-c", program + report], capture_output=True, text=True, check=True
    )
    return set(done.stderr.split())


def names_for_the_type_checker() -> dict[str, str]:
    tree = ast.parse(inspect.getsource(nomadp))
    (guarded,) = (node for node in tree.body if isinstance(node, ast.If))
    return {
        alias.name: str(node.module)
        for node in guarded.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


@pytest.mark.parametrize("name", nomadp.__all__)
def test_every_public_name_exists(name: str) -> None:
    assert getattr(nomadp, name) is not None
    assert name in dir(nomadp)


FUNCTIONS = [name for name in nomadp.__all__ if inspect.isfunction(getattr(nomadp, name))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_docstring_has_parameters_result_errors_and_an_example(name: str) -> None:
    function = getattr(nomadp, name)
    signature = inspect.signature(function)
    parts = re.split(r"^(Args|Returns|Raises):$", inspect.getdoc(function) or "", flags=re.M)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    documented = re.findall(r"^    (\w+):", sections.get("Args", ""), re.MULTILINE)
    assert documented == list(signature.parameters)
    assert ("Returns" in sections) == (signature.return_annotation is not None)
    assert "Raises" in sections or name == "mechanism_names"
    assert ">>> " in parts[-1]


def test_only_public_names_are_listed() -> None:
    assert dir(nomadp) == sorted(nomadp.__all__)
    assert (
        nomadp.synthetic_city is not None
    )  # what was used is cached, and still not listed twice
    assert dir(nomadp) == sorted(nomadp.__all__)


def test_the_two_lists_of_names_agree() -> None:
    assert names_for_the_type_checker() == nomadp.HOMES


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="perturb_everything"):
        _ = nomadp.perturb_everything


def test_importing_nomadp_loads_nothing_heavy() -> None:
    assert loaded_by("import nomadp").isdisjoint({*HEAVY, "click"})


def test_asking_for_help_loads_nothing_heavy() -> None:
    program = (
        "from nomadp.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit as end:\n    assert not end.code"
    )
    assert loaded_by(program).isdisjoint(HEAVY)


def test_every_error_is_ours_and_a_built_in_too() -> None:
    errors = [getattr(nomadp, name) for name, home in nomadp.HOMES.items() if "errors" in home]
    assert all(issubclass(error, nomadp.NomadpError) for error in errors)
    specific = [error for error in errors if error is not nomadp.NomadpError]
    assert all(issubclass(error, (ValueError, RuntimeError)) for error in specific)
    assert len({error.kind for error in errors}) == len(errors)
