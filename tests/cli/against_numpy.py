#!/usr/bin/python3
"""against_numpy.py RESTRIDE: files of NumPy, transposed, hold what numpy.transpose makes of them; and converted, the
members of their structures lie where the layout says.

Ends with status 77, skipped, where NumPy (python3-numpy) is not installed."""
import itertools
import os
import random
import subprocess
import sys
import tempfile

try:
    import numpy
except ImportError:
    sys.exit(77)

restride = sys.argv[1]
failures = 0


def complain(sentence):
    global failures
    failures += 1
    print("FAILED:", sentence)


def values(shape, dtype):
    count = int(numpy.prod(shape)) * numpy.dtype(dtype).itemsize
    return numpy.frombuffer(numpy.random.default_rng(count).bytes(count), dtype=dtype).reshape(shape)


def opaque(array, change):
    """Changes an array whose elements keep all of their bytes, padding too."""
    return change(array.view(f"V{array.itemsize}")).view(array.dtype)


def save(path, array, version):
    with open(path, "wb") as file:
        numpy.lib.format.write_array(file, array, version=version)


def check(path, shape, dtype, order, axes, version):
    array = values(shape, dtype)
    save(path, opaque(array, lambda bare: numpy.asarray(bare, order=order)), version)
    command = [restride, "transpose", path]
    if axes is not None:
        command += ["--axes", ",".join(map(str, axes))]
    done = subprocess.run(command, capture_output=True, text=True)
    wanted = opaque(array, lambda bare: numpy.ascontiguousarray(bare.transpose(axes)))
    case = f"{shape} {dtype} {order} {axes} {version}"
    if done.returncode != 0:
        complain(f"{case}: {done.stderr}")
        return
    found = numpy.load(path)
    same = found.dtype == wanted.dtype and found.shape == wanted.shape and found.tobytes() == wanted.tobytes()
    if not same or not found.flags.c_contiguous:
        complain(f"{case}: other values")
    # A new array of that shape has, byte for byte, the same file.
    save(path + ".wanted", wanted, version)
    with open(path, "rb") as ours, open(path + ".wanted", "rb") as theirs:
        if ours.read() != theirs.read():
            complain(f"{case}: another file than NumPy writes")


def leaves(dtype, offset=0):
    """Offset and size of every entry that moves as a whole, in their order in memory."""
    if dtype.subdtype:
        base, shape = dtype.subdtype
        for i in range(int(numpy.prod(shape))):
            yield from leaves(base, offset + i * base.itemsize)
    elif dtype.names:
        for name in dtype.names:
            yield from leaves(dtype.fields[name][0], offset + dtype.fields[name][1])
    else:
        yield offset, dtype.itemsize


def check_conversion(path, count, dtype, tile):
    """From AoS to tiles of `tile` structures (0: SoA) and back."""
    array = values((count,), dtype)
    numpy.save(path, array)
    raw = numpy.frombuffer(array.tobytes(), "u1").reshape(count, dtype.itemsize)
    tiles = [raw[i:i + (tile or count)] for i in range(0, count, tile or count)]
    wanted = b"".join(part[:, at:at + size].tobytes() for part in tiles for at, size in leaves(dtype))
    layout = f"i/{tile} f i%{tile}" if tile else "f i"
    for source, target, bytes_wanted in (("i f", layout, wanted), (layout, "i f", array.tobytes())):
        done = subprocess.run([restride, "convert", path, "--from", source, "--to", target], capture_output=True, text=True)
        with open(path, "rb") as file:
            if done.returncode or file.read()[-len(wanted):] != bytes_wanted:
                complain(f"{count} of {dtype} from {source} to {target}: {done.stderr or 'other bytes'}")


point = numpy.dtype([("x", "<f4"), ("m", "<f8"), ("v", "<i2", (3,))], align=True)
dtypes = ["|u1", "<f2", ">f4", "<f8", "<c16", "|S5", "<U3", "<M8[s]", point]
shapes = [(2, 3), (1, 7), (7, 1), (5, 5), (64, 33), (100, 101), (12,), (2, 3, 4), (5, 1, 7, 3)]
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "a.npy")
    for shape, dtype, order in itertools.product(shapes, dtypes, "CF"):
        check(path, shape, dtype, order, None, (1, 0))
    for version in (2, 0), (3, 0):
        check(path, (30, 40), "<f4", "C", None, version)
        check(path, (30, 40), point, "F", None, version)
    random.seed(1)
    for rank in 2, 3, 4, 5:
        for axes in random.sample(list(itertools.permutations(range(rank))), min(12, [1, 1, 2, 6, 24, 120][rank])):
            shape = tuple(random.choice((1, 2, 3, 5, 8)) for _ in range(rank))
            check(path, shape, "<f4", random.choice("CF"), axes, (1, 0))
    # NumPy packs structures, so members lie at any byte.
    for count in 1, 5, 33, 1000, 4099:
        for _ in range(4):
            types = random.choices(("|i1", "<i2", "<f4", "<f8", "<c16", "|S3", "<U2", ("<i2", (3,)), [("a", "<f8"), ("b", "|u1")]),
                                   k=random.randint(1, 7))
            packed = numpy.dtype([(f"m{i}", *(t if isinstance(t, tuple) else (t,))) for i, t in enumerate(types)])
            check_conversion(path, count, packed, random.choice((0, 16, 32)))
    # What NumPy writes is recognised, and refused with the sentence that fits.
    for array, sentence in (
        (numpy.array([1, "a"], dtype=object), "Python objects"),
        (numpy.float32(1), "single value"),
        (numpy.zeros((0, 3)), "empty"),
    ):
        numpy.save(path, array)
        done = subprocess.run([restride, "transpose", path], capture_output=True, text=True)
        if done.returncode != 1 or sentence not in done.stderr:
            complain(f"{array!r}: {done.stderr}")
    numpy.savez_compressed(os.path.join(folder, "a.npz"), a=values((2, 3), "<f4"))
    done = subprocess.run([restride, "transpose", os.path.join(folder, "a.npz")], capture_output=True, text=True)
    if done.returncode != 1 or ".npz archive" not in done.stderr:
        complain(f"npz: {done.stderr}")
print(failures, "failures")
sys.exit(failures != 0)
