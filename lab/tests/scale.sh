#!/usr/bin/env bash
# scale.sh LAB MPIRUN MPIEXEC PROGRAM [PROCESSES:NODE:ROWS:COLS]...: messages and bytes that restride-lab scale foretells are
# those that MPI processes on this machine send, directly and in two levels; their times are printed beside the model's.
set -euo pipefail
lab=$1 run=("$2" "$3") program=$4
shift 4
[ $# -gt 0 ] || set -- 6:3:600:1200 8:4:2048:4096 8:2:4000:2400
for case in "$@"; do
    IFS=: read -r processes node rows cols <<<"$case"
    "${run[@]}" "$processes" "$program" "$rows" "$cols" "$node" 3 >/tmp/scale.$$ || { cat /tmp/scale.$$ && exit 1; }
    "$lab" scale --bytes $((rows * cols * 4 / processes)) --processes "$processes" --node "$node" --chunk 128K --json |
        python3 -c '
import json, sys
row = json.load(sys.stdin)["rows"][0]
wrong = 0
for line in open(sys.argv[1]):
    way, messages, sent, milliseconds = line.split()
    told = row[way]
    same = (int(messages), int(sent)) == (told["messages"], told["bytes_sent"])
    wrong += not same
    print(f"{sys.argv[2]} {way}: {messages} messages, {sent} bytes, {milliseconds} ms;",
          "as the model has them" if same else "the model has %.0f and %.0f" % (told["messages"], told["bytes_sent"]))
sys.exit(wrong)' /tmp/scale.$$ "$case"
    rm /tmp/scale.$$
done
