#!/usr/bin/env bash
# completion.sh RESTRIDE COMPLETION: what bash offers behind the beginnings of commands.
restride=$1
source "$(dirname "$0")/expect.sh"
source "$2"

# offers WORD... expects that completion of the last word offers what is in $wanted, and no more.
offers() {
    COMP_WORDS=("$restride" "$@")
    COMP_CWORD=$#
    _restride "$restride" "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD - 1]}"
    echo "${COMPREPLY[*]}" >"$work/out"
    : >"$work/err"
    [ "${COMPREPLY[*]}" = "$wanted" ] || complain "\"$*\" offers not \"$wanted\""
}

wanted="tune" offers tu
wanted="transpose" offers trans
wanted="--help" offers --h
wanted="--shape" offers transpose a.npy --sh
wanted="--journal --json" offers convert a.npy --j
wanted="" offers transpose a
wanted="transpose" offers bench transp
wanted="--threads" offers bench transpose --thr
wanted="" offers show -- --j
finish
