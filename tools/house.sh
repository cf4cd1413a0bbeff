#!/usr/bin/env bash
# house.sh [--root FOLDER] [--table]: what holds of every file of the tree. Prints and fails on
#   double     a type that a header defines, or whose name begins with rs_ or restride_, defined in two files
#   ring       files that include each other (NAME.h and NAME.c are one), within a room too
#   include    a header of a room that tools/house/rooms does not allow, and a row of docs/architecture.md that differs from it
#   long-file  more than 600 lines
#   long-function  more than 60 lines
#   polling    a thread of the product that sleeps and looks again
#   lab        the laboratory used by the product
#   libclang   a type of libclang's named outside src/syntax/clang/
#   no-page    a public function without a comment in its header, of which its page is made
#   no-test    a public function that no test names
# What is known is listed in tools/house/debts, a line each, which may only shrink: an entry that holds no longer fails too.
# --table prints the rows of docs/architecture.md as tools/house/rooms has them.
set -euo pipefail
here=$(realpath "$(dirname "$0")")
if ! ctags --version 2>/dev/null | grep -q 'Universal Ctags.*'; then
    echo "house.sh needs Universal Ctags (the Debian package universal-ctags)." >&2
    exit 1
fi
exec /usr/bin/python3 "$here/house/check.py" --root "$here/.." "$@"
