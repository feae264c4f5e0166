"""GPX tracks: read as they stream by, refused by line."""

import logging

import pytest
from refusals import refused

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


def test_every_segment_is_a_trajectory_with_a_number_for_a_name(tmp_path, caplog, wording):
    with caplog.at_level(logging.INFO, logger="nomadp"):
        points = read_points(written(tmp_path, HEAD + TRACK + "</gpx>"))
    assert (points.tids, points.offsets.tolist()) == (("1", "2"), [0, 2, 3])
    assert (points.lat.tolist(), points.lng.tolist()) == ([47.5, 47.6, 48.0], [8.5, 8.6, 9.0])
    hour = 3_600_000_000
    assert (points.moment_us - points.moment_us[0]).tolist() == [0, hour, 24 * hour + 500_000]
    wording("formats", "log of GPX", "\n".join(caplog.messages), hide={str(tmp_path): "FOLDER"})
    assert "SECRET" not in caplog.text


def test_nothing_is_said_of_a_file_in_which_nothing_is_left_out(tmp_path, caplog):
    track = '<trk><trkseg><trkpt lat="1" lon="2"/></trkseg></trk></gpx>'
    with caplog.at_level(logging.INFO, logger="nomadp"):
        read_points(written(tmp_path, HEAD + track))
    assert caplog.messages == []


def test_gpx_1_0_and_files_without_a_namespace_are_read(tmp_path):
    for head in ('<gpx version="1.0">', HEAD.replace("1/1", "1/0")):
        assert len(read_points(written(tmp_path, head + TRACK + "</gpx>"))) == 3


def test_a_track_without_times_keeps_its_order(tmp_path):
    track = '<trk><trkseg><trkpt lat="1" lon="2"/><trkpt lat="3" lon="4"/></trkseg></trk>'
    points = read_points(written(tmp_path, HEAD + track + "</gpx>"))
    assert points.moment_us is None
    assert points.lat.tolist() == [1.0, 3.0]


BROKEN = [
    (TRACK.replace('lat="47.6"', 'lat="SECRET"'), "not_a_number", {"line": 6}),
    (TRACK.replace('lat="47.6"', 'lat="147.6"'), "not_degrees", {"line": 6}),
    (TRACK.replace('lat="47.6" ', ""), "incomplete_track_point", {"line": 6}),
    (TRACK.replace("02:00:00+01:00", "02:00:00"), "time_zone_missing", {"line": 6}),
    (
        TRACK.replace("<time> 2020-01-01T02:00:00+01:00 </time>", ""),
        "not_a_moment",
        {"line": 6},
    ),
    (TRACK.replace("</trkseg>", ""), "not_xml", {"line": 7}),
    ("<wpt lat='1' lon='2'/>", "no_points", {}),
    ("<trk><trkpt lat='1' lon='2'/></trk>", "incomplete_track_point", {"line": 3}),
]


@pytest.mark.parametrize(("track", "code", "facts"), BROKEN)
def test_refuses_a_broken_track_by_its_line_without_quoting_it(tmp_path, track, code, facts):
    path = written(tmp_path, HEAD + track + "\n</gpx>")
    with refused(SchemaError, code, **facts) as refusal:
        read_points(path)
    assert "SECRET" not in str(refusal.value)
    assert refusal.value.__context__ is None


def test_refuses_entities_before_they_grow(tmp_path):
    bomb = '<?xml version="1.0"?>\n<!DOCTYPE gpx [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>\n'
    with refused(SchemaError, "doctype", line=2):
        read_points(written(tmp_path, bomb + "<gpx>&b;</gpx>"))


def test_refuses_other_xml(tmp_path):
    with refused(SchemaError, "not_gpx", line=1):
        read_points(written(tmp_path, "<other></other>"))
