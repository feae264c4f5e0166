"""Files of atlases: they come back as they were, or not at all."""

import json
import math
from errno import ENOENT
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from refusals import refused
from worlds import scattered, triangle

from nomadp.errors import DomainError, OutputError, SchemaError
from nomadp.formats.codebook_files import FORMAT, read_codebooks, write_codebooks
from nomadp.mechanisms.atlas import PinnedCodebooks, build_pinned, design
from nomadp.mechanisms.atlas.codebook import CodebookTable

LOCATIONS = scattered(30)
FOUR = Fraction(4)


@pytest.fixture
def pinned():
    return build_pinned(LOCATIONS, [1, 2, 4], FOUR, 9)


@pytest.fixture
def path(tmp_path, pinned):
    write_codebooks(tmp_path / "atlas.parquet", pinned)
    return tmp_path / "atlas.parquet"


def rewritten(path, **changes):
    """The same file with other columns, or other claims about them."""
    table = pq.read_table(path)
    description = json.loads(table.schema.metadata[b"nomadp"]) | changes.pop("said", {})
    columns = {name: changes.get(name, table[name]) for name in table.column_names}
    changed = pa.table(columns).replace_schema_metadata({b"nomadp": json.dumps(description)})
    pq.write_table(changed, path)


def test_an_atlas_comes_back_as_it_was_and_as_it_would_be_built(path, pinned):
    codebooks = read_codebooks(path, LOCATIONS)
    assert codebooks == pinned
    assert (codebooks.recipe, codebooks.epsilon, codebooks.size) == ("lloyd-3", 4, 9)
    for length in (1, 2, 4):
        one, made = codebooks.table(length), design(LOCATIONS, length, FOUR, 9)
        assert one.codewords.tolist() == made.codewords.tolist()
        assert (one.near_count, one.error_km) == (made.near_count, made.error_km)


def test_the_same_atlas_makes_the_same_bytes(path, tmp_path):
    write_codebooks(tmp_path / "again.parquet", build_pinned(LOCATIONS, [4, 2, 1], FOUR, 9))
    assert (tmp_path / "again.parquet").read_bytes() == path.read_bytes()


def test_any_program_can_read_the_journeys_and_their_hashes(path, pinned):
    table = pq.read_table(path)
    assert table.column_names == ["length", "journey"]
    assert table["journey"].to_pylist()[-1] == pinned.tables[2].codewords[-1].tolist()
    description = json.loads(table.schema.metadata[b"nomadp"])
    assert description["format"] == FORMAT
    assert description["location_set_sha256"] == LOCATIONS.sha256
    assert (description["epsilon"], description["size"]) == ("4", 9)
    assert description["sha256"] == pinned.sha256
    made = design(LOCATIONS, 2, FOUR, 9)
    assert description["atlases"][1] == {
        "length": 2,
        "journeys": made.size,
        "near_count": made.near_count,
        "error_km": made.error_km,
    }


def test_an_atlas_made_by_hand_claims_no_error(tmp_path):
    page = CodebookTable(np.array([[0], [5]], dtype=np.int32), 1, math.nan)
    made = PinnedCodebooks(LOCATIONS.sha256, "by hand", FOUR, None, (page,))
    write_codebooks(tmp_path / "hand.parquet", made)
    codebooks = read_codebooks(tmp_path / "hand.parquet")
    assert codebooks == made
    assert math.isnan(codebooks.tables[0].error_km)


def test_refuses_journeys_that_were_changed(path):
    journeys = pq.read_table(path)["journey"].to_pylist()
    journeys[-1][0] = (journeys[-1][0] + 1) % 30
    rewritten(path, journey=pa.array(journeys, pa.list_(pa.int32())))
    with refused(SchemaError, "codebook_changed"):
        read_codebooks(path)


@pytest.mark.parametrize(
    "said", [{"sha256": None}, {"sha256": "00"}, {"epsilon": "3"}, {"location_set_sha256": "0"}]
)
def test_refuses_claims_that_were_changed(path, said):
    rewritten(path, said=said)
    with refused(SchemaError, "codebook_changed"):
        read_codebooks(path)


@pytest.mark.parametrize(
    ("said", "code"),
    [
        ({"format": "nomadp codebook 3"}, "not_a_codebook"),
        ({"format": "nomadp codebook 1"}, "old_codebook_version"),
        ({"size": "many"}, "codebook_damaged"),
        ({"epsilon": "much"}, "codebook_damaged"),
        ({"atlases": []}, "codebook_damaged"),
    ],
)
def test_refuses_a_description_that_does_not_fit(path, said, code):
    rewritten(path, said=said)
    with refused(SchemaError, code):
        read_codebooks(path)


@pytest.mark.parametrize(
    "journeys", [[[0], [1, 2]], [[0], None], [[0], [None]], [[0], [-1]], [[], [0]]]
)
def test_refuses_columns_that_do_not_fit(path, journeys):
    rows = pa.array(journeys, pa.list_(pa.int32()))
    rewritten(path, length=pa.array([1, 1], pa.int32()), journey=rows)
    with refused(SchemaError, "codebook_damaged"):
        read_codebooks(path)


def test_refuses_what_is_no_atlas(tmp_path):
    pq.write_table(pa.table({"length": np.arange(3)}), tmp_path / "other.parquet")
    with refused(SchemaError, "not_a_codebook"):
        read_codebooks(tmp_path / "other.parquet")
    (tmp_path / "torn.parquet").write_bytes(b"PAR1 and no more")
    with refused(SchemaError, "not_parquet"):
        read_codebooks(tmp_path / "torn.parquet")
    with refused(SchemaError, "unknown_suffix", suffixes=(".parquet",)):
        read_codebooks(tmp_path / "atlas.csv")
    with refused(SchemaError, "file_unreadable", errno=ENOENT):
        read_codebooks(tmp_path / "nowhere.parquet")


def test_refuses_the_atlas_of_another_location_set(path):
    with pytest.raises(DomainError):
        read_codebooks(path, triangle())


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path, pinned):
    (tmp_path / "atlas.parquet").mkdir()
    with refused(OutputError, "file_unwritable"):
        write_codebooks(tmp_path / "atlas.parquet", pinned)
    assert [each.name for each in tmp_path.iterdir()] == ["atlas.parquet"]
