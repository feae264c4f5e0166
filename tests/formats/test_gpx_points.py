"""GPX tracks: read as they stream by, refused by line."""

import logging

import pytest

from nomadp.errors import SchemaError
from nomadp.formats.point_files import read_points

HEAD = '<?xml version="1.0"?>\n<gpx version="1.1" xmlns="urn:gpx:1/1">\n'
TRACK = (
    "<wpt lat='1' lon='2'><time>SECRET</time></wpt>\n"
    "<trk><name>SECRET walk home</name><trkseg>\n"
    '<trkpt lat="47.5" lon="8.5"><ele>400</ele><time>2020-01-01T00:00:00Z</time></trkpt>\n'
    '<trkpt lat="47.6" lon="8.6"><time> 2020-01-01T02:00:00+01:00 </time></trkpt>\n'
    "</trkseg><trkseg></trkseg></trk>\n"
    '<trk><trkseg><trkpt lat="48" lon="9"><time>2020-01-02T00:00:00.5Z</time></trkpt></trkseg>'
    "</trk>\n"
)


def written(folder, content):
    path = folder / "walk.gpx"
    path.write_text(content, encoding="utf-8")
    return path


def test_every_segment_is_a_trajectory_with_a_number_for_a_name(tmp_path, caplog):
    with caplog.at_level(logging.INFO, logger="nomadp"):
        points = read_points(written(tmp_path, HEAD + TRACK + "</gpx>"))
    assert (points.tids, points.offsets.tolist()) == (("1", "2"), [0, 2, 3])
    assert (points.lat.tolist(), points.lng.tolist()) == ([47.5, 47.6, 48.0], [8.5, 8.6, 9.0])
    hour = 3_600_000_000
    assert (points.moment_us - points.moment_us[0]).tolist() == [0, hour, 24 * hour + 500_000]
    assert "2 track segments are trajectories; 1 empty ones and 1 points" in caplog.text
    assert "SECRET" not in caplog.text


def test_nothing_is_said_of_a_file_in_which_nothing_is_left_out(tmp_path, caplog):
    track = '<trk><trkseg><trkpt lat="1" lon="2"/></trkseg></trk></gpx>'
    with caplog.at_level(logging.INFO, logger="nomadp"):
        read_points(written(tmp_path, HEAD + track))
    assert "track segments" not in caplog.text


def test_gpx_1_0_and_files_without_a_namespace_are_read(tmp_path):
    for head in ('<gpx version="1.0">', HEAD.replace("1/1", "1/0")):
        assert len(read_points(written(tmp_path, head + TRACK + "</gpx>"))) == 3


def test_a_track_without_times_keeps_its_order(tmp_path):
    track = '<trk><trkseg><trkpt lat="1" lon="2"/><trkpt lat="3" lon="4"/></trkseg></trk>'
    points = read_points(written(tmp_path, HEAD + track + "</gpx>"))
    assert points.moment_us is None
    assert points.lat.tolist() == [1.0, 3.0]


BROKEN = [
    (TRACK.replace('lat="47.6"', 'lat="SECRET"'), "line 6: lat, lon or time must be a number"),
    (TRACK.replace('lat="47.6"', 'lat="147.6"'), r"line 6: lat, lon or time must be in \[-90"),
    (TRACK.replace('lat="47.6" ', ""), "line 6: a trkpt must be in a trkseg and have lat"),
    (TRACK.replace("02:00:00+01:00", "02:00:00"), "line 6: .* must have a time zone; add Z"),
    (TRACK.replace("<time> 2020-01-01T02:00:00+01:00 </time>", ""), "line 6: .* ISO 8601"),
    (TRACK.replace("</trkseg>", ""), "line 7: must be well-formed XML"),
    ("<wpt lat='1' lon='2'/>", "must have at least one track point"),
    ("<trk><trkpt lat='1' lon='2'/></trk>", "line 3: a trkpt must be in a trkseg"),
]


@pytest.mark.parametrize(("track", "says"), BROKEN)
def test_refuses_a_broken_track_by_its_line_without_quoting_it(tmp_path, track, says):
    path = written(tmp_path, HEAD + track + "\n</gpx>")
    with pytest.raises(SchemaError, match=says) as refusal:
        read_points(path)
    assert "SECRET" not in str(refusal.value)
    assert refusal.value.__context__ is None


def test_refuses_entities_before_they_grow(tmp_path):
    bomb = '<?xml version="1.0"?>\n<!DOCTYPE gpx [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>\n'
    with pytest.raises(SchemaError, match="line 2: must not have a document type declaration"):
        read_points(written(tmp_path, bomb + "<gpx>&b;</gpx>"))


def test_refuses_other_xml(tmp_path):
    with pytest.raises(SchemaError, match="line 1: must be GPX, and is other XML"):
        read_points(written(tmp_path, "<other></other>"))
