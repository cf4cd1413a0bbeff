#!/usr/bin/env bash
# measured.sh RESTRIDE_LAB TIMES: what the judge foretells beside times that were measured on an H200.
set -euo pipefail
out=$("$1" judge --from "$2" | tail -3)
echo "$out"
right=$(sed -nE 's/.*direction right in [0-9]+ \(([0-9]+) %\), gain.*/\1/p' <<<"$out")
within=$(sed -nE 's/.*gain within 25 % in [0-9]+ \(([0-9]+) %\).*/\1/p' <<<"$out")
[ "$right" -ge 90 ]
[ "$within" -ge 86 ]
grep -q 'of which 0 lose more than 5 %' <<<"$out"
