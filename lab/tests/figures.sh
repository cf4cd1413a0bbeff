#!/usr/bin/env bash
# figures.sh LAB RESTRIDE: the papers' figures, grids and tables on small inputs, and the round over a GPU as far as a CPU
# goes.
lab=$1
restride=$2
source "$(dirname "$0")/../../tests/cli/expect.sh"
round=$(realpath "$(dirname "$0")/../tools/gpu_round.sh")
cd "$work" || exit 1

expect 0 "$lab" figures --list
says out '^thesis-4.16 +thesis-4.13 sung-6 '
expect 2 "$lab" figures no-such-figure
says err 'There is no figure "no-such-figure"'
expect 2 "$lab" figures --repeat 1001
says err 'cannot be "1001"; restride-lab figures --help says what it takes'
: >empty
expect 1 "$lab" figures --out empty
says err 'Not a directory'

if "$lab" patterns --help >"$work/out" 2>&1; then
    expect 0 "$lab" patterns
    says out 'restride-lab grids --out FOLDER'
    says out '^Livermore    paper +24 +3 +8 +7 +5 +1$'
    says out '^             here +24 +2 +10 +7 +2 +3$'
    says out '^NAS kernels  paper +32 +13 +12 +2 +0 +5$'
    says out '^             here +42 +13 +22 +2 +0 +5$'
fi

if "$lab" apps --help >"$work/out" 2>&1; then
    expect 2 "$lab" apps --only nosuch
    says err 'No case has "nosuch"'
    expect 2 "$lab" apps --tile 0
    says err 'tile cannot be "0"'
    expect 1 "$lab" apps --svg empty
    says err 'Not a directory'
fi

if "$lab" grids --help >"$work/out" 2>&1; then
    expect 2 "$lab" grids --engine host
fi

if "$restride" bench transpose --engine opencl --shape 2x3 --repeat 1 >"$work/out" 2>&1; then
    expect 0 "$round" --build "${restride%/bin/restride}" --out "$work/round" --small huge search repeat plans
    says out '^repeat +held .* all held$'
    says out '^plans +held .* 8 shapes, [0-9]+ with a plan longer than its run$'
    expect 0 "$lab" figures thesis-table-5.2 thesis-4.4 sung-9 --engine opencl --small --repeat 1 --out figures
    for name in thesis-table-5.2 thesis-4.4 sung-9; do
        grep -q '"figure": "'$name'"' figures/$name.json || complain "figures/$name.json is no figure"
        grep -q '</svg>' figures/$name.svg || complain "figures/$name.svg is no picture"
    done
    # Three kernels of the papers on one matrix, all of them right and none of them free.
    [ "$(grep -cE '^ +[0-9.e-]+$' figures/thesis-table-5.2.json)" -eq 3 ] || complain "a kernel has no rate"
    expect 0 "$lab" grids --small --repeat 1 --out figures
    says out '^figure 6.14: CFD, varying Z'
    says out '^below 1 in [0-9]+, above 1.03 in [0-9]+[:.]$'
    late=$(sed -n 's/^below 1 in .*, above 1.03 in \([0-9]*\)[:.]$/\1/p' out)
    [ "$(grep -c '^    thesis-6.*, cells = ' out)" -eq "$late" ] || complain "$late sizes are not named"
    grep -q '"layout": "i j k/32 l k%32"' figures/thesis-6.6.json || complain "figures/thesis-6.6.json is no figure"
    grep -q '</svg>' figures/thesis-6.11.svg || complain "figures/thesis-6.11.svg is no picture"
fi
finish
