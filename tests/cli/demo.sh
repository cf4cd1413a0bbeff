#!/usr/bin/env bash
# demo.sh RESTRIDE SCRIPT BUILD: the demonstration ends well on small arrays, and its page needs no other file but the report.
set -euo pipefail
source "$(dirname "$0")/expect.sh"
for need in oclgrind; do
    command -v $need >/dev/null || { echo "skipped: $need is not installed"; exit 77; }
done
/usr/bin/python3 -c 'import numpy' 2>/dev/null || { echo "skipped: NumPy is not installed"; exit 77; }
export MEGABYTES=4 CELLS=12
expect 0 /usr/bin/python3 "$2" "$3"
says out '^transpose a matrix  .*NumPy'
says out 'all bytes of the result are the same$'
says out 'expects its kernel to be [2-9]\.[0-9] times as fast\.$'
page=$3/demo/demo.html
grep -q '<svg' "$page"
! grep -oE '(src|href)=[^ >]*' "$page" | grep -v '^href=report.html$'
exit $((failures > 0))
