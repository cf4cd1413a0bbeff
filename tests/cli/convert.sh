#!/usr/bin/env bash
# convert.sh RESTRIDE: arrays of structures in files, converted there and back, and what is refused without a change.
restride=$1
source "$(dirname "$0")/expect.sh"
cd "$work" || exit 1

bytes_are() {
    [ "$(od -An -v -tu1 "$1" | tr -s ' \n' ' ' | sed 's/^ //; s/ $//')" = "$2" ] || complain "$1 holds other bytes than $2"
}

# refuses STATUS PATTERN FILE ARGUMENTS... expects a sentence and an unchanged file.
refuses() {
    local status=$1 pattern=$2 file=$3 before
    before=$(cksum <"$file")
    shift 3
    expect "$status" "$restride" convert "$file" "$@"
    says err "$pattern"
    [ "$(wc -l <err)" -eq 1 ] || complain "more than one line"
    [ "$(cksum <"$file")" = "$before" ] || complain "$file has changed"
}

record='f{ char x; char y; }'
printf '\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09' >five
cp five a
expect 0 "$restride" convert a --dims "i:5 $record" --from 'i f' --to 'i/2 f i%2'
bytes_are a "0 2 1 3 4 6 5 7 8 9"
says out "^a: i f is now i/2 f i%2"
expect 0 "$restride" convert a --dims "i:5 $record" --from 'i/2 f i%2' --to 'i f'
cmp a five || complain "there and back is not the same"
(printf 'head'; cat five; printf 'tail') >a
expect 0 "$restride" convert a --dims "i:5 $record" --from 'i f' --to 'i/2 f i%2' --offset 4
tail -c +5 a | head -c 10 >b
bytes_are b "0 2 1 3 4 6 5 7 8 9"
[ "$(head -c 4 a)$(tail -c 4 a)" = headtail ] || complain "bytes around the array have changed"

# ---- any two layouts, members of any sizes, elements without a structure ----
cp five a
expect 0 "$restride" convert a --dims "i:5 $record" --from 'i f' --to 'f i'
bytes_are a "0 2 4 6 8 1 3 5 7 9"
expect 0 "$restride" convert a --dims "i:5 $record" --from 'f i' --to 'i/2 f i%2'
bytes_are a "0 2 1 3 4 6 5 7 8 9"
head -c 12 <(printf '\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b') >c
mixed='f{ short x; char y; char z; }'
expect 0 "$restride" convert c --dims "i:3 $mixed" --from 'i f' --to 'f i'
bytes_are c "0 1 4 5 8 9 2 6 10 3 7 11"
expect 0 "$restride" convert c --dims "y:2 x:3" --dtype 2 --from 'y x' --to 'x y'
bytes_are c "0 1 2 6 4 5 10 3 8 9 7 11"
expect 0 "$restride" convert c --dims "y:2 x:3 short" --from 'x y' --to 'y x'
bytes_are c "0 1 4 5 8 9 2 6 10 3 7 11"
expect 0 "$restride" convert c --dims "y:2 x:3 char[2]" --from 'y x' --to 'x y'
head -c 1200000 /dev/urandom >large
cp large wanted
dims='i:60000 f{ float x[3]; short k; short l; float m; }'
expect 0 "$restride" convert large --dims "$dims" --from 'i f' --to 'f i'
cmp -s large wanted && complain "nothing was converted"
expect 0 "$restride" convert large --dims "$dims" --from 'f i' --to 'i/32 f i%32' --threads 1
expect 0 "$restride" convert large --dims "$dims" --from 'i/32 f i%32' --to 'i f'
cmp large wanted || complain "around three layouts is not the same"
expect 0 "$restride" convert large --dims "i:60000 f:5" --dtype f32 --from 'i f' --to 'f i' --journal j
expect 0 "$restride" convert large --dims "i:60000 f:5" --dtype f32 --from 'f i' --to 'i f'
cmp large wanted || complain "with a journal it is not the same"
[ "$(stat -c %s j)" -le 8192 ] || complain "the journal is still as long as it was"

# ---- .npy with structures: the header stays ----
printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': [('x', '|u1'), ('y', '|u1')], 'fortran_order': False, 'shape': (5,), }" >a.npy
cat five >>a.npy
cp a.npy wanted.npy
expect 0 "$restride" convert a.npy --from 'i f' --to 'i/2 f i%2'
says out "header still describes"
tail -c 10 a.npy >b
bytes_are b "0 2 1 3 4 6 5 7 8 9"
expect 0 "$restride" convert a.npy --from 'i/2 f i%2' --to 'i f' --json
says out '"changed": true'
cmp a.npy wanted.npy || complain "there and back is not the same"

# ---- explained ----
cp five a
before=$(cksum <a)
expect 0 "$restride" convert a --dims "i:5 $record" --from 'i f' --to 'i/2 f i%2' --explain
says out "^a: i f becomes i/2 f i%2, 10 bytes in place"
says out "^  1\. "
[ "$(cksum <a)" = "$before" ] || complain "--explain has changed the file"

# ---- refused ----
refuses 2 "needs --from and --to" a --dims "i:5 $record" --from 'i f'
refuses 2 "give --dims too" a --from 'i f' --to 'f i' --offset 4
refuses 2 "memory takes" a --dims "i:5 $record" --from 'i f' --to 'f i' --memory lots
expect 2 "$restride" convert --from 'i f' --to 'f i'
says err "takes one file, and 0 were given"
refuses 1 "has 10 bytes, and the array would take 12" a --dims "i:6 $record" --from 'i f' --to 'i/2 f i%2'
refuses 1 "would take only 8" a --dims "i:4 $record" --from 'i f' --to 'i/2 f i%2'
refuses 1 "would take 10 from byte 1" a --dims "i:5 $record" --from 'i f' --to 'i/2 f i%2' --offset 1
refuses 1 "dtype must say" a --dims "y:2 x:5" --from 'y x' --to 'x y'
refuses 1 "have 2 bytes, not 8" a --dims "y:5 x:1 short" --dtype f64 --from 'y x' --to 'x y'
refuses 2 "dtype takes" a --dims "y:2 x:5" --dtype 0 --from 'y x' --to 'x y'
refuses 1 "is empty; there is nothing to convert" a --dims "i:0 $record" --from 'i f' --to 'f i'
refuses 1 "is empty; there is nothing to convert" a --dims "y:0 x:5" --dtype 2 --from 'y x' --to 'x y'
refuses 1 "does not fit into 64 bits" a --dims "y:4294967296 x:4294967296" --dtype 4 --from 'y x' --to 'x y'
refuses 1 "more bytes than 64 bits can count" a --dims "y:4294967296 x:4294967295" --dtype 4 --from 'y x' --to 'x y'
refuses 1 "because of padding" a --dims "i:5 $record" --from 'i f' --to 'i/2:pad f i%2'
refuses 1 "" a --dims "i:5 $record" --from 'i f' --to 'i k'
refuses 1 "" a --dims "i:5 f{ char" --from 'i f' --to 'f i'
refuses 1 "does not begin like a .npy file" a --from 'i f' --to 'f i'
printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (5,), }" >p.npy
head -c 20 /dev/urandom >>p.npy
refuses 1 "are no structures" p.npy --from 'i f' --to 'f i'

# structured DESCRIPTION SHAPE COUNT writes s.npy, whose elements are structures, with COUNT bytes of data.
structured() {
    printf '\x93NUMPY\x01\x00\x76\x00%-117s\n' "{'descr': [$1], 'fortran_order': False, 'shape': $2, }" >s.npy
    head -c "$3" /dev/zero >>s.npy
}
structured "('a', '|O'), ('b', '<f4')" "(2,)" 24
refuses 1 "holds Python objects" s.npy --from 'i f' --to 'f i'
structured "('a', '<f4'), ('b', '<f4')" "(3,)" 20
refuses 1 "shorter than its header says" s.npy --from 'i f' --to 'f i'
structured "('a', '<f4'), ('b', '<f4')" "(0,)" 0
refuses 1 "is empty" s.npy --from 'i f' --to 'f i'
structured "('a', '|V0')" "(4,)" 0
refuses 1 "have no bytes" s.npy --from 'i f' --to 'f i'
structured "('a', '<f4', (2147483648, 2147483648))" "(4,)" 16
refuses 1 "more bytes than a size holds" s.npy --from 'i f' --to 'f i'
structured "('a', '|V1', (99999999,)), ('b', '|u1')" "(4,)" 16
refuses 1 "shorter than its header says" s.npy --from 'i f' --to 'f i'
printf 'PK\003\004rest of an archive' >n.npz
refuses 1 "is a .npz archive" n.npz --from 'i f' --to 'f i'
chmod 444 a
chmod 755 .
if [ "$(id -u)" -ne 0 ]; then
    refuses 1 "Permission denied" a --dims "i:5 $record" --from 'i f' --to 'f i'
elif setpriv --reuid=65534 --clear-groups "$restride" --version >/dev/null 2>&1; then
    before=$(cksum <a)
    expect 1 setpriv --reuid=65534 --clear-groups "$restride" convert "$PWD/a" --dims "i:5 $record" --from 'i f' --to 'f i'
    says err "could not be opened for changing it in place: Permission denied"
    [ "$(cksum <a)" = "$before" ] || complain "a read-only file has changed"
fi
finish
