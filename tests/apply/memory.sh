#!/usr/bin/env bash
# memory.sh RESTRIDE LAB KERNELS: nests with their arrays in constant, texture and shared memory, beside the originals.
restride=$1
lab=$2
kernels=$3
source "$(dirname "$0")/../cli/expect.sh"
cd "$work"

check() {
    expect 0 "$lab" check "$1" --apply memory --repeat 0 --size 203 "${@:2}"
    if grep -q 'WRONG\|another order' out; then complain "$1 ${*:2}: a nest gives something else"; fi
}

# placed FILE FUNCTION ARRAY=SPACE... expects where arrays lie.
placed() {
    expect 0 "$restride" analyze "$1" --apply memory -o kernels.cl
    cp out report
    for pair in "${@:3}"; do
        sed -n "/^$2, line/,/^[a-z]/p" report | grep -qE "^    ${pair%=*}: ${pair#*=} memory" ||
            complain "$2: ${pair%=*} is not in ${pair#*=} memory"
    done
}

# Sizes that leave part of a tile, so that work-items without work come to the barriers too.
sed 's/M = 512, N = 512, P = 512/M = 29, N = 38, P = 47/' "$kernels/matmul.c" >matmul.c
sed 's/SAMPLES = 2048, VOXELS = 262144/SAMPLES = 61, VOXELS = 203/' "$kernels/mri.c" >mri.c
sed 's/ATOMS = 4000, GRID = 512/ATOMS = 45, GRID = 23/' "$kernels/particles.c" >particles.c
sed 's/NX = 64, NY = 64, NZ = 64/NX = 33, NY = 10, NZ = 9/' "$kernels/grids.c" >grids.c
check matmul.c
check mri.c
check grids.c
check particles.c --set blocks=20 --elements position=300
# Its table begins at 1, and random data would point before it.
sed 's/ex\[ix\[k\] - 1\]/ex[ix[k]]/' "$kernels/livermore.c" >livermore.c
check livermore.c --elements ex=100 --elements dex=100
check "$kernels/nas.c" --elements x=203 --elements y=203

# Short kernels are timed as trains, but where subscripts are data.
cat >gather.c <<'END'
void scaled(int n, double x[], double y[]) { for (int i = 0; i < n; i++) y[i] = 2 * x[i]; }
void gather(int n, double x[], int at[], double y[]) { for (int i = 0; i < n; i++) y[i] = x[at[i]]; }
END
expect 0 "$lab" check gather.c --apply memory --repeat 3 --size 203 --elements x=203 --json
python3 - out <<'END' || complain "the nests of gather.c are not timed as they should be"
import json, sys
scaled, gather = (nest["check"] for nest in json.load(open(sys.argv[1]))["nests"])
assert scaled["equal"] and gather["equal"] and scaled["launches"] > 1 and gather["launches"] == 1, (scaled, gather)
END

placed matmul.c matmul A=shared B=shared C=global
placed mri.c compute_q samples=constant x=global
placed mri.c compute_fh kx=constant rhoR=constant outR=global
placed particles.c coulomb atoms=constant grid=global
placed particles.c sad4 current=texture reference=texture sums=global
placed particles.c clamp_particle position=texture weights=shared out=global
placed grids.c heat from=shared to=global
says report 'from: shared memory, in tiles of 6 x 6 x 18'
placed grids.c cfd_red p=global rhs=texture
says report 'p: global memory; not in shared memory: it is written'

cat >forms.c <<'END'
enum { N = 45, M = 39 };

/* A tile that is read against the direction of the threads, from the loop's end */
void backwards(float x[N], float y[N + M], float c[M])
{
    for (int i = 0; i < N; i++) {
        float sum = 0;
        for (int k = 0; k < M; k++)
            sum += c[k] * y[N + M - 2 - i - k];
        x[i] = sum * 2;
    }
}

/* Every third element, a statement before the loop, and a start elsewhere */
void spread(int n, float X[N][M], float y[2 * N + 3 * M])
{
    for (int i = 2; i < n; i++)
        for (int j = 1; j < M; j += 2) {
            X[i][j] = 1;
            for (int k = 3; k < n; k++)
                X[i][j] += y[2 * i + 3 * k] * y[2 * i + 3 * k + 1];
        }
}

/* Bytes and shorts through images; an index that was read itself */
void pictures(int out[N], unsigned char bytes[N][M], short at[M])
{
    for (int i = 0; i < N; i++)
        out[i] = bytes[(i * i) % N][at[(i * 7) % M] % M] - at[(i * 5) % M];
}

/* The loop inside the threads is not the same for all */
void uneven(float x[N], float y[N])
{
    for (int i = 0; i < N; i++) {
        float sum = 0;
        for (int k = 0; k <= i; k++)
            sum += y[k];
        x[i] = sum;
    }
}

/* Parameters that grow with the iterations */
void growing(float x[N], float y[3 * N], int u)
{
    for (int i = 0; i < N; i++) {
        u += 2;
        x[i] = y[u];
    }
}
void scaled(float x[N], float y[N], int u)
{
    for (int i = 0; i < N; i++) {
        x[i] = y[i] * u;
        u++;
    }
}
void walking(float x[N], float *y)
{
    for (int i = 0; i < N; i++)
        x[i] = *y++;
}

/* Variables of the function or of a loop that the threads' loop would assign */
struct pair {
    int a, b;
};
void members(float x[N], float y[3 * N])
{
    struct pair t = {0, 0};
    for (int i = 0; i < N; i++) {
        t.a += 1;
        x[i] = y[t.a];
    }
}
void headed(float X[N][M], float y[N * M + 1])
{
    for (int i = 0, t = 0; i < N; i++)
        for (int j = 0; j < M; j++) {
            t++;
            X[i][j] = y[t];
        }
}
END
check forms.c --set u=1 --elements y=1000
for function in growing scaled walking; do
    says out "^$function, line .*left as it is: a parameter of the nest is assigned"
done
for function in members headed; do
    says out "^$function, line .*left as it is: independent iterations assign a variable declared before them"
done
check forms.c --constant 1 --size 45
placed forms.c backwards y=shared
placed forms.c pictures bytes=texture at=texture
placed forms.c uneven y=constant
expect 0 "$restride" analyze forms.c --apply memory --constant 1 -o kernels.cl
says out 'c: shared memory, in tiles of 16$'
says out 'y: global memory; not in shared memory: the loop inside the threads differs between them'
expect 0 "$restride" analyze matmul.c --apply memory --json
python3 - out <<'END' || complain "the JSON of matmul.c is not what it should be"
import json, sys
nest, = json.load(open(sys.argv[1]))["nests"]
a, = [a for a in nest["arrays"] if a["name"] == "A"]
assert (a["memory"], a["tile"], nest["group"]) == ("shared", [16, 16], [16, 16, 1]), nest
END
finish
