#!/usr/bin/env bash
# usage.sh PROGRAM, of verbs: help, unknown verbs and options, and exit statuses.
restride=$1
name=$(basename "$restride")
source "$(dirname "$0")/expect.sh"

expect 2 "$restride"
says err "^usage: $name VERB"
expect 0 "$restride" --help
says out "^usage: $name VERB"
verbs=$(sed -nE 's/^  ([a-z][a-z-]*) .*/\1/p' "$work/out")
[ -n "$verbs" ] || complain "--help lists no verbs"
expect 0 "$restride" --version
says out "^$name [0-9]+\.[0-9]+\.[0-9]+$"
expect 2 "$restride" --version extra
says err '"extra" is one argument too many'
expect 2 "$restride" dance
says err '"dance" is not a verb'

for verb in $verbs; do
    expect 0 "$restride" "$verb" --help
    says out "^usage: $name $verb"
    [ "$verb" != nvcc ] || continue # whose options are the real nvcc's
    expect 2 "$restride" "$verb" --no-such-option
    [ ! -s "$work/out" ] || complain "$name $verb --no-such-option writes to standard output"
    who="$name $verb"
    [ "$verb" != check ] || who="restride analyze" # which takes the options that are not its own
    says err "^$who: "
done

if [ "$name" = restride ]; then
    expect 2 "$restride" doctor extra
    says err '"extra" is one argument too many'
fi
finish
