"""Arrays for tests: made of every kind of dtype and view, between guards, beside what NumPy makes of them."""

import os

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

GUARD = 64
CASES = int(os.environ.get("RESTRIDE_CASES", "0"))


def cases(usual):
    """How many examples of a property are tried: its usual number, or a share of RESTRIDE_CASES."""
    return settings(
        max_examples=CASES or usual,
        deadline=None,
        derandomize=not CASES,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


SCALARS = [
    "?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "g", "F", "D", "G",
    "M8[ns]", "M8[D]", "m8[s]", ">i2", ">u4", ">f4", ">f8", ">c8", ">M8[us]",
    "S1", "S5", "S13", "U1", "U3", ">U2", "V1", "V2", "V3", "V7", "V12", "V16", "V20", "V33", "V64", "V100", "V257",
]  # fmt: skip

scalars = st.sampled_from(SCALARS).map(np.dtype)


@st.composite
def members(draw, inner):
    """A member of a structure: a type, perhaps an array of it."""
    kind = draw(inner)
    shape = draw(st.sampled_from([(), (), (), (1,), (3,), (2, 2)]))
    return np.dtype((kind, shape)) if shape else kind


@st.composite
def structures(draw, inner):
    """A structured dtype: packed, aligned, or with offsets, gaps, overlaps and titles."""
    count = draw(st.integers(1, 5))
    names = [f"n{k}" for k in range(count)]
    formats = [draw(members(inner)) for _ in names]
    form = draw(st.sampled_from(["packed", "aligned", "offsets", "overlapping"]))
    described = {"names": names, "formats": formats}
    if draw(st.booleans()):
        described["titles"] = [f"title of {name}" for name in names]
    if form in ("packed", "aligned"):
        return np.dtype(described, align=form == "aligned")
    offsets, end = [], 0
    for kind in formats:
        low = 0 if form == "overlapping" else end
        offset = draw(st.integers(low, end + 5))
        offsets.append(offset)
        end = max(end, offset + kind.itemsize)
    if draw(st.booleans()):  # members need not come in the order of their bytes
        described = {key: list(values)[::-1] for key, values in described.items()}
        offsets.reverse()
    return np.dtype({**described, "offsets": offsets, "itemsize": end + draw(st.integers(0, 5))})


records = structures(st.one_of(scalars, structures(scalars)))
dtypes = st.one_of(scalars, scalars, records)


def raw(array):
    """The same elements as bytes that NumPy only moves; what padding holds counts too."""
    return array.view(np.ndarray).view(np.dtype((np.void, array.dtype.itemsize)))


class Guarded:
    """An array in the middle of a buffer that nobody else may change."""

    def __init__(self, nbytes, misalignment, seed):
        self.first = GUARD + misalignment
        self.nbytes = nbytes
        self.buffer = np.random.default_rng(seed).integers(0, 256, self.first + nbytes + GUARD, dtype=np.uint8)
        self.before = self.buffer.copy()

    def array(self, dtype, shape, strides=None, first=0):
        return np.ndarray(shape, dtype, self.buffer, self.first + first, strides)

    def check_guards(self):
        last = self.first + self.nbytes
        assert (self.buffer[: self.first] == self.before[: self.first]).all(), "bytes before the array have changed"
        assert (self.buffer[last:] == self.before[last:]).all(), "bytes after the array have changed"

    def check_unchanged(self):
        assert (self.buffer == self.before).all(), "a refused array has changed"


shapes = st.one_of(
    st.lists(st.integers(0, 7), max_size=5),
    st.lists(st.integers(1, 9), min_size=2, max_size=4),
    st.lists(st.integers(1, 300), min_size=2, max_size=2),
    st.lists(st.integers(1, 3), min_size=5, max_size=10),
).map(tuple)


def dense_strides(shape, order, itemsize):
    strides, step = [itemsize] * len(shape), itemsize
    for axis in reversed(order):
        strides[axis] = step
        step *= max(shape[axis], 1)
    return tuple(strides)


@st.composite
def dense(draw, dtype=dtypes, shape=shapes):
    """A guarded dense array with its axes in any order, at any address: (Guarded, array)."""
    kind, extents = draw(dtype), list(draw(shape))
    most = 4 << 20 if draw(st.integers(0, 40)) == 40 else 64 << 10  # bytes; large ones have threads
    while int(np.prod(extents, dtype=np.int64)) * kind.itemsize > most and max(extents) > 1:
        longest = extents.index(max(extents))
        extents[longest] = (extents[longest] + 1) // 2
    rank = len(extents)
    order = draw(st.sampled_from(["C", "F", "any"]))
    axes = list(range(rank))
    axes = axes if order == "C" else axes[::-1] if order == "F" else draw(st.permutations(axes))
    count = int(np.prod(extents, dtype=np.int64))
    guarded = Guarded(count * kind.itemsize, draw(st.integers(0, 17)), draw(st.integers(0, 2**32)))
    return guarded, guarded.array(kind, tuple(extents), dense_strides(extents, axes, kind.itemsize))


@st.composite
def views(draw):
    """A guarded array with any strides, often not dense: (Guarded, array)."""
    guarded, array = draw(dense())
    for axis in range(array.ndim):
        change = draw(st.sampled_from(["whole"] * 5 + ["part", "step", "back", "broadcast", "slide"]))
        index = [slice(None)] * array.ndim
        if change == "part":
            index[axis] = slice(draw(st.integers(0, 2)), draw(st.integers(0, 8)))
        elif change == "step":
            index[axis] = slice(None, None, 2)
        elif change == "back":
            index[axis] = slice(None, None, -1)
        elif change == "broadcast" and array.shape[axis]:
            index[axis] = slice(0, 1)
            shape = array.shape[:axis] + (3,) + array.shape[axis + 1 :]
            array = np.lib.stride_tricks.as_strided(
                array[tuple(index)], shape, array.strides[:axis] + (0,) + array.strides[axis + 1 :]
            )
            continue
        elif change == "slide" and array.shape[axis] > 2:  # windows that overlap
            shape = array.shape[:axis] + (2, array.shape[axis] - 1) + array.shape[axis + 1 :]
            strides = array.strides[:axis] + (array.strides[axis],) * 2 + array.strides[axis + 1 :]
            array = np.lib.stride_tricks.as_strided(array, shape, strides)
            break
        array = array[tuple(index)]
    if draw(st.integers(0, 9)) == 0:
        array.flags.writeable = False
    return guarded, array


def offsets_of(array):
    """Where each element begins, in bytes from the first one, in the order of the indices: asked of NumPy's strides."""
    offsets = np.zeros(array.shape, np.int64)
    for axis, (n, step) in enumerate(zip(array.shape, array.strides)):
        along = [1] * array.ndim
        along[axis] = n
        offsets = offsets + np.arange(n, dtype=np.int64).reshape(along) * step
    return offsets.ravel()


def is_dense(array):
    """Whether the elements are the memory from the first one on, each byte once: counted, not concluded."""
    places = np.sort(offsets_of(array))
    return bool((places == np.arange(places.size) * array.itemsize).all())
