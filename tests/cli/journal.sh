#!/usr/bin/env bash
# journal.sh RESTRIDE [KILLS]: changes of files that are killed at random moments and resumed by the same command.
restride=$1
kills=${2:-15}
source "$(dirname "$0")/expect.sh"
cd "$work" || exit 1

# The change is made once without a journal, and then killed again and again until it comes to its end.
# survives FILE VERB ARGUMENTS...
survives() {
    local file=$1 verb=$2 status pid count=0
    shift 2
    cp "$file" wanted
    expect 0 "$restride" "$verb" wanted "$@"
    while [ "$count" -lt "$kills" ]; do
        "$restride" "$verb" "$file" "$@" --journal j >out 2>err &
        pid=$!
        sleep "0.0$((RANDOM % 10))$((RANDOM % 10))"
        kill -9 $pid 2>/dev/null
        status=0
        wait $pid 2>/dev/null || status=$?
        if [ $status -eq 0 ]; then
            break
        elif [ $status -ne 137 ]; then
            complain "status $status: $verb $*"
            return
        fi
        count=$((count + 1))
        [ ! -e j ] || interrupted=$((interrupted + 1))
        # Without a journal the run has not begun yet, or was killed when all was done.
        [ -e j ] || ! cmp -s "$file" wanted || break
    done
    # Killed as often as asked for, or done: the last run ends the change if there is still one.
    if [ -e j ]; then
        expect 0 "$restride" "$verb" "$file" "$@" --journal j
        says out "has been finished"
    elif [ $status -ne 0 ] && ! cmp -s "$file" wanted; then
        expect 0 "$restride" "$verb" "$file" "$@" --journal j
    fi
    [ ! -e j ] || complain "the journal is still there: $verb $*"
    cmp "$file" wanted || complain "another result after $count kills: $verb $*"
}

RANDOM=1
interrupted=0
head -c 6000000 /dev/urandom >random
# 20 MB: steps enough for a kill in the middle.
for ((i = 0; i < 4; i++)); do cat random; done | head -c 20000000 >large
for arguments in "--shape 2500x2000 --dtype f32" "--shape 2000x2000 --dtype 5" "--shape 2503x1997 --dtype f32 --offset 100" \
    "--shape 20x50x40x500 --dtype 1 --axes 0,2,1,3"; do
    cp large a
    # shellcheck disable=SC2086
    survives a transpose $arguments --memory 1M
done
printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '<f8', 'fortran_order': False, 'shape': (1499, 1501), }" >a
head -c $((1499 * 1501 * 8)) large >>a
survives a transpose --memory 1M
head -c 128 a | grep -q "(1501, 1499)" || complain "the header was not rewritten"
[ "$interrupted" -gt 0 ] || echo "no run was killed in the middle; the machine is too fast for this test"

# ---- Ctrl-C ----
cp large a
cp large wanted
expect 0 "$restride" transpose wanted --shape 2500x2000 --dtype f32
"$restride" transpose a --shape 2500x2000 --dtype f32 --memory 1M --journal j >out 2>err &
pid=$!
while [ ! -e j ] && kill -0 $pid 2>/dev/null; do :; done
kill -INT $pid 2>/dev/null
kill -TERM $pid 2>/dev/null
status=0
wait $pid || status=$?
if [ $status -eq 1 ]; then
    says err "Interrupted; a is between its two layouts, and the same command"
    before=$(cksum <a)
    expect 1 "$restride" transpose a --shape 2000x2500 --dtype f32 --journal j
    says err 'belongs to an interrupted "transpose --shape 2500x2000'
    cp a b
    expect 1 "$restride" transpose b --shape 2500x2000 --dtype f32 --journal j
    says err "belongs to another file"
    [ "$(cksum <a)" = "$before" ] || complain "the file has changed"
    expect 0 "$restride" transpose a --shape 2500x2000 --dtype f32 --journal j
elif [ $status -ne 0 ]; then
    complain "status $status after Ctrl-C"
fi
cmp a wanted || complain "another result after Ctrl-C"

# ---- a stage for each of very many members ----
members=
for ((i = 0; i < 600; i++)); do members+=" float a$i; double b$i;"; done
head -c $((600 * 16 * 12)) large >a
cp a wanted
many=(--dims "i:3 j:4 f{$members }" --from "f i j" --to "f j i")
expect 0 "$restride" convert wanted "${many[@]}"
expect 0 "$restride" convert a "${many[@]}" --journal j
cmp a wanted || complain "another result with 1200 stages"

# ---- journals that cannot be ----
cp large a
before=$(cksum <a)
echo text >j
expect 1 "$restride" transpose a --shape 2500x2000 --dtype f32 --journal j
says err "is no journal of Restride"
[ "$(cat j)" = text ] || complain "a foreign file was changed"
rm j
expect 1 "$restride" transpose a --shape 2500x2000 --dtype f32 --journal none/j
says err "journal none/j could not be made"
expect 1 "$restride" transpose a --shape 2500x2000 --dtype f32 --journal a
says err "is no journal of Restride"
mkdir small
if mount -t tmpfs -o size=256k none small 2>/dev/null; then
    expect 1 "$restride" transpose a --shape 2500x2000 --dtype f32 --journal small/j
    says err "needs [0-9]+ bytes, which its disk cannot give: No space left on device; nothing was changed"
    [ -z "$(ls small)" ] || complain "something of the journal is left"
    # A sparse file on a disk that cannot hold it.
    truncate -s 1M small/sparse
    expect 1 "$restride" transpose small/sparse --shape 512x512 --dtype f32
    says err "has holes, and the disk cannot take"
    umount small
fi
[ "$(cksum <a)" = "$before" ] || complain "the file has changed"
finish
