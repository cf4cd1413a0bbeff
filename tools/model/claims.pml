/*
 * The claim protocol of src/engine/host/claims.h, for spin: WORKERS threads transpose ROWS x COLS
 * elements of WORDS words in place. tools/model_check.sh runs it, and its wrong variants.
 *
 * Memory is that of C11's relaxed accesses and fences, as views: every location is stored to at most
 * once, so a thread knows, or does not know yet, of the store to it, and may read the old content
 * as long as it does not know. A store carries what its thread knew at its last release fence; an
 * acquire fence makes known what came with the stores read so far. A read-modify-write always sees
 * the last store. (What is left out: a load that takes effect after a later store of its thread.)
 *
 * Wrong variants:
 *   PUBLISHED         the flag of the start is looked at before the element is read
 *   NO_CONFIRM        the flag of the start is not looked at
 *   NO_ACQUIRE        without the fence between reading the start and looking at its flag
 *   NO_RELEASE        without the fence between the claim and the store
 *   LOAD_STORE_CLAIM  the claim is a load and a store
 *   STORE_FIRST       the element is stored before its position is claimed
 */
#ifndef ROWS
#define ROWS 2
#endif
#ifndef COLS
#define COLS 3
#endif
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef WORDS
#define WORDS 1
#endif
#define TOTAL (ROWS * COLS)
#define DESTINATION(p) (((p) % COLS) * ROWS + (p) / COLS)

/* Locations: the words of the elements, then the flags. */
#define WORD(p, w) ((p) * WORDS + (w))
#define FLAG(p) (TOTAL * WORDS + (p))
#define BIT(location) (1 << (location))

int stored;                  /* the locations that have been stored to */
int carried[TOTAL * (WORDS + 1)]; /* by the store to each location */
byte content[TOTAL * WORDS]; /* from which position the stored word came */
byte next_start;
byte finished;

/* Whether the thread reads the store to a location; it must if it knows of it. */
inline see(location, seen)
{
    if
    :: (stored & BIT(location)) == 0 -> seen = false
    :: (stored & BIT(location)) != 0 -> seen = true
    :: (stored & BIT(location)) != 0 && (known & BIT(location)) == 0 -> seen = false
    fi;
    if
    :: seen -> known = known | BIT(location); arriving = arriving | carried[location]
    :: else
    fi
}

inline store(location)
{
    stored = stored | BIT(location);
    carried[location] = released | BIT(location);
    known = known | BIT(location)
}

/* What a thread holds, and what it takes up when it stores that. */
#define HELD 0
#define FOLLOWING WORDS

inline load_element(position, target)
{
    word = 0;
    do
    :: word < WORDS ->
        atomic {
            see(WORD(position, word), seen);
            if
            :: seen -> element[target + word] = content[WORD(position, word)]
            :: else -> element[target + word] = position
            fi;
            word++
        }
    :: else -> break
    od
}

inline store_element(position, source)
{
    word = 0;
    do
    :: word < WORDS ->
        atomic {
            assert((stored & BIT(WORD(position, word))) == 0); /* nothing is stored twice */
            assert(DESTINATION(element[source + word]) == position);     /* nor at a wrong place */
            content[WORD(position, word)] = element[source + word];
            store(WORD(position, word));
            word++
        }
    :: else -> break
    od
}

inline look(position)
{
    atomic { see(FLAG(position), claimed) }
}

inline claim(position)
{
#ifdef LOAD_STORE_CLAIM
    look(position);
    if
    :: !claimed -> atomic { store(FLAG(position)) }
    :: else
    fi
#else
    atomic {
        claimed = (stored & BIT(FLAG(position))) != 0;
        if
        :: claimed ->
            known = known | BIT(FLAG(position));
            arriving = arriving | carried[FLAG(position)]
        :: else -> store(FLAG(position))
        fi
    }
#endif
}

proctype worker()
{
    int known, arriving, released; /* sets of locations */
    byte element[2 * WORDS];
    byte start, position, word;
    bool seen, claimed;
    do
    :: atomic { next_start < TOTAL -> start = next_start; next_start++ }
        position = DESTINATION(start);
        claimed = position == start;
#ifdef PUBLISHED
        if
        :: !claimed -> look(start)
        :: else
        fi
#endif
        if
        :: !claimed ->
            load_element(start, HELD);
#ifndef NO_ACQUIRE
            atomic { known = known | arriving };
#endif
#if !defined(PUBLISHED) && !defined(NO_CONFIRM)
            look(start)
#endif
        :: else
        fi;
        do
        :: claimed -> break
        :: else ->
#ifdef STORE_FIRST
            load_element(position, FOLLOWING);
            store_element(position, HELD);
            claim(position);
#else
            claim(position);
            if
            :: claimed -> break
            :: else
            fi;
#ifndef NO_RELEASE
            atomic { released = known };
#endif
            load_element(position, FOLLOWING);
            store_element(position, HELD);
#endif
            atomic {
                word = 0;
                do
                :: word < WORDS -> element[HELD + word] = element[FOLLOWING + word]; word++
                :: else -> break
                od;
                position = DESTINATION(position)
            }
        od
    :: atomic { next_start >= TOTAL -> break }
    od;
    finished++
}

init {
    byte i;
    atomic {
        i = 0;
        do
        :: i < WORKERS -> run worker(); i++
        :: else -> break
        od
    };
    finished == WORKERS;
    /* Nothing is lost: every position that is not fixed has been stored to. */
    i = 0;
    do
    :: i < TOTAL * WORDS ->
        assert(DESTINATION(i / WORDS) == i / WORDS || (stored & BIT(i)) != 0);
        i++
    :: else -> break
    od
}
