#!/usr/bin/env bash
# gpu_analyze.sh BUILD [OUT]: what restride analyze --apply makes of the programs of lab/kernels, on this machine's GPU:
# small nests beside the originals, then large ones for the times. Writes a JSON for each run to OUT and prints a table of
# measured and predicted speedups. LARGE=yes leaves the small ones out, and ONLY=WORD all whose name does not begin so
# ("large-nas-e"): the whole takes some minutes, and OUT gathers what several runs bring.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
lab=$(realpath "${1:-build}")/bin/restride-lab
out=$(realpath -m "${2:-gpu-analyze}")
kernels=$(realpath "$here/../kernels")
mkdir -p "$out"
cd "$out"

# run NAME PROGRAM SED WHAT OPTIONS...: a nest that cannot have these sizes is left out with a sentence.
run() {
    [[ $1 == "${ONLY:-}"* ]] || return 0
    sed -e "$3" "$kernels/$2.c" >"$1.c"
    "$lab" check "$1.c" --apply "$4" --json --memory 8192 "${@:5}" >"$1.json" 2>"$1.err" ||
        grep -h '^restride analyze: ' "$1.err" || true
}

# large NAME PROGRAM SED OPTIONS...: both changes, timed.
large() {
    for what in vector memory; do
        run "large-$1-$what" "$2" "$3" $what --repeat 9 --serial 0 "${@:4}"
    done
}

# only PROGRAM FUNCTION...: a sed script that takes all other functions of a program away.
only() {
    awk -v keep=" ${*:2} " '
        /^[a-z].*\(/ { name = $0; sub(/\(.*/, "", name); sub(/.* /, "", name); from = NR }
        /^}/ && from { if (index(keep, " " name " ") == 0) printf "%d,%dd;", from, NR; from = 0 }' "$kernels/$1.c"
}

livermore='s/ex\[ix\[k\] - 1\]/ex[ix[k]]/' # random data would point before the table
if [ -z "${LARGE:-}" ]; then
    small_mri='s/SAMPLES = 2048, VOXELS = 262144/SAMPLES = 61, VOXELS = 203/'
    small_particles='s/ATOMS = 4000, GRID = 512/ATOMS = 45, GRID = 23/'
    small_grids='s/NX = 64, NY = 64, NZ = 64/NX = 33, NY = 10, NZ = 9/'
    small_matmul='s/M = 512, N = 512, P = 512/M = 29, N = 38, P = 47/'
    few=(--repeat 0 --size 203 --elements ex=100 --elements dex=100 --elements x=203 --elements y=203)
    for what in vector memory; do
        run small-matmul-$what matmul "$small_matmul" $what "${few[@]}" &
        run small-livermore-$what livermore "$livermore" $what "${few[@]}" &
        run small-nas-$what nas '' $what "${few[@]}" &
        run small-linpack-$what linpack '' $what "${few[@]}" &
        run small-mri-$what mri "$small_mri" $what "${few[@]}" &
        run small-grids-$what grids "$small_grids" $what "${few[@]}" &
        run small-particles-$what particles "$small_particles" $what "${few[@]}" --set blocks=20 --elements position=300 &
        wait # nothing is timed up to here
    done
fi

# Sizes with which a launch has work for the whole device where the loops allow it: in NAS the long dimension is that of the
# threads, and the others are short. Sums in one work-item are short.
long='s/\[2\]\[101\]\[5\]/[2][4194305][5]/;s/du\[101\]/du[4194305]/;s/\[7\]\[101\]/[7][4194305]/g'
large livermore livermore "$livermore;$long;$(only livermore kernel0{1,2,4,5,6,7,8,9} kernel1{0..9} kernel2{0..4})" \
    --set n=4194304 --set ng=65537 --set nz=100 --elements ex=100 --elements dex=100
large livermore-sum livermore "$(only livermore kernel03)" --set n=262144
large linpack linpack "$(only linpack axpy scale matrix_times_vector)" --set n=16777216 --set n2=8192
large linpack-sum linpack "$(only linpack dot)" --set n=262144
large nas-mxm nas "$(only nas mxm)" --set n=16384
large nas-cfft-first nas "s/SIDE = 128/SIDE = 32/;$(only nas cfft2d_first cfft2d_first_exchange)" --set n=1048576
large nas-cfft-second nas "s/SIDE = 128/SIDE = 4194304/;$(only nas cfft2d_second cfft2d_second_exchange)" \
    --size 4194304 --set up=5 --set low=2 --set i=5 --set place=2
large nas-cholesky nas "s/NMAT = 250/NMAT = 8388608/;s/ROWS = 40/ROWS = 3/;$(only nas cholesky_{update,scale,least,diagonal,invert,solve,forward,solve_back,back})"
large nas-btrix nas "s/\[EDGE\]\[EDGE\]\[BLOCK\]\[BLOCK\]/[131072][8][BLOCK][BLOCK]/g;s/\[BLOCK\]\[EDGE\]\[EDGE\]\[EDGE\]/[BLOCK][131072][8][8]/;s/\[BLOCK\]\[BLOCK\]\[EDGE\]/[BLOCK][BLOCK][131072]/g;$(
    only nas btrix_{update,decompose,decompose_rest,right_side,solve,upper,back})" --set ls=0 --set le=131072 --set j=5 --set k=3
large nas-gmtry nas "$(only nas gmtry_{create,project})" --set n=8388608 --elements x=8388608 --elements y=8388608
large nas-walls nas "s/SIDE = 128/SIDE = 2048/;$(only nas gmtry_{fill,eliminate})" --set n=2044 \
    --elements x=2044 --elements y=2044
large nas-emit nas "s/\[SIDE\]\[SIDE\]/[8][8388608]/;s/\[SIDE\]/[8388608]/;$(only nas emit_{exponentials,right_side,forward,back,normalize})" \
    --set nv=8388608 --size 8388608
large nas-stream nas "$(only nas emit_stream)" --set nv=16384
large nas-vpenta nas "s/SIDE = 128/SIDE = 2048/;$(only nas vpenta_{forward,back})" --set jl=0 --set ju=2000 --set kl=0 \
    --set ku=2044
large nas-vpenta-rows nas "s/\[SIDE\]\[SIDE\]/[65536][64]/g;$(only nas vpenta_{first,second,last_but_one,last,back_first})" \
    --set kl=0 --set ku=65536 --set ju=60 --set j=40
large grids grids "s/NX = 64, NY = 64, NZ = 64/NX = 512, NY = 256, NZ = 256/;$(only grids heat cfd_red)"
large grids-lbm grids "s/NX = 64, NY = 64, NZ = 64/NX = 512, NY = 256, NZ = 64/;$(only grids lbm_stream)"
large mri mri "$(only mri compute_q compute_fh)"
large mri-samples mri "s/SAMPLES = 2048/SAMPLES = 16777216/;$(only mri compute_phi_magnitude compute_rho_phi)"
large particles particles 's/GRID = 512/GRID = 1024/' --set blocks=1024 --set count=4000000 --elements position=12000000
large_matmul='s/M = 512, N = 512, P = 512/M = 2048, N = 2048, P = 2048/'
run large-matmul-memory matmul "$large_matmul" memory --repeat 9 --serial 0
for loop in i1 i2 i3; do
    run large-matmul-$loop-vector matmul "$large_matmul" vector --repeat 9 --serial 0 --along $loop
done

# A case is a nest whose changed kernel is another one than that with threads, and whose two times differ by more than noise:
# what two series of times of one kernel differed by in this run.
python3 - <<'END'
import glob, json
wrong = checked = 0
rows, same, again = [], [], []
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
        if name.startswith("large"):
            again.append(abs(check["again"] / check["threads"] - 1))
            if len(nest["threads"]) == 1 and all(a["memory"] == "global" for a in nest.get("arrays", [{"memory": ""}])):
                same.append(abs(check["changed"] / check["threads"] - 1))
            else:
                rows.append((nest, check))
            launch, group = reply["launch"], reply["launch_group"]
if not again: # the small nests alone
    print(f"{checked} nests checked, {wrong} wrong")
    raise SystemExit(wrong > 0)
noise = max(again)
print(f"{'nest':24} {'change':8} {'predicted':>9} {'measured':>9} {'packed':>7}  threads ms  predicted ms  launches  order")
right, cases = {noise: 0, 0.03: 0}, {noise: 0, 0.03: 0}
lost, near = [], [0, 0]
for nest, check in rows:
    predicted = nest["predicted"]["threads"] / nest["predicted"]["changed"]
    measured = check["threads"] / check["changed"]
    packed = check["threads"] / (check["changed"] + check["pack"] + check["unpack"])
    good = (predicted > 1) == (measured > 1) and abs(predicted - 1) > 0.005
    apart = abs(check["changed"] / check["threads"] - 1)
    lost.append(check["changed" if predicted > 1 else "threads"] / min(check["changed"], check["threads"]) - 1)
    for i, form in enumerate(("threads", "changed")):
        near[i] += 1 / 1.4 < nest["predicted"][form] / check[form] < 1.4
    for bound in right:
        cases[bound] += apart > bound
        right[bound] += apart > bound and good
    verdict = "tie" if apart <= noise else "right" if good else "not"
    print(f"{nest['function']:24} {nest.get('along', 'memory'):8} {predicted:9.2f} {measured:9.2f} {packed:7.2f} "
          f"{1e3 * check['threads']:11.4f} {1e3 * nest['predicted']['threads']:13.4f} {check['launches']:9}  {verdict}")
for name, values in ("the same kernel timed twice", again), ("two kernels that are the same", same):
    values.sort()
    print(f"{name}: {len(values)} pairs, {100 * values[len(values) // 2]:.2f} % apart in the middle, "
          f"{100 * values[len(values) * 9 // 10]:.2f} % at 9 of 10, {100 * values[-1]:.2f} % at most")
print(f"a launch of nothing: {1e6 * launch:.2f} us, and {1e9 * group:.2f} ns for each work-group")
print(f"{checked} nests checked on {reply['device']}, {wrong} wrong")
print(f"who follows the prediction loses {100 * sum(lost) / len(lost):.1f} % on average, {100 * max(lost):.1f} % at most; "
      f"times within 40 %: {near[0]} and {near[1]} of {len(rows)}")
for bound in right:
    print(f"order right in {right[bound]} of {cases[bound]} that differ by more than {100 * bound:.1f} %")
END
