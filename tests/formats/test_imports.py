"""Exports of phones and trackers give the points they must, or one refusal without content."""

import json
import logging
import pickle
import re
import subprocess
import sys
from datetime import UTC
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from imports_maker import EXPECTED, FILES, FOLDER
from refusals import refused

from nomadp.errors import NomadpError, SchemaError
from nomadp.formats.columns import ReadOptions, moment_texts
from nomadp.formats.fixes import instant, spread
from nomadp.formats.point_files import read_points
from nomadp.formats.presets import Reading
from nomadp.formats.timeline import segment_fixes
from nomadp.formats.unreadable import REASONS, Unreadable

SAID = json.loads((FOLDER / "expected.json").read_text(encoding="utf-8"))
READ = {name: each for name, each in SAID.items() if "journeys" in each}
REFUSED = {name: each for name, each in SAID.items() if "refused" in each}
ARCHIVES = (".gz", ".zip", ".kmz")


def journeys(points):
    """As expected.json has them."""
    times = [None] * len(points)
    if points.moment_us is not None:
        times = [moment_texts(np.array([each]))[0] for each in points.moment_us]
    rows = [
        [time and re.sub(r"0+Z$", "Z", time) if time and "." in time else time, lat, lng]
        for time, lat, lng in zip(times, points.lat.tolist(), points.lng.tolist(), strict=True)
    ]
    ends = points.offsets.tolist()
    return [rows[a:b] for a, b in pairwise(ends)]


def plain(rows):
    return [
        [[time and re.sub(r"(\.\d*?)0+Z$", r"\1Z", time), *place] for time, *place in journey]
        for journey in rows
    ]


@pytest.mark.parametrize("name", READ)
def test_every_made_export_gives_its_points(name, caplog):
    with caplog.at_level(logging.INFO, "nomadp.formats"):
        trajectories = journeys(read_points(FOLDER / name))
    assert trajectories == plain(READ[name]["journeys"])
    if "left_out" in READ[name]:
        counts = re.findall(r"[0-9]+", " ".join(caplog.messages).replace(name, ""))
        assert str(READ[name]["left_out"]) in counts


@pytest.mark.parametrize("name", REFUSED)
def test_every_broken_export_is_refused_for_its_reason(name):
    reason = REFUSED[name]["refused"]
    with refused(Unreadable, reason.replace("-", "_")) as refusal:
        read_points(FOLDER / name)
    assert refusal.value.reason == reason
    assert "30.5" not in str(refusal.value)
    assert refusal.value.__context__ is None


def test_a_refused_export_is_the_same_in_another_process():
    error = Unreadable("trips.json", code="not_json")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.code, again.reason) == (str(error), "not_json", "not-json")


def test_every_reason_is_met_by_a_made_file_or_is_rare():
    rare = {"too_large", "locked_archive", "not_xml", "unknown_xml"}
    met = {each["refused"].replace("-", "_") for each in REFUSED.values()}
    assert set(REASONS) - rare <= met <= set(REASONS)


def test_the_made_files_are_those_of_their_maker():
    assert json.loads(json.dumps(EXPECTED)) == SAID
    assert set(FILES) == set(SAID)
    for name, content in FILES.items():
        if not name.endswith(ARCHIVES):  # packed otherwise by other versions of zlib
            assert (FOLDER / name).read_bytes() == content, name


@pytest.mark.parametrize("name", ["timeline-android.json", "tracks.kml", "owntracks.rec"])
@pytest.mark.parametrize("called", ["x", "x.csv", "x.gpx", "x.json", "x.dat"])
def test_a_file_is_known_by_its_content_whatever_its_name(tmp_path, name, called):
    path = tmp_path / called
    path.write_bytes((FOLDER / name).read_bytes())
    assert journeys(read_points(path)) == plain(READ[name]["journeys"])


def test_raw_signals_are_read_where_they_are_asked_for():
    with_raw = Reading(raw_signals=True)
    trajectories = journeys(read_points(FOLDER / "raw-only.json", with_raw))
    assert trajectories == SAID["raw-only.json"]["with_raw_signals"]
    both = journeys(read_points(FOLDER / "timeline-android.json", with_raw))
    assert both[0] == plain(READ["timeline-android.json"]["journeys"])[0]
    assert both[1:] == SAID["raw-only.json"]["with_raw_signals"]


def test_the_profile_is_never_parsed(tmp_path):
    """What is no JSON inside the brackets does not matter, since nobody looks."""
    path = tmp_path / "timeline.json"
    whole = (FOLDER / "timeline-android-profile-first.json").read_text(encoding="utf-8")
    start, end = whole.index('"frequentPlaces"'), whole.index('"semanticSegments"')
    path.write_text(whole[:start] + "nonsense [ 1.2.3 ] } , " + whole[end:], encoding="utf-8")
    expected = plain(READ["timeline-android-profile-first.json"]["journeys"])
    assert journeys(read_points(path)) == expected


def test_gaps_split_where_they_are_asked_to():
    path = FOLDER / "timeline-gap.json"
    assert len(read_points(path, Reading(split_hours=2)).tids) == 3
    assert len(read_points(path, Reading(split_hours=9)).tids) == 1


def test_hours_are_those_of_the_clock_where_it_was():
    hours = Reading(options=ReadOptions(hours=True))
    # 2024-05-06 was a Monday; the Android file is three hours behind UTC.
    assert read_points(FOLDER / "timeline-android.json", hours).hours().tolist() == [8]
    hours = Reading(options=ReadOptions(UTC, hours=True))  # the other is written in UTC
    assert read_points(FOLDER / "timeline-ios.json", hours).hours().tolist() == [11]


def test_times_without_a_zone_are_read_where_somebody_says_it():
    points = read_points(FOLDER / "naive.kml", Reading(options=ReadOptions(UTC)))
    assert journeys(points) == plain(READ["tracks.kml"]["journeys"])


def test_a_folder_of_exports_is_read_whole_but_for_what_is_none(tmp_path, caplog, wording):
    for name in ("timeline-ios.json", "owntracks.rec", "tracks.kmz"):
        (tmp_path / name).write_bytes((FOLDER / name).read_bytes())
    (tmp_path / "Settings.json").write_text('{"createdTime": 1}')
    (tmp_path / "notes.txt").write_text("hello")
    with caplog.at_level(logging.INFO, "nomadp.formats"):
        assert len(read_points(tmp_path).tids) == 4
    wording(
        "formats",
        "log of a folder of exports",
        "\n".join(caplog.messages),
        hide={str(tmp_path): "FOLDER"},
    )


def test_columns_are_not_mapped_where_there_are_none():
    with refused(SchemaError, "columns_missing", missing=("who",)):
        read_points(FOLDER / "records.json", Reading(columns={"who": "uid"}))


def test_an_archive_with_a_password_is_refused(tmp_path):
    content = bytearray((FOLDER / "tracks.kmz").read_bytes())
    content[6] |= 1
    directory = content.index(b"PK\x01\x02")
    content[directory + 8] |= 1
    path = tmp_path / "locked.zip"
    path.write_bytes(bytes(content))
    with refused(Unreadable, "locked_archive"):
        read_points(path)


def test_the_importers_need_no_optional_package():
    program = (
        "import sys\n"
        "sys.modules.update(dict.fromkeys(['pyarrow', 'scipy', 'pandas', 'numba', 'h3']))\n"
        "from nomadp.formats.point_files import read_points\n"
        f"read_points({str(FOLDER / 'timeline-android.json')!r})\n"
        f"read_points({str(FOLDER / 'takeout.zip')!r})\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


MADE = [name for name in SAID if name != "bomb.json.gz"]


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_whatever_is_damaged_is_refused_without_a_digit_of_it(tmp_path, data):
    name = data.draw(st.sampled_from(MADE))
    content = bytearray((FOLDER / name).read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        how = data.draw(st.sampled_from(["change", "cut", "insert", "repeat"]))
        if how == "change":
            content[at] = data.draw(st.integers(0, 255))
        elif how == "cut" and len(content) > 1:
            del content[at : at + data.draw(st.integers(1, len(content) - 1))]
        elif how == "insert":
            content[at:at] = data.draw(
                st.binary(max_size=8) | st.sampled_from([b"]", b'"', b"1e999"])
            )
        else:
            content[at:at] = content[at : at + 50]
        if not content:
            content = bytearray(b" ")
    path = tmp_path / "damaged"
    path.write_bytes(bytes(content))
    refusal = refusal_of(path, Reading(raw_signals=data.draw(st.booleans())))
    if refusal is not None:
        message = str(refusal).removeprefix(str(path))
        assert not re.search(r"30\.|40\.2|305|402|0123|2411", message), message
        assert isinstance(refusal.__context__, NomadpError | OSError | None)


def refusal_of(path, reading):
    try:
        read_points(path, reading)
    except NomadpError as refusal:
        return refusal
    return None


def test_a_moment_in_utc_is_shown_by_the_clock_of_its_segment():
    point = {"point": "1.0°, 2.0°", "time": "2024-05-06T07:00:00Z"}
    span = {"startTime": "2024-05-06T08:00:00+02:00", "endTime": "2024-05-06T10:00:00+02:00"}
    (fix,) = segment_fixes({**span, "timelinePath": [point]})
    assert fix is not None
    assert fix.at.local_us - fix.at.moment_us == 2 * 3600 * 1_000_000


@pytest.mark.parametrize("text", ["1969-12-31T23:59:59Z", "2200-01-01T00:00:00Z"])
def test_what_a_clock_cannot_have_shown_is_no_time(text):
    assert instant(text) is None
    assert instant("2199-12-31T23:59:59Z") is not None


def test_what_ends_before_it_begins_is_left_out():
    begin, end = instant("2024-05-06T10:00:00Z"), instant("2024-05-06T09:00:00Z")
    assert list(spread(begin, end, [(1.0, 2.0), (1.0, 2.0)])) == [None, None]
    assert all(spread(end, begin, [(1.0, 2.0), (1.0, 2.0)]))
