"""Moments as check-in files write them, against Python's own reading of them."""

import re
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nomadp.formats.checkin_files import LAYOUTS

FOURSQUARE_TIME, GOWALLA_TIME = LAYOUTS["foursquare"], LAYOUTS["gowalla"]

MOMENTS = st.datetimes(datetime(1000, 1, 1), datetime(9990, 1, 1)).map(
    lambda moment: moment.replace(microsecond=0)
)
OFFSETS = st.integers(-14 * 60, 14 * 60).map(lambda m: timezone(timedelta(minutes=m)))


def read(form, texts):
    assert all(re.search(form.pattern, text) for text in texts)
    matrix = np.array([list(text.encode()) for text in texts], dtype=np.uint8)
    return form.read(matrix)


def microseconds(moment):
    return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


@given(MOMENTS, OFFSETS)
def test_foursquare_moments_are_read_as_python_reads_them(naive, offset):
    moment = naive.replace(tzinfo=offset)
    text = moment.strftime("%a %b %d %H:%M:%S %z %Y")
    moment_us, real = read(FOURSQUARE_TIME, [text])
    assert real.all()
    assert moment_us.tolist() == [microseconds(moment)]


@given(MOMENTS)
def test_gowalla_moments_are_read_as_python_reads_them(naive):
    moment_us, real = read(GOWALLA_TIME, [naive.strftime("%Y-%m-%dT%H:%M:%SZ")])
    assert real.all()
    assert moment_us.tolist() == [microseconds(naive.replace(tzinfo=UTC))]


@pytest.mark.parametrize(
    "text",
    [
        "2011-02-29T00:00:00Z",
        "2011-13-01T00:00:00Z",
        "2011-00-01T00:00:00Z",
        "2011-01-00T00:00:00Z",
        "2011-01-01T24:00:00Z",
        "2011-01-01T00:60:00Z",
        "2011-01-01T00:00:61Z",
    ],
)
def test_a_moment_that_never_was_is_not_real(text):
    assert not read(GOWALLA_TIME, [text])[1].any()


@pytest.mark.parametrize(
    "text",
    [
        "2010-10-19T23:55:27",
        "2010-10-19 23:55:27Z",
        "x2010-10-19T23:55:27Z",
        "2010-1-19T2:5:27Z",
    ],
)
def test_other_spellings_do_not_fit_the_pattern(text):
    assert not re.search(GOWALLA_TIME.pattern, text)
    assert not re.search(FOURSQUARE_TIME.pattern, text)


def test_a_month_in_another_language_does_not_fit():
    assert not re.search(FOURSQUARE_TIME.pattern, "Die Mai 03 18:00:09 +0000 2012"[:29])
    assert not re.search(FOURSQUARE_TIME.pattern, "Die Okt 03 18:00:09 +0000 2012")
