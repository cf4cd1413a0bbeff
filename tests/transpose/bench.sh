#!/usr/bin/env bash
# bench.sh RESTRIDE: restride bench transpose measures, verifies and reports, and refuses bad usage.
restride=$1
source "$(dirname "$0")/../cli/expect.sh"

expect 0 "$restride" bench transpose --engine host --shape 640x480,3x5000 --type f64 --threads 2 --repeat 3
says out '^ +640 x 480 +f64 '
says out '^ +3 x 5000 +f64 '
expect 0 "$restride" bench transpose --shape 640x480 --repeat 3 --threads 2 --json
for member in '"verified": true' '"rows": 640' '"ratio": [0-9]' '"copy_gbps": [0-9]' '"scratch_bytes": [0-9]' '"why": '; do
    says out "$member"
done
says out '"handover_ns": \['
expect 0 "$restride" bench transpose --shape 640x480 --repeat 3 --threads 1 --json
grep -q handover_ns "$work/out" && complain "one thread hands nothing over"
for method in C2R R2C '2-stage 010! 100!'; do
    expect 0 "$restride" bench transpose --shape 120x90 --repeat 1 --json --method "$method"
    says out "\"method\": \"$method\""
done
expect 1 "$restride" bench transpose --shape 120x90 --method abacus
says err 'no method "abacus"'
expect 0 "$restride" bench --help
says out 'transpose .*copy'
expect 2 "$restride" bench abacus
expect 0 "$restride" bench transpose --help
says out '^usage: restride bench transpose'
expect 0 "$restride" bench transpose --shape 640x480 --repeat 1 --small-pages --json
expect 2 "$restride" bench transpose
says err 'Which shape'
expect 2 "$restride" bench transpose --shape 640
says err '"640"'
expect 2 "$restride" bench transpose --shape 4x4 --type f33
expect 2 "$restride" bench transpose --shape 4x4 --engine abacus
expect 1 "$restride" bench transpose --shape 99999999999x99999999999
says err 'more bytes than a size can hold'
finish
