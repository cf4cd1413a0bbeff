#!/usr/bin/env bash
# usage: tools/gpu_package.sh make [BUILD [MATRICES]]   here: into dist/card, what the other machine needs (about 40 MB)
#        tools/gpu_package.sh [STEP]...                 there: a GPU's machine as it comes, which needs nothing else of ours
# Git ignores dist: whoever copies the tree to the other machine copies dist/card besides. MATRICES is a folder with
# bcsstk18.mtx; without it that matrix is made up.
# There the wheel is installed by pip without a network, and no variable is set. Then, all steps in less than 8 minutes:
#   lbm      without Restride, and under `restride run`: the same bytes, and 4 times as fast kernels
#   plans    the first plan of thirteen kinds, each in a process of its own with an empty cache: 30 ms
#   arrays   tests/python/cuda_arrays.py: arrays of CuPy, PyTorch and JAX against NumPy, and times and memory of six
#            shapes beside ascontiguousarray() and contiguous()
#   loops    launches of 10 us: alone, under --policy off, and under auto (lab/tools/short_launches.py): 3 %
# A short table comes last; the exit status is 0 when all held. DEVICE=cpu CELLS=16 tries it out without a GPU.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
card=$PWD/dist/card

make_card() {
    local build=${1:-build} matrix=${2:-}/bcsstk18.mtx
    set -e
    # Compiled kernels are found by their sources: the wheel and the program that times it are of one commit.
    rm -f dist/restride-*"_$(uname -m).whl"
    tools/wheel.sh dist
    cmake --build "$build" --parallel 2 --target example_lbm time_first app_spmv apps_kernels example_nothing
    rm -rf "$card"
    mkdir -p "$card"/{lib,loops/{lib/apps,bin/examples}}
    cp "$build"/lib/apps/spmv{,.cl} "$card/loops/lib/apps"
    cp "$build"/bin/examples/nothing{,.cl} "$card/loops/bin/examples"
    [ ! -e "$matrix" ] || cp "$matrix" "$card/loops"
    cp dist/restride-*"_$(uname -m).whl" "$build"/bin/examples/lbm examples/lbm/lbm.cl "$build"/tests/engine/time_first "$card"
    cp "$(ldd "$card/time_first" | awk '/libjansson/ {print $3}')" "$card/lib"
    # Wheels for any Python: the last hypothesis without compiled parts, and what it needs.
    "${PYTHON:-python3}" -m pip download --quiet --no-deps --dest "$card" libclang 'hypothesis<6.130' attrs sortedcontainers \
        exceptiongroup typing_extensions
    if ! unzip -l "$card"/restride-*.whl | grep kernels/sm_90 >/dev/null; then
        echo "The wheel has no compiled kernels: build it where NVRTC is." >&2
        return 1
    fi
    du -sh "$card"
}

if [ "${1:-}" = make ]; then
    make_card "${@:2}"
    exit
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
rows=()
failed=0
# row WORDS... : of the last table; "held" or "MISSED" comes first.
row() {
    rows+=("$*")
    [ "$1" != MISSED ] || failed=1
}
# held CONDITION : the word for an expression of awk; what is none is missed, as a time that was not found.
held() { awk "BEGIN { print ($1) ? \"held\" : \"MISSED\" }" 2>/dev/null || echo MISSED; }

install() {
    # NumPy is the machine's own: a wheel of it would serve one Python.
    local wanted=(--quiet --no-index --no-deps "$card"/*.whl)
    # A venv made from another venv does not see that one's packages.
    if python3 -m venv --system-site-packages "$work/venv" >"$work/log" 2>&1 && "$work/venv/bin/python" -c 'import numpy'; then
        python=$work/venv/bin/python
        "$python" -m pip install "${wanted[@]}"
    else
        python=python3
        python3 -m pip install --target "$work/site" "${wanted[@]}"
        export PYTHONPATH=$work/site
    fi || return
    native=$(dirname "$("$python" -c 'import importlib.util as u; print(u.find_spec("restride").origin)')")/native
    restride=$native/bin/restride
}

kernels() { sed -nE 's/.*of which ([0-9.]+) s in kernels.*/\1/p' "$1"; }

lbm() {
    local common=("$work/lbm" --size "${CELLS:-128}" --steps 200 --device "${DEVICE:-gpu}") run plain ours
    cp "$card"/lbm* "$work"
    chmod +x "$work/lbm"
    "$restride" doctor
    if ! "${common[@]}" --dump "$work/without" >"$work/plain"; then
        echo "(alone the program finds no device here; so the first times are those under --policy off)"
        "$restride" run --quiet --policy off -- "${common[@]}" --dump "$work/without" >"$work/plain"
    fi
    plain=$(kernels "$work/plain")
    for run in "auto, first run" "auto, second run" "auto, third run" asta; do
        "$restride" run --policy "${run%%,*}" -- "${common[@]}" --dump "$work/with" >"$work/ours" ||
            row MISSED "lbm, $run: the program failed"
        ours=$(kernels "$work/ours")
        cmp "$work/without" "$work/with" || { row MISSED "lbm, $run: other bytes" && continue; }
        case $run in
        *first*) row held "lbm, $run: kernels $plain s without, $ours s with, the same bytes" ;;
        *) row "$(held "${plain:-0} >= 4 * ${ours:-1}")" "lbm, $run: kernels $plain s without, $ours s with, the same bytes" ;;
        esac
    done
}

plans() {
    local kind=0 line status
    cp "$card/time_first" "$native/bin"
    chmod +x "$native/bin/time_first"
    while [ $kind -lt 100 ]; do
        line=$(XDG_CACHE_HOME=$work/empty/$kind CUDA_CACHE_PATH=$work/empty/$kind RESTRIDE_WISDOM='' \
            LD_LIBRARY_PATH=$card/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$native/bin/time_first" cuda $kind)
        status=$?
        [ $status -ne 77 ] || break # 77: there are no more kinds, or no device
        row "$(held "$status == 0 && $(sed -E 's/.* ([0-9.]+) ms, again.*/\1/' <<<"$line") <= 30")" "first plan, kind $kind: $line"
        kind=$((kind + 1))
    done
    [ $kind -ge 12 ] || row MISSED "first plans: $kind kinds of 13; has CUDA no device here?"
}

arrays() {
    "$python" tests/python/cuda_arrays.py 60 >"$work/arrays" 2>&1
    local status=$?
    cat "$work/arrays"
    row "$(held "$status == 0 && $(grep -c "cases right" "$work/arrays") >= 2")" "arrays: $(tail -n 1 "$work/arrays")"
}

loops() {
    cp -r "$card/loops" "$work"
    chmod +x "$work"/loops/{lib/apps/spmv,bin/examples/nothing}
    "$python" lab/tools/short_launches.py "$work/loops" --restride "$restride" --on "${DEVICE:-gpu}" --rounds "${ROUNDS:-15}" \
        --matrices "$work/loops" 2>&1 | tee "$work/table"
    row "$(held "${PIPESTATUS[0]} == 0")" "loops: $(tail -n 1 "$work/table")"
}

steps=("$@")
[ $# -gt 0 ] || steps=(lbm plans arrays loops)
if install; then
    for step in "${steps[@]}"; do
        case $step in
        lbm) lbm ;;
        plans) plans ;;
        arrays) arrays ;;
        loops) loops ;;
        *) row MISSED "there is no step $step" ;;
        esac
    done
else
    row MISSED "pip install of the wheel"
fi
echo
echo "On $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1):"
printf '%s\n' "${rows[@]}"
exit $failed
