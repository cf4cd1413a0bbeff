#!/usr/bin/env bash
# manuals.sh RESTRIDE SOURCE PAGES: the manual pages are whole (each verb, each public function and each header has one; the
# laboratory, where it is built, has one that names all of its verbs) and
# neither man nor mandoc warns of one.
set -euo pipefail
restride=$1 source=$2 pages=$3
for program in man mandoc python3; do
    command -v $program >/dev/null || { echo "skipped: $program is not installed"; exit 77; }
done
[ -d "$pages/man3" ] || { echo "skipped: this build has no manual pages"; exit 77; }
failures=0
fail() {
    echo "$1"
    failures=$((failures + 1))
}

for function in $(cat "$source"/include/restride/*.h | tr '\n' ' ' | sed 's|/\*|\n&|g; s|\*/|&\n|g' | grep -v '^/\*' |
    grep -oE 'RESTRIDE_API [^;(]*\brestride_[a-z0-9_]+\(' | grep -oE 'restride_[a-z0-9_]+\($' | tr -d '(' | sort -u); do
    [ -s "$pages/man3/$function.3" ] || fail "$function() has no page"
done
for header in "$source"/include/restride/*.h; do
    name=restride-$(basename "$header" .h | tr _ -)
    [ "$name" = restride-restride ] && name=restride
    [ -s "$pages/man7/$name.7" ] || fail "$(basename "$header") has no page"
done
for verb in $("$restride" --help | sed -nE 's/^  ([a-z][a-z-]*) .*/\1/p'); do
    "$restride" "$verb" --help >/dev/null 2>&1 || continue # not built
    [ -s "$pages/man1/restride-$verb.1" ] || fail "restride $verb has no page"
done
laboratory=()
if [ -x "$(dirname "$restride")/restride-lab" ]; then
    laboratory=("$pages/lab/man1/restride-lab.1")
    for verb in $("$(dirname "$restride")/restride-lab" --help | sed -nE 's/^  ([a-z][a-z-]*) .*/\U\1/p'); do
        grep -q "^\.SH $verb\$" "${laboratory[0]}" || fail "the page of restride-lab lacks $verb"
    done
fi
for page in "$source"/docs/restride.1 "$pages"/man[137]/* "${laboratory[@]}"; do
    warnings=$(LC_ALL=C.UTF-8 man --warnings=w --local-file "$page" 2>&1 >/dev/null; mandoc -Tlint -W warning "$page") || true
    [ -z "$warnings" ] || fail "$page: $warnings"
    [ "$(LC_ALL=C.UTF-8 man --local-file "$page" 2>/dev/null | wc -l)" -gt 8 ] || fail "$page is empty"
done
all=("$pages"/man[137]/*)
echo "${#all[@]} pages, $failures failures"
[ $failures -eq 0 ]
