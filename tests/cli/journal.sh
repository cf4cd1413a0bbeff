#!/usr/bin/env bash
# journal.sh RESTRIDE [KILLS]: changes of files that are killed at random moments and resumed by the same command.
restride=$1
kills=${2:-8}
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
        "$restride" file-status "$file" --journal j >out 2>err
        ! grep -q 'half done' out || interrupted=$((interrupted + 1))
    done
    # Killed as often as asked for, or done: the last run ends the change if there is still one.
    [ $status -eq 0 ] || expect 0 "$restride" "$verb" "$file" "$@" --journal j
    cmp "$file" wanted || complain "another result after $count kills: $verb $*"
    expect 0 "$restride" "$verb" "$file" "$@" --journal j
    says out "is already done, and nothing was changed"
    cmp "$file" wanted || complain "changed twice: $verb $*"
    rm -f j
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
    says err "Interrupted. a is between its two layouts, and the same command"
    before=$(cksum <a)
    expect 1 "$restride" transpose a --shape 2000x2500 --dtype f32 --journal j
    says err 'belongs to an interrupted "transpose --shape 2500x2000'
    cp a b
    expect 1 "$restride" transpose a --shape 2500x2000 --dtype f32
    says err "a is half done by a change with the journal $work/j; give that command again"
    expect 0 "$restride" file-status a
    says out 'half done by "transpose --shape 2500x2000 .*", [0-9]+ %'
    expect 1 "$restride" transpose b --shape 2500x2000 --dtype f32 --journal j
    says err "belongs to another file"
    [ "$(cksum <a)" = "$before" ] || complain "the file has changed"
    expect 0 "$restride" transpose a --shape 2500x2000 --dtype f32 --journal j
elif [ $status -ne 0 ]; then
    complain "status $status after Ctrl-C"
fi
cmp a wanted || complain "another result after Ctrl-C"
rm -f j

# ---- a stage for each of very many members ----
members=
for ((i = 0; i < 600; i++)); do members+=" float a$i; double b$i;"; done
head -c $((600 * 16 * 12)) large >a
cp a wanted
many=(--dims "i:3 j:4 f{$members }" --from "f i j" --to "f j i")
expect 0 "$restride" convert wanted "${many[@]}"
expect 0 "$restride" convert a "${many[@]}" --journal j
cmp a wanted || complain "another result with 1200 stages"
rm -f j

# ---- records, both ways, of any members and with a last tile that is not full ----
python3 - <<'END'
import struct
fields = [("a", "<f4"), ("b", "<f8"), ("c", "|u1", (3,)), ("d", "<u2"), ("e", "|S5"), ("f", [("x", "<f4"), ("y", "|i1")])]
size = 4 + 8 + 3 + 2 + 5 + 5
header = "{'descr': %r, 'fortran_order': False, 'shape': (100003,), }" % fields
header += " " * (63 - (10 + len(header)) % 64) + "\n"
with open("records.npy", "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    file.write(open("large", "rb").read(size * 100003))
END
for to in "i/32 f i%32" "f i"; do
    cp records.npy a
    survives a convert --from "i f" --to "$to" --memory 200K
    survives a convert --from "$to" --to "i f" --memory 200K
    cmp a records.npy || complain "records do not come back from $to"
done

# ---- a finished change, a journal of another, and a file that was brought back ----
cp large a
expect 0 "$restride" transpose a --shape 2500x2000 --dtype f32 --journal j
[ "$(stat -c %s j)" -le 8192 ] || complain "a finished journal has not given its space back"
expect 1 "$restride" transpose a --shape 2000x2500 --dtype f32 --journal j
says err 'belongs to a finished "transpose --shape 2500x2000 .*" of this file; delete it, or name another'
cat large >a
expect 1 "$restride" transpose a --shape 2500x2000 --dtype f32 --journal j
says err "is finished, and a has changed since; delete the journal to make the change once more"
rm j
if [ -e /dev/full ]; then
    status=0
    "$restride" transpose a --shape 2500x2000 --dtype f32 --journal j >/dev/full 2>err || status=$?
    [ $status -eq 1 ] || complain "status $status when the report cannot be written"
    says err "The work is done, but its output could not be written: No space left on device"
    expect 0 "$restride" transpose a --shape 2500x2000 --dtype f32 --journal j
    says out "is already done"
fi
rm -f j

# interrupted FILE leaves it half done, with the journal j: some steps after the first are in the file.
interrupted() {
    for delay in 0.02 0.05 0.01 0.1 0 0.2 0.4; do
        rm -f j
        cat large >"$1"
        "$restride" file-status "$1" --forget >out 2>err
        "$restride" transpose "$1" --shape 2500x2000 --dtype f32 --memory 1M --journal j >out 2>err &
        pid=$!
        while cmp -s "$1" large && kill -0 $pid 2>/dev/null; do sleep 0.005; done
        sleep $delay
        kill -9 $pid 2>/dev/null
        wait $pid 2>/dev/null
        "$restride" file-status "$1" >out 2>err
        ! grep -qE 'half done by .* ([2-9]|[1-9][0-9]) %' out || return 0
    done
    complain "no run was interrupted half way"
    return 1
}

if interrupted a; then
    cat large >a
    expect 1 "$restride" transpose a --shape 2500x2000 --dtype f32 --journal j
    says err "is not as the interrupted change of the journal j has left it"
    cmp a large || complain "a stale journal was applied"
    rm j
    expect 0 "$restride" file-status a --json
    says out '"state": "lost"'
    expect 1 "$restride" transpose a --shape 2500x2000 --dtype f32
    expect 0 "$restride" file-status a --forget
    expect 0 "$restride" transpose a --shape 2500x2000 --dtype f32 --journal j
    rm j
fi

# ---- journals of others, and of another run ----
if interrupted a; then
    before=$(cksum <a)
    chmod g+w j
    expect 1 "$restride" transpose a --shape 2500x2000 --dtype f32 --journal j
    says err "belongs to another user, or others may write to it, so it is not trusted"
    chmod 600 j
    if [ "$(id -u)" -eq 0 ]; then
        chown 12345 j
        expect 1 "$restride" transpose a --shape 2500x2000 --dtype f32 --journal j
        says err "belongs to another user"
        chown 0 j
    fi
    ln -s j link
    expect 1 "$restride" transpose a --shape 2500x2000 --dtype f32 --journal link
    (
        flock 9
        expect 1 "$restride" transpose a --shape 2500x2000 --dtype f32 --journal j
        says err "is in use by another restride"
        exit "$failures"
    ) 9<>j || failures=$((failures + 1))
    [ "$(cksum <a)" = "$before" ] || complain "the file has changed"
    expect 0 "$restride" transpose a --shape 2500x2000 --dtype f32 --journal j
fi
rm -f j link

# Two runs at once with one name: one wins, the other says why, and nothing of either is lost.
for ((i = 0; i < 6; i++)); do
    cp large a
    cp large b
    "$restride" transpose a --shape 2500x2000 --dtype f32 --memory 4M --journal j >out 2>err &
    pid=$!
    "$restride" transpose b --shape 2000x2500 --dtype f32 --memory 4M --journal j >out2 2>err2 && second=0 || second=$?
    wait $pid && first=0 || first=$?
    [ $((first + second)) -eq 1 ] || complain "two runs with one journal ended with $first and $second"
    file=a
    [ $first -eq 1 ] || file=b
    cmp -s $file large || complain "the run that was refused has changed its file"
    rm -f j
done

# ---- a limit for the length of files ----
cp large a
(
    ulimit -f 1000
    exec "$restride" transpose a --shape 2500x2000 --dtype f32 --journal j >out 2>err
) && complain "a journal beyond the limit was made"
says err "The journal j needs [0-9]+ bytes, which its disk cannot give: File too large; nothing was changed"
cmp a large || complain "the file has changed"
[ -z "$(find . -name 'j*')" ] || complain "something of the journal is left"
(
    ulimit -f 0
    exec "$restride" show "i f" --dims "i:4 f:2" --svg picture.svg >out 2>err
)
[ -z "$(find . -name 'picture*')" ] || complain "something of the picture is left"

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
