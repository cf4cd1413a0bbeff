#!/usr/bin/env bash
# bench_permute.sh RESTRIDE: restride bench permute measures, verifies and reports, and refuses bad usage.
restride=$1
source "$(dirname "$0")/../cli/expect.sh"

expect 0 "$restride" bench permute --dims 12x20x9x7 --axes 0231,3210 --type f64 --threads 2 --repeat 3
says out 'host, 2 threads, 12 x 20 x 9 x 7 f64, median of 3'
says out '^ +0231 '
says out '^ +3210 '
expect 0 "$restride" bench permute --dims 12x20x9 --repeat 2 --json
for member in '"verified": true' '"dims": ' '"axes": ' '"ratio": [0-9]' '"copy_gbps": [0-9]' '"scratch_bytes": [0-9]'; do
    says out "$member"
done
[ "$(tr -d ' \n' <"$work/out" | grep -c '"axes":\[2,1,0\]')" = 1 ] || complain "the default is not the axes reversed"
expect 0 "$restride" bench --help
says out 'permute .*copy'
expect 0 "$restride" bench permute --help
says out '^usage: restride bench permute'
expect 2 "$restride" bench permute
says err 'Which sizes'
expect 2 "$restride" bench permute --dims 4x0
says err '"4x0"'
for axes in 021 0122 01234 abcd 0123,021; do
    expect 2 "$restride" bench permute --dims 2x3x4x5 --axes "$axes"
    says err 'each of the 4 axes once'
done
expect 2 "$restride" bench permute --dims 4x4 --type f33
expect 2 "$restride" bench permute --dims 4x4 --no-such-option
expect 2 "$restride" bench permute --dims 4x4 extra
says err 'one argument too many'
expect 1 "$restride" bench permute --dims 99999999999x99999999999
says err 'more bytes than a size can hold'
finish
