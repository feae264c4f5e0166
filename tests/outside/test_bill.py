"""The bill of materials is one that others can read."""

from pathlib import Path

import pytest

BILL = Path(__file__).resolve().parents[2] / "release" / "nomadp.cdx.json"
REASON = "CycloneDX's own reader; python3 dev.py outside makes its environment"
schema = pytest.importorskip("cyclonedx.schema", reason=REASON)
validation = pytest.importorskip("cyclonedx.validation.json", reason=REASON)

pytestmark = pytest.mark.slow


def test_the_bill_is_valid_cyclonedx() -> None:
    strict = validation.JsonStrictValidator(schema.SchemaVersion.V1_6)
    assert strict.validate_str(BILL.read_text(encoding="utf-8")) is None
    assert strict.validate_str('{"bomFormat": "CycloneDX"}') is not None
