#!/usr/bin/env bash
# run.sh BUILD [OUT] measures every peer that BUILD/lab/peers/peers was built with, peer after peer on each shape, and
# writes OUT.json and a table for documents, OUT.md (default: peers.json, peers.md). Each measurement may be put under a
# command of its own with WRAP (for example WRAP="taskset -c 0,1").
# CASES="RxC:type ..." replaces the shapes, REPEAT the number of runs (default 3).
set -euo pipefail
build=${1:?run.sh BUILD [OUT]}
out=${2:-peers}
peers=$build/lab/peers/peers
[ -x "$peers" ] || { echo "$peers is missing; configure with -DRESTRIDE_PEERS=ON." >&2; exit 1; }

papers="7200x1800 5100x2500 4000x3200 3300x3900 2500x5100 1800x7200"
large="20000x5000 5000x20000 10000x10000 9973x10007"
huge="30000x10000 10000x30000"
structures="20000000x3 10000000x8 4000000x19"
if [ -z "${CASES:-}" ]; then
    CASES="$(printf '%s:f32 ' $papers) $(printf '%s:f64 ' $papers) $(printf '%s:f32 ' $large $huge $structures)"
    CASES="$CASES 20000x5000:f64 10000x10000:f64 9973x10007:f64"
fi

: >"$out.tsv"
for one in $CASES; do
    while read -r peer; do
        # shellcheck disable=SC2086
        ${WRAP:-} "$peers" "${one%:*}" "${one#*:}" "$peer" "${REPEAT:-3}" </dev/null |
            awk -F '\t' 'NF == 8' | tee -a "$out.tsv" # OpenBLAS says that it ends on the same stream
    done < <("$peers" --list)
done

awk -F '\t' '
    BEGIN { print "[" }
    { printf "%s  {\"shape\": \"%s\", \"type\": \"%s\", \"peer\": \"%s\", ", (NR > 1 ? ",\n" : ""), $1, $2, $3
      if ($4 != "-") printf "\"gigabytes_per_second\": %s, \"copy_gigabytes_per_second\": %s, \"ratio\": %s, \"extra_bytes\": %s, ", $4, $5, $6, $7
      printf "\"result\": \"%s\"}", $8 }
    END { print "\n]" }' "$out.tsv" >"$out.json"

# One row a shape; in each cell the ratio to the copy and the extra memory in percent of the matrix.
awk -F '\t' '
    function cell(   size, side) {
        if ($8 != "right") return $8
        split($1, side, "x")
        size = side[1] * side[2] * ($2 == "f32" ? 4 : 8)
        return sprintf("%.2f, %.1f %%", $6, 100 * $7 / size)
    }
    { row = $1 " " $2
      if (!(row in rows)) { rows[row]; order[++count] = row }
      if (!($3 in named)) { named[$3]; peer[++columns] = $3 }
      text[row, $3] = cell() }
    END {
        printf "| shape |"; for (c = 1; c <= columns; c++) printf " %s |", peer[c]
        printf "\n|---|"; for (c = 1; c <= columns; c++) printf "---|"
        print ""
        for (r = 1; r <= count; r++) {
            printf "| %s |", order[r]
            for (c = 1; c <= columns; c++) printf " %s |", text[order[r], peer[c]]
            print ""
        }
    }' "$out.tsv" >"$out.md"
rm "$out.tsv"
cat "$out.md"
