"""Hypothesis strategies that several tests share."""

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from infgp.errors import InvalidInputError
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
    """Any Float without a step: of any width, anywhere, on either scale."""
    linear = pairs(st.floats(-1e300, 1e300)).map(lambda ends: Float(*ends))
    log = pairs(st.floats(1e-300, 1e300), apart).map(lambda ends: Float(*ends, log=True))
    return linear | log


def stepped():
    """Floats and Ints with a step, of up to a hundred values that are written with few digits."""
    tenths, wholes = st.integers(-1000, 1000), st.integers(1, 99)
    place = st.integers(-3, 3)
    floats = st.builds(
        lambda a, b, n, k: Float(a * 10**k, (a + b * n) * 10**k, step=b * 10**k), tenths, wholes, wholes, place
    )
    ints = st.builds(lambda a, b, n: Int(a, a + b * n, step=b), tenths, wholes, wholes)
    return floats | ints


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


@st.composite
def conditional(draw, mapping):
    """The parameters of a mapping, some with conditions on one or two of those before them; then in any order."""
    out = {}
    for name, parameter in mapping.items():
        parents = [other for other, p in out.items() if not isinstance(p, Float)]
        chosen = draw(st.lists(st.sampled_from(parents), unique=True, max_size=2)) if parents else []
        when = {parent: draw(st.lists(values(out[parent]), min_size=1, max_size=3)) for parent in chosen}
        out[name] = replace(parameter, when=when or None)
        try:
            Space(tuple(out), tuple(out.values()))
        except InvalidInputError:  # two conditions that exclude each other
            out[name] = parameter
    return {name: out[name] for name in draw(st.permutations(list(out)))}


def values(parameter):
    """Any value of an Int or a Choice."""
    if isinstance(parameter, Choice):
        return st.sampled_from(parameter.options)
    return st.integers(0, int(parameter.size) - 1).map(lambda k: parameter.low + k * parameter.step)


def spaces(parameters=None):
    """Spaces of one to five parameters, at least one of which varies, with and without conditions."""
    parameters = floats() | stepped() | ints() | choices() if parameters is None else parameters
    mappings = st.dictionaries(st.text(min_size=1), parameters, min_size=1, max_size=5)
    mappings = mappings.filter(lambda mapping: any(p.width for p in mapping.values()))
    return mappings.flatmap(conditional).map(Space.of)


@st.composite
def spaces_with_positions(draw, parameters=None):
    """A space and up to six positions, shape (m, d), in its unit cube or a little outside."""
    space = draw(spaces(parameters))
    shape = st.tuples(st.integers(0, 6), st.just(space.d))
    return space, draw(arrays(float, shape, elements=st.floats(0.0, 1.0) | st.floats(-0.1, 1.1)))
