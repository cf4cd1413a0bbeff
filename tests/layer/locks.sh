#!/bin/bash
# locks.sh SOURCE: clang checks the marks of the layer's functions, which say what holds its lock (src/layer/core/locks.h).
# Every file passes, and one that takes a record without the lock does not.
set -euo pipefail
cd "$1"
command -v clang >/dev/null || exit 77
planted=$(mktemp --suffix .c)
trap 'rm -f "$planted"' EXIT
read -ra flags <<<"$(pkg-config --cflags jansson)"

check() {
    clang -std=c11 -fsyntax-only -Wthread-safety -Werror=thread-safety -D_GNU_SOURCE -DCL_TARGET_OPENCL_VERSION=300 \
        -DRS_LIBCLANG_FILE='""' "${flags[@]}" -Isrc -Iinclude "$@"
}

check src/layer/core/*.c src/layer/opencl/*.c
for wrong in 'rs_buffer *f(rs_layer *l, rs_allocation a) { return rs_buffer_find(l, a); }' \
    'void f(rs_layer *l) { rs_layer_lock(l); }' \
    'void f(rs_layer *l) { rs_layer_lock(l); rs_layer_lock(l); rs_layer_unlock(l); rs_layer_unlock(l); }' \
    'void f(rs_layer *l) { rs_layer_lock(l); rs_layer_wait(l, 0, 1); rs_layer_unlock(l); }'; do
    printf '#include "layer/core/wait.h"\n%s\n' "$wrong" >"$planted"
    if check "$planted" 2>/dev/null; then
        echo "locks.sh: clang lets this pass: $wrong" >&2
        exit 1
    fi
done
