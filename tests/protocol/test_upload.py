"""The bytes of a request."""

import json

import pytest
from refusals import refused

from nomadp.errors import InvalidArgument, ReportRefused
from nomadp.protocol.upload import SentReport, is_report_id, report_id, upload_bytes

ONE = SentReport(report_id(bytes(range(16))), 20_773, "BQ")


def test_an_upload_is_of_these_bytes():
    assert upload_bytes([ONE]) == (
        b'{"reports":[{"report_id":"AAECAwQFBgcICQoLDA0ODw","time":20773,"value":"BQ"}]}'
    )


def test_an_upload_has_one_size_whatever_is_reported():
    ids = [bytes(16), bytes([255] * 16)]
    sizes = {
        len(upload_bytes([SentReport(report_id(each), time, value)]))
        for each in ids
        for time in (10_000, 99_999)
        for value in ("AA", "_w")
    }
    assert len(sizes) == 1


def test_up_to_one_hundred_reports_travel_together():
    assert len(json.loads(upload_bytes([ONE] * 100))["reports"]) == 100
    for count in (0, 101):
        with refused(ReportRefused, "upload_count_out_of_range", limit=100, reports=count):
            upload_bytes([ONE] * count)


def test_an_upload_is_never_larger_than_what_is_taken():
    with refused(ReportRefused, "upload_too_large", limit=65_536):
        upload_bytes([SentReport(ONE.report_id, 1, "A" * 2731)] * 30)


@pytest.mark.parametrize(
    "text", ["", "A" * 21, "A" * 23, "A" * 21 + "B", "A" * 21 + "=", "+" * 21 + "A"]
)
def test_what_cannot_be_an_id_is_not_sent(text):
    assert not is_report_id(text)
    with refused(ReportRefused, "report_id_or_time_malformed"):
        upload_bytes([SentReport(text, 1, "BQ")])


def test_an_id_is_of_sixteen_bytes():
    with refused(InvalidArgument, "report_id_size", limit=16, size=15):
        report_id(bytes(15))
