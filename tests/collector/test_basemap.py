"""The basemap's file as a collector takes and serves it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from basemaps import write_basemap
from collecting import Address, bundle_of, collector
from refusals import refused

from nomadp.collector.basemap import PART_BYTES, load_basemap
from nomadp.collector.service import Service
from nomadp.collector.store import Store
from nomadp.errors import SchemaError

PATH = "/basemap.pmtiles"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return write_basemap(tmp_path / "city.pmtiles", "#30a050")


@pytest.fixture
def served(sqlite: Store, file: Path) -> Iterator[Address]:
    def started(service: Service) -> None:
        service.basemap = load_basemap(file)

    with collector(sqlite, bundle_of(), started=started) as address:
        yield address


def test_a_part_is_what_the_file_has_there(served: Address, file: Path) -> None:
    content = file.read_bytes()
    part = served.ask("GET", PATH, range="bytes=7-126")
    assert (part.status, part.body) == (206, content[7:127])
    assert part.headers["content-range"] == f"bytes 7-126/{len(content)}"
    assert part.headers["content-length"] == "120"


def test_a_part_ends_where_the_file_does(served: Address, file: Path) -> None:
    content = file.read_bytes()
    whole = served.ask("GET", PATH, range="bytes=0-16383")
    assert (whole.status, whole.body) == (206, content)
    assert whole.headers["content-range"] == f"bytes 0-{len(content) - 1}/{len(content)}"


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"range": "bytes=5-4"},
        {"range": "bytes=0-1,4-5"},
        {"range": "bytes=-5"},
        {"range": "bytes=0-"},
        {"range": "lines=0-5"},
        {"range": f"bytes=0-{PART_BYTES}"},
        {"range": "bytes=99999999-100000000"},
        {"range": f"bytes={'9' * 4000}-{'9' * 4000}"},
    ],
)
def test_what_is_no_single_small_part_is_refused(
    served: Address, asked: dict[str, str]
) -> None:
    reply = served.ask("GET", PATH, **asked)
    assert (reply.status, reply.problem) == (416, "part_needed")


def test_only_the_analyst_is_told_of_it_and_everybody_may_have_it(served: Address) -> None:
    assert served.ask("GET", "/tasks").status == 401
    address = served.ask("GET", "/tasks", role="analyst").json["basemap"]
    part = served.ask("GET", address, range="bytes=0-6")
    assert part.body == b"PMTiles"
    assert "immutable" in part.headers["cache-control"]
    assert part.headers["etag"].strip('"') in address


def test_another_file_has_another_address_and_tag(served: Address, file: Path) -> None:
    address = served.ask("GET", "/tasks", role="analyst").json["basemap"]
    before = served.ask("GET", address, range="bytes=0-6")
    write_basemap(file)
    after = served.ask("GET", address, range="bytes=0-6")
    assert before.headers["etag"] != after.headers["etag"]
    assert after.headers["cache-control"] == "no-cache"
    assert load_basemap(file).address != address


def test_a_collector_without_one_says_so(address: Address) -> None:
    assert address.ask("GET", "/tasks", role="analyst").json["basemap"] is None
    assert address.ask("GET", PATH, range="bytes=0-6").problem == "not_found"


def test_neither_parts_nor_refusals_are_logged(
    served: Address, capfd: pytest.CaptureFixture[str]
) -> None:
    served.ask("GET", PATH, range="bytes=7-126")
    served.ask("GET", PATH)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("at", "value", "code"),
    [
        (0, b"p", "basemap_not_pmtiles"),
        (7, b"\x02", "basemap_not_pmtiles"),
        (97, b"\x03", "basemap_compression_unsupported"),
        (98, b"\x04", "basemap_compression_unsupported"),
        (99, b"\x00", "basemap_tiles_unsupported"),
    ],
)
def test_a_file_that_the_page_cannot_draw_is_refused(
    file: Path, at: int, value: bytes, code: str
) -> None:
    content = bytearray(file.read_bytes())
    content[at : at + 1] = value
    file.write_bytes(content)
    with refused(SchemaError, code):
        load_basemap(file)


def test_a_file_that_is_cut_off_is_refused(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:100])
    with refused(SchemaError, "basemap_not_pmtiles"):
        load_basemap(file)
