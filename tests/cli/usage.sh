#!/usr/bin/env bash
# usage.sh RESTRIDE: help, unknown verbs and options, and exit statuses.
restride=$1
source "$(dirname "$0")/expect.sh"

expect 2 "$restride"
says err "^usage: restride VERB"
expect 0 "$restride" --help
says out "^usage: restride VERB"
verbs=$(sed -nE 's/^  ([a-z]+) .*/\1/p' "$work/out")
[ "$(echo "$verbs" | wc -l)" -ge 2 ] || complain "--help lists no verbs"
expect 0 "$restride" --version
says out '^restride [0-9]+\.[0-9]+\.[0-9]+$'
expect 2 "$restride" --version extra
says err '"extra" is one argument too many'
expect 2 "$restride" dance
says err '"dance" is not a verb'

for verb in $verbs; do
    expect 0 "$restride" "$verb" --help
    says out "^usage: restride $verb"
    expect 2 "$restride" "$verb" --no-such-option
    [ ! -s "$work/out" ] || complain "restride $verb --no-such-option writes to standard output"
    says err "^restride $verb: "
done

expect 2 "$restride" doctor extra
says err '"extra" is one argument too many'
finish
