#!/usr/bin/env bash
# transpose.sh RESTRIDE: arrays in files, what becomes of them, and what is refused without a change.
restride=$1
source "$(dirname "$0")/expect.sh"
cd "$work" || exit 1

# raw FILE COUNT writes the bytes 0, 1, 2 ... of an array.
raw() {
    local i
    for ((i = 0; i < $2; i++)); do
        printf "\\x$(printf %02x $((i % 256)))"
    done >"$1"
}

bytes_are() {
    [ "$(od -An -v -tu1 "$1" | tr -s ' \n' ' ' | sed 's/^ //; s/ $//')" = "$2" ] || complain "$1 holds other bytes than $2"
}

# npy FILE DICTIONARY COUNT writes a .npy file of version 1.0 with COUNT bytes of data.
npy() {
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "$2" >"$1"
    raw data "$3"
    cat data >>"$1"
}

# refuses STATUS PATTERN FILE ARGUMENTS... expects a sentence and an unchanged file.
refuses() {
    local status=$1 pattern=$2 file=$3 before
    before=$(cksum <"$file")
    shift 3
    expect "$status" "$restride" transpose "$file" "$@"
    says err "$pattern"
    [ "$(wc -l <err)" -eq 1 ] || complain "more than one line"
    [ "$(cksum <"$file")" = "$before" ] || complain "$file has changed"
}

# ---- raw files ----
raw a 6
expect 0 "$restride" transpose a --shape 2x3 --dtype u8
bytes_are a "0 3 1 4 2 5"
says out "^a: 2 x 3 is now 3 x 2"
raw a 12
expect 0 "$restride" transpose a --shape 2x3 --dtype i16
bytes_are a "0 1 6 7 2 3 8 9 4 5 10 11"
raw a 24
expect 0 "$restride" transpose a --shape 2x3x4 --dtype 1 --axes 1,0,2
bytes_are a "0 1 2 3 12 13 14 15 4 5 6 7 16 17 18 19 8 9 10 11 20 21 22 23"
raw a 12
expect 0 "$restride" transpose a --shape 2x4 --dtype u8 --offset 3
bytes_are a "0 1 2 3 7 4 8 5 9 6 10 11"

# ---- .npy ----
npy a.npy "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }" 6
expect 0 "$restride" transpose a.npy
tail -c 6 a.npy >b
bytes_are b "0 3 1 4 2 5"
head -c 128 a.npy | grep -q "'fortran_order': False, 'shape': (3, 2), }" || complain "the header was not rewritten"
expect 0 "$restride" transpose a.npy
npy c.npy "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }" 6
cmp -s a.npy c.npy || complain "twice is not the same again"
npy a.npy "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }" 6
expect 0 "$restride" transpose a.npy
npy c.npy "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 2), }" 6
cmp -s a.npy c.npy || complain "Fortran order is not the transposed C order"

# ---- explained ----
raw a 6
before=$(cksum <a)
expect 0 "$restride" transpose a --shape 2x3 --dtype u8 --explain
says out "^a: 2 x 3 becomes 3 x 2, 6 bytes in place"
says out "^scratch: [0-9]+ bytes"
says out "^  1\. "
expect 0 "$restride" transpose a --shape 2x3 --dtype u8 --explain --json
says out '"changed": false'
[ "$(cksum <a)" = "$before" ] || complain "--explain has changed the file"
expect 0 "$restride" transpose a --shape 2x3 --dtype u8 --json --threads 1 --memory 1M --engine host
says out '"changed": true'
says out '"gbps"'
[ ! -s err ] || complain "a progress bar in a pipe"

# ---- usage ----

refuses 2 "shape takes extents" a --shape 2y3 --dtype u8
refuses 2 "shape takes extents" a --shape 2x --dtype u8
refuses 2 "is empty" a --shape 0x3 --dtype u8
refuses 2 "shape needs --dtype" a --shape 2x3
refuses 2 "give --shape" a --dtype u8
refuses 2 "dtype takes" a --shape 2x3 --dtype 0
refuses 2 "dtype takes" a --shape 2x3 --dtype float
refuses 2 "offset takes" a --shape 2x3 --dtype u8 --offset 1X
refuses 2 "threads takes" a --shape 2x3 --dtype u8 --threads 0
refuses 2 "memory takes" a --shape 2x3 --dtype u8 --memory 0
refuses 2 "engine takes" a --shape 2x3 --dtype u8 --engine cuda
refuses 2 "axes takes each of the 2 axes" a --shape 2x3 --dtype u8 --axes 0,0
refuses 2 "axes takes each of the 2 axes" a --shape 2x3 --dtype u8 --axes 0
refuses 2 "axes takes each of the 2 axes" a --shape 2x3 --dtype u8 --axes 0,2
refuses 2 "axes takes each of the 2 axes" a --shape 2x3 --dtype u8 --axes 0,x
expect 2 "$restride" transpose
expect 2 "$restride" transpose a b --shape 2x3 --dtype u8
says err "takes one file, and 2 were given"

# ---- files that are refused ----
refuses 1 "has 6 bytes, and the array would take only 4" a --shape 2x2 --dtype u8
refuses 1 "has 6 bytes, and the array would take 8 from byte 0" a --shape 2x4 --dtype u8
refuses 1 "would take 6 from byte 1" a --shape 2x3 --dtype u8 --offset 1
refuses 1 "would take 6 from byte 18446744073709551615" a --shape 2x3 --dtype u8 --offset 18446744073709551615
refuses 1 "more bytes than a size can hold" a --shape 4294967296x4294967296 --dtype u8
refuses 1 "does not begin like a .npy file" a
npy o.npy "{'descr': '|O', 'fortran_order': False, 'shape': (2, 3), }" 48
refuses 1 "holds Python objects" o.npy
npy s.npy "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }" 47
refuses 1 "shorter than its header says" s.npy
npy z.npy "{'descr': '<f8', 'fortran_order': False, 'shape': (), }" 8
refuses 1 "single value without axes" z.npy
npy e.npy "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3), }" 0
refuses 1 "is empty" e.npy
npy v.npy "{'descr': '|V0', 'fortran_order': False, 'shape': (2, 3), }" 0
refuses 1 "have no bytes" v.npy
npy l.npy "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }" 8
refuses 1 "more bytes than a size holds" l.npy
npy x.npy "{'descr': '<f8', 'fortran_order': False, 'shape': (18446744073709551617, 1), }" 8
refuses 1 "cannot be understood at its character 72" x.npy
printf 'PK\003\004rest of an archive' >n.npz
refuses 1 "is a .npz archive" n.npz
printf '\x93NUMPY\x01\x00\xff\xff{}' >h.npy
refuses 1 "header has 65545 bytes, but the whole file has" h.npy
: >empty.npy
refuses 1 "does not begin like" empty.npy
expect 1 "$restride" transpose missing.npy
says err "missing.npy could not be opened.*No such file"
mkdir folder
expect 1 "$restride" transpose folder
says err "folder"
mkfifo pipe
expect 1 "$restride" transpose pipe
says err "pipe is not a regular file"
expect 1 "$restride" transpose /dev/null
says err "/dev/null is not a regular file"

# Without the right to write, where the one who tests is not root or can become somebody else.
chmod 444 a
chmod 755 .
if [ "$(id -u)" -ne 0 ]; then
    refuses 1 "could not be opened for changing it in place: Permission denied" a --shape 2x3 --dtype u8
elif setpriv --reuid=65534 --clear-groups "$restride" --version >/dev/null 2>&1; then
    before=$(cksum <a)
    expect 1 setpriv --reuid=65534 --clear-groups "$restride" transpose "$PWD/a" --shape 2x3 --dtype u8
    says err "could not be opened for changing it in place: Permission denied"
    [ "$(cksum <a)" = "$before" ] || complain "a read-only file has changed"
fi

# Output that cannot be written; the file says so itself, because it has changed.
if [ -w /dev/full ]; then
    chmod 644 a
    expect 1 sh -c "'$restride' transpose a --shape 2x3 --dtype u8 --json >/dev/full"
    says err "The report could not be written: No space left on device"
    says err "a is 3 x 2 all the same"
    expect 1 sh -c "'$restride' transpose a --shape 3x2 --dtype u8 >/dev/full"
    says err "The work is done, but its output could not be written: No space left on device"
fi

# Streams that are closed: the file must not get their numbers, and then what is printed.
chmod 644 a
for closed in '>&-' '2>&-' '<&- >&- 2>&-' '<&- 2>&-'; do
    for options in '' --json '--json --journal log'; do
        printf 123456 >a
        sh -c "'$restride' transpose a --shape 2x3 --dtype u8 $options $closed" >"$work/out" 2>"$work/err"
        [ "$(cat a)" = 142536 ] || complain "a has other bytes after transpose $options $closed: $(cat a)"
        rm -f log
    done
done

# A file that another run has locked.
if command -v flock >/dev/null; then
    chmod 644 a
    before=$(cksum <a)
    expect 1 flock a "$restride" transpose a --shape 2x3 --dtype u8
    says err "in use by another restride"
    [ "$(cksum <a)" = "$before" ] || complain "a locked file has changed"
fi
finish
