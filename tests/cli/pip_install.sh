#!/usr/bin/env bash
# pip_install.sh RESTRIDE SOURCE: pip installs the checkout as the README says, and the README's Python program prints what
# the README shows. Needs PyPI, for the build's back end.
set -euo pipefail
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
/usr/bin/python3 -m venv "$work/venv" || { echo "skipped: there is no venv"; exit 77; }
"$work/venv/bin/pip" download --quiet --no-deps --dest "$work" scikit-build-core || { echo "skipped: PyPI cannot be reached"; exit 77; }
mkdir "$work/source"
git -C "$source" ls-files -z | (cd "$source" && xargs -0 tar cf - --ignore-failed-read 2>/dev/null) | tar xf - -C "$work/source"
cd "$work/source"
# Kernels for CUDA devices would take minutes where nvcc is.
SKBUILD_CMAKE_DEFINE=RESTRIDE_CUDA_ARCHITECTURES= "$work/venv/bin/pip" install --quiet .
cd "$work"
# The program behind "$ cat turn.py", and what "$ python3 turn.py" prints.
shown() { awk -v begin="    \$ $1" '$0 == begin {on = 1; next} on && (/^    \$ / || (!/^    / && NF)) {exit} on {print substr($0, 5)}' "$source/README.md"; }
shown "cat turn.py" >turn.py
diff <(shown "python3 turn.py" | sed '/^$/d') <("$work/venv/bin/python" turn.py)
"$work/venv/bin/restride" --version
# Without what its dependency brings, the remedy is pip's.
printf '__kernel void f(__global float *a) { a[0] = 1; }\n' >k.cl
"$work/venv/bin/restride" rewrite k.cl >/dev/null 2>said
"$work/venv/bin/pip" uninstall --quiet --yes libclang
! "$work/venv/bin/restride" rewrite k.cl 2>said
diff said - <<<"restride rewrite: What reads kernels needs libclang, which is not installed here: pip install libclang."
! "$work/venv/bin/restride" doctor >said
grep -q -- "-> pip install libclang" said
