"""Moments as text."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refused

from nomadp.errors import InvalidArgument
from nomadp.formats.columns import EARLIEST_US, LATEST_US, Moments, moment_texts


@given(st.lists(st.integers(EARLIEST_US, LATEST_US)))
def test_moments_survive_being_written_and_read(moments):
    texts = moment_texts(np.array(moments, dtype=np.int64))
    assert Moments().add(texts).tolist() == moments


def test_decimals_are_written_only_where_there_are_some():
    assert moment_texts(np.array([0, 1_000_000]))[1] == "1970-01-01T00:00:01Z"
    assert moment_texts(np.array([0, 1]))[1] == "1970-01-01T00:00:00.000001Z"


@pytest.mark.parametrize("moment", [EARLIEST_US - 1, LATEST_US + 1])
def test_refuses_years_that_no_calendar_text_can_hold(moment):
    with refused(InvalidArgument, "moment_out_of_range"):
        moment_texts(np.array([moment]))
