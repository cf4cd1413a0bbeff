#!/usr/bin/env bash
# numpy.sh LIBRARY EXAMPLE: the example for NumPy, with a library that was built here.
source "$(dirname "$0")/expect.sh"
python=/usr/bin/python3
if ! "$python" -c 'import numpy' 2>/dev/null; then
    echo "skipped: NumPy is not installed"
    exit 77
fi
LD_LIBRARY_PATH=$(dirname "$1")
PYTHONPATH=$(dirname "$2")
export LD_LIBRARY_PATH PYTHONPATH PYTHONDONTWRITEBYTECODE=1

expect 0 "$python" "$2" 70001
says out '^70001 records, 1 MB: converted in '
expect 1 "$python" -c 'import fields, numpy
fields.Converter(numpy.dtype("f4, i1"), 9, "i f", "f i")'
says err 'ValueError: the members do not lie as C'
expect 1 "$python" -c 'import fields, numpy
fields.Converter(numpy.dtype("f4, i4"), 9, "i f", "f x")'
says err 'RuntimeError: At character 3 of the layout "f x": there is no dimension "x"'
expect 1 "$python" -c 'import fields, numpy
record = numpy.dtype("f4, i4")
fields.Converter(record, 9, "i f", "f i")(numpy.zeros(8, record))'
says err 'ValueError: this is not the array'
finish
