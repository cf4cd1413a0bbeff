#!/usr/bin/env bash
# doctor.sh RESTRIDE CRASHING_DRIVER PLAIN_LOADER: the findings as text and as JSON agree, a machine without drivers or cpp
# is told what to do, and a driver that crashes is reported, and a loader without layers.
restride=$1
crashing_driver=$2
plain_loader=$3
source "$(dirname "$0")/expect.sh"

status=0
"$restride" doctor >"$work/out" 2>"$work/err" || status=$?
cp "$work/out" "$work/text"
if [ "$status" -eq 0 ]; then
    says out "^restride run works here\.$"
else
    says out "^restride run does not work here"
    says out "^  missing "
fi
says out "^  works +host engine "
expect "$status" "$restride" doctor --json
says out '"version": "[0-9.]+"'
says out '"works": (true|false)'
[ "$(grep -c '"subject"' "$work/out")" -eq "$(grep -cE '^  (works|fails|missing|optional) ' "$work/text")" ] ||
    complain "the text and the JSON have different numbers of findings"

# A CUDA device, with kernels that were compiled with the library and without.
cuda=$(dirname "$restride")/../tests/engine/cuda/emulated
if [ -d "$cuda" ] && "$restride" doctor | grep -q "CUDA" && ! "$restride" doctor | grep -q "has no CUDA engine"; then
    mkdir -p "$work/installed/bin" "$work/installed/lib/restride/kernels/sm_90"
    cp "$restride" "$work/installed/bin"
    LD_LIBRARY_PATH=$cuda "$work/installed/bin/restride" doctor >"$work/out"
    says out "optional +CUDA kernels +none were compiled with the library for compute capability 9\.0"
    touch "$work/installed/lib/restride/kernels/sm_90/"{one,two}
    LD_LIBRARY_PATH=$cuda "$work/installed/bin/restride" doctor >"$work/out"
    says out "works +CUDA kernels +2 were compiled with the library for compute capability 9\.0"
fi

# CUDA programs: with a driver and without, with a layer that cannot be loaded, and with none.
if ! grep -qE "CUDA programs +(librestride|this build)" "$work/text" && [ -d "$cuda" ]; then
    LD_LIBRARY_PATH=$cuda "$restride" doctor >"$work/out"
    says out "works +CUDA programs +ld\.so loads .*/librestride_layer_cuda\.so into programs that use libcuda\.so\.1"
    mkdir -p "$work/parts/bin" "$work/parts/lib"
    cp "$restride" "$work/parts/bin"
    cp "$(dirname "$restride")/../lib/"librestride_{layer,loader}.so "$work/parts/lib"
    LD_LIBRARY_PATH=$cuda "$work/parts/bin/restride" doctor >"$work/out"
    says out "optional +CUDA programs +librestride_layer_cuda\.so is not here"
    says out "-> install all of Restride"
    touch "$work/parts/lib/librestride_layer_cuda.so"
    LD_LIBRARY_PATH=$cuda "$work/parts/bin/restride" doctor >"$work/out"
    says out "fails +CUDA programs +$work/parts/lib/librestride_layer_cuda\.so is not loaded"
    cp "$work/parts/lib/"librestride_layer{,_cuda}.so
    echo "no library" >"$work/parts/lib/librestride_loader.so"
    LD_LIBRARY_PATH=$cuda "$work/parts/bin/restride" doctor >"$work/out" 2>/dev/null
    says out "fails +CUDA programs +ld\.so does not load librestride_loader\.so by LD_AUDIT"
fi

# The same machine without cpp in PATH.
mkdir "$work/empty"
expect 1 env PATH="$work/empty" "$restride" doctor
says out "missing +C preprocessor"
says out "apt-get install cpp"

# Folders that nothing can be kept in: the line says why.
touch "$work/file"
mkdir -p "$work/shared/restride/rewritten"
chmod 777 "$work/shared/restride/rewritten"
kept() {
    env "$@" "$restride" doctor >"$work/out" # PoCL may want such a folder, too
}
kept XDG_CACHE_HOME="$work/cache"
says out "works +kept answers +$work/cache/restride/rewritten$"
kept XDG_CACHE_HOME="$work/file"
says out "fails +kept answers +nothing can be kept in $work/file/restride/rewritten: each run is a first run"
says out "set XDG_CACHE_HOME to a folder that you may write"
kept XDG_CACHE_HOME="$work/shared"
says out "fails +kept answers +others may write to $work/shared/restride/rewritten: "
says out "chmod go-w that folder"
kept -u HOME -u XDG_CACHE_HOME
says out "optional +kept answers +neither XDG_CACHE_HOME nor HOME is a full path"

# The same machine without OpenCL drivers.
if ! grep -q "OpenCL layer .*not part of this build" "$work/text"; then
    expect 1 env OCL_ICD_VENDORS="$work/empty" OPENCL_VENDOR_PATH="$work/empty" "$restride" doctor
    says out "missing +OpenCL driver +OCL_ICD_VENDORS=$work/empty names no driver that works"
    says out "unset this variable, or let it name a driver's .icd file or their folder"
    grep -q "missing +OpenCL layer" "$work/out" && complain "without a driver no loader is to blame"

    mkdir "$work/vendors"
    echo "$crashing_driver" >"$work/vendors/crashing.icd"
    expect 1 env OCL_ICD_VENDORS="$work/vendors" OPENCL_VENDOR_PATH="$work/vendors" "$restride" doctor
    says out "missing +OpenCL +a driver crashed"

    mkdir "$work/loader"
    cp "$plain_loader" "$work/loader/libOpenCL.so.1"
    expect 1 env LD_LIBRARY_PATH="$work/loader:$LD_LIBRARY_PATH" "$restride" doctor
    says out "missing +OpenCL loader +$work/loader/libOpenCL.so.1: "
    says out "first in LD_LIBRARY_PATH"
fi
finish
