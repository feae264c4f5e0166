"""The bill of materials names everything of others that is inside the wheel."""

import json

import bom
import pytest
import versions


def test_the_bill_in_the_repository_is_current() -> None:
    assert not bom.is_stale(), "run: python3 release/bom.py"


def test_what_the_pages_are_built_of_is_on_it_and_tools_are_not() -> None:
    names = {each["name"] for each in bom.bill()["components"]}
    assert "maplibre-gl" in names
    assert names.isdisjoint({"vite", "typescript", "prettier", "nomadp-client", "nomadp-pages"})


def test_every_reference_leads_to_a_component() -> None:
    bill = bom.bill()
    known = {each["bom-ref"] for each in bill["components"]}
    known.add(bill["metadata"]["component"]["bom-ref"])
    assert {each["ref"] for each in bill["dependencies"]} == known
    assert {ref for each in bill["dependencies"] for ref in each["dependsOn"]} <= known


def test_a_component_has_the_hash_that_npm_checks() -> None:
    package = {"version": "1.0.0", "license": "(MIT OR Apache-2.0)", "integrity": "sha512-AAEC"}
    made = bom.component("@a/b", package)
    assert made["hashes"] == [{"alg": "SHA-512", "content": "000102"}]
    assert made["purl"] == "pkg:npm/%40a/b@1.0.0"
    assert made["licenses"] == [{"expression": "(MIT OR Apache-2.0)"}]


def test_two_versions_of_one_package_are_refused() -> None:
    package = {"version": "1.0.0"}
    with pytest.raises(ValueError, match="b/node_modules/a"):
        bom.bundled({"node_modules/a": package, "node_modules/b/node_modules/a": package})


def test_it_names_the_version_that_is_released() -> None:
    held = json.loads(bom.BOM.read_text(encoding="utf-8"))
    assert held["metadata"]["component"]["version"] == versions.current()
