# shellcheck shell=bash disable=SC2034
# For the scripts that run CUDA programs under `restride run`, which source it in the checkout with $build and $compile set.
# Ends with status 77 where there is no nvcc, and builds $build where it is missing. Sets $restride; $only, what `restride run`
# is told where the build has no rewriter and the layer has only the second forms that are in the program; $architecture; and
# $work, a folder that goes with the script.
PATH=$PATH:/usr/local/cuda/bin
command -v nvcc >/dev/null || { echo "$(basename "$0" .sh): there is no nvcc" && exit 77; }
if [ ! -x "$build/bin/restride" ] || [ ! -r "$build/lib/librestride_layer_cuda.so" ]; then
    cmake -S . -B "$build" -DRESTRIDE_TESTS=OFF -DRESTRIDE_EXAMPLES=OFF -DRESTRIDE_LAB=OFF -DRESTRIDE_MPI=OFF >/dev/null &&
        cmake --build "$build" --parallel "$(nproc)" -- --no-print-directory --quiet || exit 1
fi
restride=$PWD/$build/bin/restride
only=()
"$restride" rewrite --help >/dev/null 2>&1 || only=(--cache-only)
architecture=native
! $compile || architecture=sm_90
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
