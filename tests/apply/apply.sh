#!/usr/bin/env bash
# apply.sh RESTRIDE LAB KERNELS WIDTH...: what --apply makes of loop nests, run on a device beside the nests as they are written.
restride=$1
lab=$2
kernels=$3
widths="${*:4}"
here=$(dirname "$0")
source "$here/../cli/expect.sh"
cd "$work"

# Every nest of a file must give what it gave: check FILE [OPTIONS]...
check() {
    expect 0 "$lab" check "$1" --apply vector --repeat 0 "${@:2}"
    if grep -q WRONG out; then complain "$1 ${*:2}: a nest gives something else"; fi
}

# ---- forms of nests ----
expect 0 "$restride" analyze "$here/nests.c" --apply vector -o nests.cl
cp out report
python3 - "$here/nests.c" report <<'END' || complain "the report of nests.c is not what the file says"
import re, sys
source, report = open(sys.argv[1]).read(), open(sys.argv[2]).read()
wanted = re.findall(r"/\* must (change|stay): ([^;*]*)[^*]*\*/\n\w+ (\w+)\(", source)
assert len(wanted) == source.count("/* must "), "a comment is not in the form"
parts = {m[1]: m[0] for m in re.findall(r"((?:^|(?<=\n))(\w+), line .*?\n(?=\w+, line|\Z))", report, re.S)}
wrong = 0
for verdict, word, name in wanted:
    part = parts.get(name, "(missing)")
    if (verdict == "stay") != ("left as it is" in part) or word.strip() not in part:
        print(f"{name}: must {verdict}: {word}\n{part}")
        wrong += 1
sys.exit(wrong > 0)
END
for width in $widths; do
    check "$here/nests.c" --width $width --size 103
    for name in reversed shifted overlapping overlapping_further strided turned kernel19 written_turned written_reversed triangular \
        downwards conversions choices calls polynomial row_sums thirds flat lengths sweeps; do
        says out "^$name, line .*the same bit for bit"
    done
    says out "^minus, line .*a sum in another order"
done

# Sizes around a vector: no whole one, one, and one more.
for size in 2 3 4 5; do
    expect 0 "$lab" check "$here/nests.c" --apply vector --repeat 0 --size $size --set n=$size \
        --set degree=2 --set steps=2 --set m=1 --set kb5i=0
done

# Work-items without an iteration count beyond the loop's end: in 64 bits, and by no unsigned comparison of what is negative.
cat >counts.c <<'END'
void far(char x[200000000]) { for (int i = 0; i < 200000000; i += 20000000) x[i] = 3; }
void last(float x[300], int m) { for (int i = 2147483640; i < m; i++) x[i - 2147483640] = 1; }
void natural(float x[30][300], unsigned n) { for (int j = 0; j <= 29; j++) for (int i = 3; i < n; i += 3) x[j][i] = j; }
void swapped(float x[300]) { for (int i = 3; 299 >= i; i += 3) x[i] = i; }
void below(float x[300], unsigned k) { for (int i = 200; i > k; i--) x[i] = 1; }
void below_size(float x[300]) { for (int i = 200; i >= sizeof(int); i -= 4) x[i] = 1; }
void from_below(float x[300], unsigned n) { for (int i = -3; i < n; i++) x[i + 3] = 1; }
END
for what in vector memory; do
    expect 0 "$lab" check counts.c --apply $what --repeat 0 --set m=2147483645 --set n=100 --set k=5
    for name in far last natural swapped; do
        says out "^$name, line .*the same bit for bit"
    done
done
for name in below below_size from_below; do
    expect 0 "$restride" analyze counts.c --apply vector -o counts.cl
    says out "^$name, line .*left as it is: the loop has to count an int or long"
done

# Elements that a loop around brings from one iteration to the next stay with their work-item, or nothing is spread.
cat >triangles.c <<'END'
void from_outer(float x[400]) { for (int i = 0; i < 16; i++) for (int j = i; j < 400; j++) x[j] = x[j] * 2 + i; }
void to_outer(float x[400]) { for (int i = 300; i < 400; i++) for (int j = 0; j < i; j++) x[j] = x[j] * 2 + i; }
void deeper(float x[400][20]) { for (int i = 0; i < 16; i++) for (int j = i; j < 400; j++) for (int k = 0; k < 20; k++) x[j][k] = x[j][k] * 2 + i; }
void both_spread(float x[40][400]) { for (int i = 0; i < 40; i++) for (int j = i; j < 400; j++) x[i][j] = x[i][j] * 2 + i; }
END
for what in vector memory; do
    expect 0 "$lab" check triangles.c --apply $what --repeat 0
    if grep -q WRONG out; then complain "a triangle is spread wrongly for $what"; fi
done
says out '^both_spread, line .*the same bit for bit'
expect 0 "$restride" analyze triangles.c --apply vector --json
python3 - out <<'END' || complain "the loops of triangles are not spread as they may be"
import json, sys
spread = {n["function"]: len(n["threads"]) for n in json.load(open(sys.argv[1]))["nests"]}
assert spread == {"from_outer": 0, "to_outer": 0, "deeper": 1, "both_spread": 2}, spread
END

# Arrays in members: what the records' own subscripts reach is what an array has to have.
cat >members.c <<'END'
struct part { float u; int v; float w[3]; };
void members(int n, float y[], struct part r[], struct part s[500], struct part t[500][7])
{
    for (int i = 1; i < n; i++) {
        r[2 * i].w[1] -= y[i];
        s[i].w[2] = s[i].u;
        t[i][3].w[1] = t[i][2].w[0];
    }
}
void members_read(int n, float y[], struct part r[]) { for (int i = 1; i < n; i++) y[i] = r[i].w[1] + r[i + 1].w[2] + r[i].u; }
END
for what in vector memory; do
    expect 0 "$lab" check members.c --apply $what --repeat 0 --size 41
    [ "$(grep -c '^members.*, line .*the same bit for bit' out)" = 2 ] || complain "members.c is changed wrongly for $what"
    expect 0 "$restride" analyze members.c --apply $what --json
    python3 - out <<'END' || complain "the sizes of members.c are not what it reaches"
import json, sys
sizes = {p["name"]: p.get("sizes") for p in json.load(open(sys.argv[1]))["nests"][0]["parameters"]}
assert sizes["r"] == [{"terms": [[2, "n"], [-1]], "divisor": 1}], sizes
assert sizes["s"] == [{"terms": [[500]], "divisor": 1}] and sizes["t"] == [{"terms": [[3500]], "divisor": 1}], sizes
END
done

# Narrow numbers as conditions.
cat >narrow.c <<'END'
void byte_and(float x[300], unsigned char y[300]) { for (int i = 0; i < 200; i++) x[i] = (y[i] && x[i] > 3); }
void short_and(float x[300], short y[300]) { for (int i = 0; i < 200; i++) x[i] = (y[i] && x[i] > 3); }
void char_or(float x[300], char y[300]) { for (int i = 0; i < 200; i++) x[i] = y[i] ? 3 : 4; }
END
check narrow.c
[ "$(grep -c 'the same bit for bit' out)" = 3 ] || complain "narrow.c is not changed"

# Names that kernels cannot have: those nests are left, and the others of the file are still changed.
cat >names.c <<'END'
static float dot(float a, float b) { return a * b; }
void plain(float x[300], float y[300]) { for (int i = 0; i < 200; i++) x[i] = y[i]; }
void lanes(float x[300], float y[300]) { for (int i = 0; i < 200; i++) { float i_lanes = y[i]; x[i] = i_lanes; } }
void type(float x[300], float y[300]) { for (int i = 0; i < 200; i++) { float float4 = y[i]; x[i] = float4; } }
void own(float x[300], float y[300]) { for (int restride_strip = 0; restride_strip < 200; restride_strip++) x[restride_strip] = y[restride_strip]; }
void called(float x[300], float y[300]) { for (int i = 0; i < 200; i++) x[i] = dot(y[i], 2); }
void kept(float x[300], float y[300]) { for (register int i = 0; i < 200; i++) x[i] = y[i]; }
void copied(float x[300], float y[300], int x_1) { for (int i = 0; i < 100; i++) x[3 * i] = y[2 * i] + x_1; }
END
check names.c
says out '^plain, line .*the same bit for bit'
[ "$(grep -c 'left as it is' out)" = 6 ] || complain "a nest of names.c is not left as it is"

# Other loops than the one that moves most.
sed 's/M = 512, N = 512, P = 512/M = 29, N = 38, P = 47/' "$kernels/matmul.c" >matmul.c
for loop in i1 i2 i3; do
    check matmul.c --along $loop
    says out "along $loop"
done
check "$here/nests.c" --along j --size 55 --seed 3 # in whose sums an order shows
says out 'row_sums, line .*a sum in another order'
expect 0 "$restride" analyze matmul.c --apply vector --along i2 -o m.cl
says out 'A\[i1\]\[i3\] +read +one element for all'
expect 0 "$restride" analyze matmul.c --apply vector --along nothing -o m.cl
says out 'left as it is: no loop of the nest is called nothing'

# ---- the papers' programs ----
sed 's/SAMPLES = 2048, VOXELS = 262144/SAMPLES = 61, VOXELS = 203/' "$kernels/mri.c" >mri.c
sed 's/ATOMS = 4000, GRID = 512/ATOMS = 45, GRID = 23/' "$kernels/particles.c" >particles.c
sed 's/NX = 64, NY = 64, NZ = 64/NX = 33, NY = 10, NZ = 9/' "$kernels/grids.c" >grids.c
cp "$kernels/livermore.c" "$kernels/nas.c" "$kernels/linpack.c" .
for program in livermore nas linpack mri particles grids; do
    check $program.c --size 203
    grep -vc 'left as it is\|^on\|^    ' out >>changed
done
[ "$(tr '\n' ' ' <changed)" = "11 37 4 4 1 3 " ] || complain "as many nests as before are changed: $(tr '\n' ' ' <changed)"

# ---- times: short kernels as trains ----
expect 0 "$lab" check livermore.c --apply vector --repeat 3 --size 203 --json
python3 - out <<'END' || complain "the times of livermore.c are not what they should be"
import json, sys
reply = json.load(open(sys.argv[1]))
assert 0 < reply["launch"] < 1e-3 and reply["launch_group"] >= 0, reply["launch"]
launches = {}
for nest in reply["nests"]:
    if nest["applied"]:
        check = nest["check"]
        assert check["equal"] and check["launches"] >= 1, check
        assert check["threads"] > 0 and check["again"] > 0 and check["changed"] > 0, check
        assert (check["pack"] > 0) == bool(nest["copies"]), check
        launches.setdefault(nest["function"], []).append(check["launches"])
assert launches["kernel12"][0] > 1, launches
END

# ---- the report as JSON ----
expect 0 "$restride" analyze matmul.c --apply vector --json
python3 - out <<'END' || complain "the JSON of matmul.c is not what it should be"
import json, sys
reply = json.load(open(sys.argv[1]))
nest, = reply["nests"]
copy, = nest["copies"]
assert nest["along"] == "i3" and nest["reduction"] and copy["array"] == "B", nest
assert (copy["dims"], copy["layout"], copy["matrix"]) == ("i j", "j i", [["0", "1"], ["1", "0"]]), copy
assert "matmul_vector" in reply["source"] and nest["kernels"]["changed"] == "matmul_vector"
END

# ---- predictions: axpy is held by memory (3 x 128 MiB at 3.36 TB/s); records of 25 words are better apart; copies for
# ---- neighbours cost what they take to read; a tile of neighbours costs more than it saves.
predicted() { # PROGRAM WHAT FUNCTION CONDITION OPTIONS...
    expect 0 "$restride" analyze "$1.c" --apply "$2" --json "${@:5}"
    python3 - out "$3" "$4" <<'END' || complain "the prediction for $3 is not $4"
import json, sys
nest = next(n for n in json.load(open(sys.argv[1]))["nests"] if n["function"] == sys.argv[2])
p = nest["predicted"]
gain, threads, bound = p["threads"] / p["changed"], p["threads"], p["threads_bound"]
if not eval(sys.argv[3]):
    sys.exit(f"{sys.argv[2]}: {p}")
END
}
predicted linpack vector axpy '110e-6 < threads < 150e-6 and bound == "memory" and 0.85 < gain < 1.1' --set n=16777216
predicted linpack vector axpy 'threads < 4e-6' --set n=203
predicted livermore vector kernel09 '4 < gain < 7 and bound == "memory"' --set n=4194304
predicted livermore vector kernel07 '0.35 < gain < 0.6' --set n=4194304
predicted livermore memory kernel09 'gain == 1' --set n=4194304
cp "$kernels/grids.c" large_grids.c
predicted large_grids memory heat 'gain < 0.8'
predicted nas vector cholesky_update 'bound == "waiting"'
# Many groups with little work wait for their start; rows that are opened four times cost more than once; warps that take turns
# push each other's records out of a processor's cache, and tiles keep them.
sed 's/SAMPLES = 2048/SAMPLES = 4194304/' "$kernels/mri.c" >long_mri.c
predicted long_mri vector compute_phi_magnitude 'bound == "starting work-groups" and gain > 1.05'
sed 's/SIDE = 128/SIDE = 32/' nas.c >long_fft.c
predicted long_fft vector cfft2d_first_exchange 'gain < 0.8' --set n=1048576
sed 's/\[EDGE\]\[EDGE\]\[BLOCK\]/[131072][8][BLOCK]/g;s/\[BLOCK\]\[BLOCK\]\[EDGE\]/[BLOCK][BLOCK][131072]/g' nas.c >long_btrix.c
predicted long_btrix memory btrix_decompose '1.1 < gain < 2' --set ls=0 --set le=131072 --set j=5

# ---- unusual sources ----
{
    echo 'void many(int n, float x[]) {'
    for i in $(seq 80); do echo "for (int i$i = 0; i$i < n; i$i++) x[i$i] = 1;"; done
    echo '}'
} >many.c
expect 0 "$restride" analyze many.c --apply vector -o many.cl
says out 'many, line 81: left as it is: the analysis did not follow this loop \(line 81\)'
echo 'void masked(int n, float x[]) { for (int i = 0; i < n; i++) x[i & 0x7fffffffffffffffL] = 1; }' >masked.c
expect 0 "$restride" analyze masked.c --apply vector -o masked.cl
says out 'is not affine in the loops'

printf '\n__kernel void twice(__global float *a) { a[get_global_id(0)] *= 2; }\n' >kernel.cl
expect 1 "$restride" analyze kernel.cl --apply vector
says err 'kernel.cl:2: twice is a kernel'

# ---- usage ----
expect 2 "$restride" analyze matmul.c --apply speed
expect 2 "$lab" check matmul.c
expect 2 "$restride" analyze matmul.c --apply vector --width 3
expect 2 "$lab" check matmul.c --apply vector --size none
expect 2 "$restride" analyze matmul.c --apply vector --set n
expect 2 "$restride" analyze matmul.c --apply vector --size 0
expect 1 "$lab" check matmul.c --apply vector --device "no such device"
expect 0 "$lab" check --help
says out '--set NAME=VALUE'
finish
