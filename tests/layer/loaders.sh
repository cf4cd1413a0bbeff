#!/usr/bin/env bash
# loaders.sh RESTRIDE TOOLKIT GPU_DRIVER PROGRAM...: programs that are linked with a loader in the folder TOOLKIT, which this script
# makes of ocl-icd's: one that knows no layers, and looks for drivers where there are none. PoCL is the driver.
restride=$(realpath "$1")
toolkit=$2
gpu_driver=$3
shift 3
source "$(dirname "$0")/../cli/expect.sh"

loader=$(ldconfig -p | sed -n 's/.*libOpenCL\.so\.1 .*x86-64.* => //p' | head -n 1)
vendors=/etc/OpenCL/vendors
driver=$(find /usr/lib -name "$(cat $vendors/pocl.icd || echo none)" | head -n 1)
if ! grep -q OPENCL_LAYERS "$loader" || ! grep -q $vendors "$loader" || [ -z "$driver" ]; then
    echo "skipped: needs ocl-icd and PoCL"
    exit 77
fi
unset OCL_ICD_VENDORS OPENCL_VENDOR_PATH OCL_ICD_FILENAMES
mkdir -p "$toolkit"
sed 's/OPENCL_LAYERS/OPENCL_LAYER_/g;s:/etc/OpenCL/vendors:/etc/OpenCL/nowhere:g' "$loader" >"$toolkit/libOpenCL.so.1"
ln -sf libOpenCL.so.1 "$toolkit/libOpenCL.so"

transforms() {
    expect 0 "$restride" run --quiet --policy asta --report "$work/report.json" -- "$@"
    grep -q '"status": "transformed"' "$work/report.json" || complain "nothing was transformed: $*"
}

# By RPATH and by RUNPATH. Without Restride the program finds no driver; one that is told where they are finds the same.
for program; do
    "$program" wnlsfr 32768 >"$work/plain" 2>&1 && complain "a driver was found without Restride"
    transforms "$program" wnlsfr 32768
    OCL_ICD_VENDORS=$vendors expect 0 "$program" wnlsfr 32768
    OCL_ICD_VENDORS=$vendors transforms "$program" wnlsfr 32768
    # Who chose the drivers gets these alone.
    OCL_ICD_VENDORS=$work "$restride" run --quiet -- "$program" wnlsfr 32768 >"$work/plain" 2>&1 &&
        complain "a driver was found where the user had chosen others"
done

# Whatever name a program opens, it gets the layer, and its loader stays where it was.
asks='import ctypes, sys
count = ctypes.c_uint()
library = ctypes.CDLL(sys.argv[1])
print("code", library.clGetPlatformIDs(0, None, ctypes.byref(count)), "platforms", count.value)
print("".join(line for line in open("/proc/self/maps") if "libOpenCL" in line or "librestride" in line))'
for name in libOpenCL.so libOpenCL.so.1 "$toolkit/libOpenCL.so" "$toolkit/libOpenCL.so.1"; do
    LD_LIBRARY_PATH=$toolkit expect 0 "$restride" run --quiet -- python3 -c "$asks" "$name"
    says out "code 0 platforms 1"
    says out "librestride_layer\.so"
    says out "$toolkit/libOpenCL\.so"
done

# A loader that knows layers is the program's own; ld.so has Restride's in its own namespace alone.
expect 0 "$restride" run --quiet -- python3 -c "$asks" libOpenCL.so.1
says out "librestride_layer\.so"
[ "$(grep -c 'r-xp.*librestride_loader' "$work/out")" = 1 ] || complain "Restride's loader stands before one that knows layers"

# A GPU's driver that no .icd file names comes behind the others; not where the user has chosen, nor twice.
mkdir "$work/gpu"
ln -s "$gpu_driver" "$work/gpu/libnvidia-opencl.so.1"
LD_LIBRARY_PATH=$work/gpu expect 0 "$restride" run --quiet -- python3 -c "$asks" libOpenCL.so.1
says out "code 0 platforms 2"
LD_LIBRARY_PATH=$work/gpu OCL_ICD_VENDORS=$vendors expect 0 "$restride" run --quiet -- python3 -c "$asks" libOpenCL.so.1
says out "code 0 platforms 1"
LD_LIBRARY_PATH=$toolkit:$work/gpu expect 0 "$restride" run --quiet -- python3 -c "$asks" libOpenCL.so.1
says out "code 0 platforms 1"

# The doctor says so, and where a driver comes from that no .icd file names.
mkdir "$work/unusual"
ln -s "$driver" "$work/unusual/libnvidia-opencl.so.1"
LD_LIBRARY_PATH=$toolkit expect 0 "$restride" doctor
says out "works +OpenCL loader +$toolkit/libOpenCL.so.1"
says out "works +OpenCL layer +.* is put upon $toolkit/libOpenCL.so.1, which knows no layers"
says out "works +OpenCL driver +Portable Computing Language: .*, which no .icd file names"
LD_LIBRARY_PATH=$work/unusual expect 0 "$restride" run --quiet -- python3 -c "$asks" libOpenCL.so.1
says out "code 0 platforms 1"
LD_LIBRARY_PATH=$toolkit:$work/unusual "$restride" doctor >"$work/out" # PoCL has its files beside it
says out "works +OpenCL driver +Portable Computing Language: $work/unusual/libnvidia-opencl.so.1, which no .icd file names"
expect 0 "$restride" doctor
says out "works +OpenCL layer +.* is loaded by "
grep -q "no .icd file names" "$work/out" && complain "a driver that has an .icd file is said to have none"

# Every function of the loader here is in Restride's, in the same version.
parts=$(dirname "$(dirname "$restride")")/lib
functions() { nm -D --defined-only --with-symbol-versions "$1" | awk '$2 == "T" && $3 ~ /^cl/ { print $3 }' | sort; }
functions "$loader" >"$work/theirs"
functions "$parts/librestride_loader.so" | comm -23 "$work/theirs" - >"$work/lacking"
[ -s "$work/theirs" ] && [ ! -s "$work/lacking" ] || complain "Restride's loader lacks $(cat "$work/lacking")"
finish
