#!/usr/bin/env bash
# demo.sh RESTRIDE SCRIPT BUILD: the demonstration ends well on small arrays, and its page needs no other file but the report.
set -euo pipefail
source "$(dirname "$0")/expect.sh"
command -v oclgrind >/dev/null || { echo "skipped: oclgrind is not installed"; exit 77; }
/usr/bin/python3 -c 'import numpy' 2>/dev/null || { echo "skipped: NumPy is not installed"; exit 77; }
export MEGABYTES=4 CELLS=12
expect 0 /usr/bin/python3 "$2" "$3"
says out '^transpose a matrix  .*NumPy'
says out 'all bytes of the result are the same$'
says out 'expects its kernel to be [2-9]\.[0-9] times as fast\.$'
page=$3/demo/demo.html
grep -q '<svg' "$page" || complain "no plot in $page"
others=$(grep -oE '(src|href)=[^ >]*' "$page" | grep -v '^href=report.html$') || true
[ -z "$others" ] || complain "$page needs $others"
exit $((failures > 0))
