#!/usr/bin/env bash
# usage: oclgrind.sh [--races-allowed] PROGRAM ARGUMENTS...
# Runs a program under Oclgrind, which checks every access, every barrier and every OpenCL call. Oclgrind's exit status
# is the program's, so its findings are read from its log. Exit status 77 where it is not installed.
set -uo pipefail
command -v oclgrind >/dev/null || {
    echo "Oclgrind is not installed (Debian package oclgrind)."
    exit 77
}
races=--data-races
[ "$1" != --races-allowed ] || { races= && shift; }
log=$(mktemp)
trap 'rm -f "$log"' EXIT
oclgrind $races --check-api --log "$log" "$@"
status=$?
if [ -s "$log" ]; then
    echo "Oclgrind found:"
    head -n 60 "$log"
    [ "$status" -ne 0 ] || status=1
fi
exit "$status"
