#!/usr/bin/env bash
# usage: tools/gpu_package.sh make [BUILD]     here: into dist/card, what the other machine needs (about 40 MB)
#        tools/gpu_package.sh                  there: a GPU's machine as it comes, which needs nothing else of ours
# There the wheel is installed by pip without a network, and no variable is set. Then, in less than 5 minutes:
#   lbm      without Restride, and under `restride run`: the same bytes, and 4 times as fast kernels
#   plans    the first plan of thirteen kinds, each in a process of its own with an empty cache: 30 ms
#   arrays   tests/python/cuda_arrays.py: arrays of CuPy, PyTorch and JAX against NumPy, and times and memory of six
#            shapes beside ascontiguousarray() and contiguous()
# A short table comes last; the exit status is 0 when all held. DEVICE=cpu CELLS=16 tries it out without a GPU.
set -uo pipefail
cd "$(dirname "$0")/.." || exit
card=$PWD/dist/card

make_card() {
    local build=${1:-build}
    set -e
    ls dist/restride-*"_$(uname -m).whl" >/dev/null 2>&1 || tools/wheel.sh dist
    rm -rf "$card"
    mkdir -p "$card/lib"
    cp dist/restride-*"_$(uname -m).whl" "$build"/bin/examples/lbm examples/lbm/lbm.cl "$build"/tests/engine/time_first "$card"
    cp "$(ldd "$card/time_first" | awk '/libjansson/ {print $3}')" "$card/lib"
    # Wheels for any Python: the last hypothesis without compiled parts, and what it needs.
    "${PYTHON:-python3}" -m pip download --quiet --no-deps --dest "$card" libclang 'hypothesis<6.130' attrs sortedcontainers
    unzip -l "$card"/restride-*.whl | grep -q kernels/sm_90 ||
        { echo "The wheel has no compiled kernels: build it where NVRTC is." >&2 && return 1; }
    du -sh "$card"
}

if [ "${1:-}" = make ]; then
    make_card "${2:-build}"
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
# held CONDITION : the word for an expression of awk.
held() { awk "BEGIN { print ($1) ? \"held\" : \"MISSED\" }"; }

install() {
    # NumPy is the machine's own: a wheel of it would serve one Python.
    local wanted=(--quiet --no-index --no-deps "$card"/*.whl)
    if python3 -m venv --system-site-packages "$work/venv" >"$work/log" 2>&1; then
        python=$work/venv/bin/python
        "$python" -m pip install "${wanted[@]}"
    else # Python's own packages are not whole here
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
        "$restride" run --policy "${run%%,*}" -- "${common[@]}" --dump "$work/with" >"$work/ours" || failed=1
        ours=$(kernels "$work/ours")
        cmp "$work/without" "$work/with" || { row MISSED "lbm, $run: other bytes" && continue; }
        case $run in
        *first*) row held "lbm, $run: kernels $plain s without, $ours s with, the same bytes" ;;
        *) row "$(held "${plain:-0} >= 4 * ${ours:-1}")" "lbm, $run: kernels $plain s without, $ours s with, the same bytes" ;;
        esac
    done
}

plans() {
    local kind=0 line times=()
    cp "$card/time_first" "$native/bin"
    chmod +x "$native/bin/time_first"
    while line=$(XDG_CACHE_HOME=$work/empty/$kind CUDA_CACHE_PATH=$work/empty/$kind RESTRIDE_WISDOM='' \
        LD_LIBRARY_PATH=$card/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH} "$native/bin/time_first" cuda $kind); do
        echo "$line"
        times+=("$(sed -E 's/.* ([0-9.]+) ms, again.*/\1/' <<<"$line")")
        row "$(held "${times[-1]} <= 30")" "first plan, $line"
        kind=$((kind + 1))
    done
    [ $kind -ge 12 ] || row MISSED "first plans: $kind kinds of 13"
}

arrays() {
    "$python" tests/python/cuda_arrays.py 60 >"$work/arrays" 2>&1
    local status=$?
    cat "$work/arrays"
    row "$(held "$status == 0 && $(grep -c "cases right" "$work/arrays") >= 2")" "arrays: $(tail -n 1 "$work/arrays")"
}

if install; then
    lbm
    plans
    arrays
else
    row MISSED "pip install of the wheel"
fi
echo
echo "On $(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader 2>/dev/null | head -n 1):"
printf '%s\n' "${rows[@]}"
exit $failed
