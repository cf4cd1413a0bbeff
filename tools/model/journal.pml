/*
 * The protocol of src/file/journal.h, for spin: a change of STEPS steps, each of one page of the
 * file, with kills and losses of power at any moment and in any order. tools/model_check.sh runs
 * it, and its wrong variants.
 *
 * Everything that is written is in memory at once and on the disk later, on its own at any time or
 * when it is synchronised; a loss of power leaves what is on the disk. A record is written in two
 * parts and is whole when both are there. File and journal may not be read in between.
 *
 * Wrong variants:
 *   NOT_AGAIN      who resumes trusts a record that may be whole in memory alone
 *   NAME_FIRST     the journal gets its name before its first record is on the disk
 *   NO_MARK_FIRST  the file is written to before its mark is on the disk
 *   END_LATER      the journal gives its space back before its end is on the disk
 *   ONE_SLOT       all records go to one slot
 */
#ifndef STEPS
#define STEPS 2
#endif
#ifndef TROUBLES
#define TROUBLES 4
#endif
#ifdef ONE_SLOT
#define SLOT(n) 0
#else
#define SLOT(n) ((n) % 2)
#endif

/* Index 0: in memory; 1: on the disk. */
typedef place {
    byte first[2];  /* of each slot: the number of the record's first half */
    byte second[2];
    bit name, mark, end, short_one;
    byte page[STEPS]; /* 0: as it was, 1: as it will be */
}
place memory, disk;

byte troubles;
bit died;

/* Something reaches the disk by itself. */
inline write_back()
{
    if
    :: disk.first[0] = memory.first[0]
    :: disk.first[1] = memory.first[1]
    :: disk.second[0] = memory.second[0]
    :: disk.second[1] = memory.second[1]
    :: disk.name = memory.name
    :: disk.mark = memory.mark
    :: disk.end = memory.end
    :: disk.short_one = memory.short_one
    :: disk.page[0] = memory.page[0]
#if STEPS > 1
    :: disk.page[1] = memory.page[1]
#endif
#if STEPS > 2
    :: disk.page[2] = memory.page[2]
#endif
    fi
}

/* Between any two calls: more may reach the disk, or the run may end. */
inline breathe()
{
    do
    :: memory.first[0] != disk.first[0] || memory.first[1] != disk.first[1] ||
       memory.second[0] != disk.second[0] || memory.second[1] != disk.second[1] ||
       memory.name != disk.name || memory.mark != disk.mark || memory.end != disk.end ||
       memory.short_one != disk.short_one || memory.page[0] != disk.page[0] ||
       memory.page[STEPS - 1] != disk.page[STEPS - 1] -> atomic { write_back() }
    :: troubles < TROUBLES -> troubles++; died = 1; break
    :: break
    od
}

inline sync_journal()
{
    atomic {
        disk.first[0] = memory.first[0]; disk.first[1] = memory.first[1];
        disk.second[0] = memory.second[0]; disk.second[1] = memory.second[1];
        disk.end = memory.end; disk.short_one = memory.short_one
    }
}

inline sync_pages()
{
    atomic {
        j = 0;
        do
        :: j < STEPS -> disk.page[j] = memory.page[j]; j++
        :: else -> break
        od
    }
}

/* A call, unless the run has ended. */
#define CALL(what) if :: !died -> what; breathe() :: else fi

inline write_record(n)
{
    CALL(memory.first[SLOT(n)] = n);
    CALL(memory.second[SLOT(n)] = n);
    CALL(sync_journal())
}

/* The mark, and what of the journal's name is on the disk, before the file is touched. */
inline place_journal()
{
    CALL(memory.name = 1);
    CALL(disk.name = memory.name)
}

inline set_mark()
{
    CALL(memory.mark = 1);
    CALL(disk.mark = memory.mark)
}

inline apply(n)
{
    CALL(memory.page[(n) - 1] = 1);
    CALL(sync_pages())
}

#define WHOLE(slot) (memory.first[slot] == memory.second[slot] && memory.short_one == 0)

inline find_latest()
{
    atomic {
        latest = 0;
        if
        :: WHOLE(0) && memory.first[0] > latest -> latest = memory.first[0]
        :: else
        fi;
        if
        :: WHOLE(1) && memory.first[1] > latest -> latest = memory.first[1]
        :: else
        fi
    }
}

/* The file outside the page of the latest step is as that step found it: the sum of its content. */
inline check_content()
{
    atomic {
        j = 0;
        do
        :: j < STEPS ->
            assert(j + 1 == latest || memory.page[j] == (j + 1 < latest));
            j++
        :: else -> break
        od
    }
}

proctype changes()
{
    byte latest, j;
    do
    :: atomic {
        died = 0;
        if
        :: memory.name == 0 -> /* nothing is known: a run from the beginning, if it may begin */
            assert(memory.mark == 0);
            j = 0;
            do
            :: j < STEPS -> assert(memory.page[j] == 0); j++
            :: else -> break
            od;
            memory.first[0] = 0; memory.first[1] = 0; memory.second[0] = 0; memory.second[1] = 0;
            disk.first[0] = 0; disk.first[1] = 0; disk.second[0] = 0; disk.second[1] = 0;
            latest = 0
        :: memory.name == 1 && memory.end == 0 ->
            assert(memory.short_one == 0)
        :: else
        fi
       };
        if
        :: memory.name == 0 ->
#ifdef NAME_FIRST
            place_journal();
#endif
            write_record(1);
#ifndef NAME_FIRST
            place_journal();
#endif
            latest = 1;
#ifndef NO_MARK_FIRST
            set_mark();
#endif
            apply(1);
#ifdef NO_MARK_FIRST
            set_mark()
#endif
        :: memory.name == 1 && memory.end == 0 ->
            find_latest();
            assert(latest > 0); /* damaged otherwise */
            check_content();
#ifndef NOT_AGAIN
            write_record(latest);
            CALL(disk.name = memory.name);
            set_mark();
#endif
            apply(latest)
        :: else -> latest = STEPS
        fi;
        do
        :: !died && latest < STEPS ->
            latest++;
            write_record(latest);
            apply(latest)
        :: else -> break
        od;
        CALL(memory.mark = 0);
        CALL(disk.mark = memory.mark);
        CALL(memory.end = 1);
#ifndef END_LATER
        CALL(sync_journal());
#endif
        CALL(memory.short_one = 1);
        if
        :: !died ->
            atomic {
                j = 0;
                do
                :: j < STEPS -> assert(disk.page[j] == 1); j++
                :: else -> break
                od
            }
            if
            :: troubles < TROUBLES -> troubles++ /* once more, or after a loss of power */
            :: break
            fi
        :: else
        fi;
        /* Killed: memory stays. Or power is lost. */
        atomic {
            if
            :: true
            :: memory.first[0] = disk.first[0]; memory.first[1] = disk.first[1];
               memory.second[0] = disk.second[0]; memory.second[1] = disk.second[1];
               memory.name = disk.name; memory.mark = disk.mark; memory.end = disk.end;
               memory.short_one = disk.short_one;
               j = 0;
               do
               :: j < STEPS -> memory.page[j] = disk.page[j]; j++
               :: else -> break
               od
            fi;
            /* A file that is neither what it was nor what it will be has its mark. */
            j = 1;
            do
            :: j < STEPS ->
                assert(memory.page[j] == memory.page[0] || memory.mark == 1);
                j++
            :: else -> break
            od
        }
    od
}

init { run changes() }
