"""Hypothesis strategies that several tests share."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from infgp.space import Choice, Float, Int, Space

LARGEST = 2**53


def increasing(pair):
    return pair[0] < pair[1]


def pairs(values, condition=increasing):
    return st.tuples(values, values).map(sorted).filter(condition)


def apart(pair):
    """Whether the logarithms of a pair can be told apart."""
    return np.log(pair[0]) < np.log(pair[1])


def floats():
    """Any Float: of any width, anywhere, on either scale."""
    linear = pairs(st.floats(-1e300, 1e300)).map(lambda ends: Float(*ends))
    log = pairs(st.floats(1e-300, 1e300), apart).map(lambda ends: Float(*ends, log=True))
    return linear | log


def ints():
    """Any Int, narrow or wide, constants included."""
    ends = st.integers(-LARGEST, LARGEST) | st.integers(-5, 5)
    positive = st.integers(1, LARGEST) | st.integers(1, 5)
    linear = st.tuples(ends, ends).map(lambda pair: Int(*sorted(pair)))
    log = st.tuples(positive, positive).map(lambda pair: Int(*sorted(pair), log=True))
    return linear | log


def choices():
    """Any Choice of up to five options of mixed types."""
    scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text()
    return st.lists(scalars, min_size=1, max_size=5, unique=True).map(Choice)


def spaces(parameters=None):
    """Spaces of one to five parameters, at least one of which varies."""
    parameters = floats() | ints() | choices() if parameters is None else parameters
    mappings = st.dictionaries(st.text(min_size=1), parameters, min_size=1, max_size=5)
    return mappings.filter(lambda mapping: any(p.width for p in mapping.values())).map(Space.of)


@st.composite
def spaces_with_positions(draw, parameters=None):
    """A space and up to six positions, shape (m, d), in its unit cube or a little outside."""
    space = draw(spaces(parameters))
    shape = st.tuples(st.integers(0, 6), st.just(space.d))
    return space, draw(arrays(float, shape, elements=st.floats(0.0, 1.0) | st.floats(-0.1, 1.1)))
