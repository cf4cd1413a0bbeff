#!/usr/bin/env bash
# gpu_analyze.sh BUILD [OUT]: what restride analyze --apply makes of the programs of bench/kernels, on this machine's GPU:
# small nests beside the originals, then large ones for the times. Writes a JSON for each run to OUT and prints a table of
# measured and predicted speedups.
set -euo pipefail
restride=$(realpath "${1:-build}")/bin/restride
out=$(realpath -m "${2:-gpu-analyze}")
kernels=$(realpath "$(dirname "$0")/../bench/kernels")
mkdir -p "$out"
cd "$out"

# run NAME PROGRAM SED WHAT OPTIONS...: a nest that cannot have these sizes is left out with a sentence.
run() {
    sed -e "$3" "$kernels/$2.c" >"$1.c"
    "$restride" analyze "$1.c" --apply "$4" --check --json --memory 8192 "${@:5}" >"$1.json" 2>"$1.err" ||
        grep -h '^restride analyze: ' "$1.err" || true
}

livermore='s/ex\[ix\[k\] - 1\]/ex[ix[k]]/' # random data would point before the table
small_mri='s/SAMPLES = 2048, VOXELS = 262144/SAMPLES = 61, VOXELS = 203/'
small_particles='s/ATOMS = 4000, GRID = 512/ATOMS = 45, GRID = 23/'
small_grids='s/NX = 64, NY = 64, NZ = 64/NX = 33, NY = 10, NZ = 9/'
small_matmul='s/M = 512, N = 512, P = 512/M = 29, N = 38, P = 47/'
for what in vector memory; do
    few=(--repeat 0 --size 203 --elements ex=100 --elements dex=100 --elements x=203 --elements y=203)
    run small-matmul-$what matmul "$small_matmul" $what "${few[@]}" &
    run small-livermore-$what livermore "$livermore" $what "${few[@]}" &
    run small-nas-$what nas '' $what "${few[@]}" &
    run small-linpack-$what linpack '' $what "${few[@]}" &
    run small-mri-$what mri "$small_mri" $what "${few[@]}" &
    run small-grids-$what grids "$small_grids" $what "${few[@]}" &
    run small-particles-$what particles "$small_particles" $what "${few[@]}" --set blocks=20 --elements position=300 &
    wait # nothing is timed up to here

    large=(--repeat 9 --serial 0)
    run large-livermore-$what livermore "$livermore" $what "${large[@]}" --set n=4194304 --elements ex=100 --elements dex=100
    run large-linpack-$what linpack '' $what "${large[@]}" --set n=16777216 --set n2=8192
    run large-nas-$what nas 's/NMAT = 250/NMAT = 200000/;s/SIDE = 128/SIDE = 2048/;s/EDGE = 30/EDGE = 128/' $what \
        "${large[@]}" --size 1048576 --set jl=0 --set ju=2000 --set kl=0 --set ku=2044 --set n=2044 --set nv=65536 \
        --elements x=2044 --elements y=2044
    run large-grids-$what grids 's/NX = 64, NY = 64, NZ = 64/NX = 512, NY = 256, NZ = 64/' $what "${large[@]}"
    run large-mri-$what mri '' $what "${large[@]}"
    run large-particles-$what particles 's/GRID = 512/GRID = 1024/' $what "${large[@]}" --set blocks=1024 \
        --set count=1000000 --elements position=3000000
done
large_matmul='s/M = 512, N = 512, P = 512/M = 2048, N = 2048, P = 2048/'
run large-matmul-memory matmul "$large_matmul" memory --repeat 9 --serial 0
for loop in i1 i2 i3; do
    run large-matmul-$loop matmul "$large_matmul" vector --repeat 9 --serial 0 --along $loop
done

# A case is a nest whose changed kernel is another one than that with threads, and whose two times differ by more than
# 3 % and 1.5 us: identical kernels were measured up to that far apart.
python3 - <<'END'
import glob, json
NOISE, NOISE_SECONDS = 0.03, 1.5e-6
wrong = checked = right = cases = right_short = cases_short = 0
print(f"{'nest':24} {'change':8} {'predicted':>9} {'measured':>9} {'packed':>7}  threads ms  predicted ms  order")
for name in sorted(glob.glob("*.json")):
    try:
        reply = json.load(open(name))
    except ValueError:
        print(name, "has no report")
        continue
    for nest in reply["nests"]:
        check = nest.get("check")
        if check is None:
            continue
        checked += 1
        wrong += not check["equal"]
        if not check["equal"]:
            print("WRONG:", name, nest["function"])
        if not name.startswith("large"):
            continue
        same = len(nest["threads"]) == 1 and all(a["memory"] == "global" for a in nest.get("arrays", [{"memory": ""}]))
        predicted = nest["predicted"]["threads"] / nest["predicted"]["changed"]
        measured = check["threads"] / check["changed"]
        packed = check["threads"] / (check["changed"] + check["pack"] + check["unpack"])
        apart = abs(check["threads"] - check["changed"])
        verdict = "the same kernel" if same else "tie"
        if not same and abs(measured - 1) > NOISE:
            good = (predicted > 1) == (measured > 1) and abs(predicted - 1) > 0.005
            cases_short += 1
            right_short += good
            verdict = "tie, right" if good else "tie, not"
            if apart > NOISE_SECONDS:
                cases += 1
                right += good
                verdict = "right" if good else "not"
        print(f"{nest['function']:24} {nest.get('along', 'memory'):8} {predicted:9.2f} {measured:9.2f} {packed:7.2f} "
              f"{1e3 * check['threads']:11.3f} {1e3 * nest['predicted']['threads']:13.3f}  {verdict}")
print(f"{checked} nests checked on {reply['device']}, {wrong} wrong; order right in {right} of {cases}; without the bound in "
      f"microseconds in {right_short} of {cases_short}")
END
