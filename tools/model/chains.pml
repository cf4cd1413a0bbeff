/*
 * The planned chains of src/engine/host/cycle.h and chains.c, for spin: every chain, and every cycle
 * without a start, is a process of its own, which is more freedom than the lanes of threads have.
 * Which positions of a cycle start a chain is of no account; here it is the multiples of STRIDE, and
 * cycles without one stay whole. A chain saves its start, waits for all others at the barrier, and
 * moves. After the barrier no position is touched by two processes, so the order in which memory
 * shows stores cannot matter.
 *
 * Wrong variants:
 *   NO_BARRIER  chains move before all starts are saved
 *   NOT_SAVED   a chain takes its last element from its place and not from what was saved
 *   NO_LEADERS  cycles without a start are forgotten
 */
#ifndef ROWS
#define ROWS 2
#endif
#ifndef COLS
#define COLS 5
#endif
#ifndef STRIDE
#define STRIDE 2
#endif
#define TOTAL (ROWS * COLS)
#define SOURCE(p) (((p) % ROWS) * COLS + (p) / ROWS)
#define STARTS(p) ((p) % STRIDE == 0 && (p) > 0 && (p) < TOTAL - 1)
#define NOBODY 255

byte content[TOTAL]; /* from which position it came */
byte saved[TOTAL];
byte owner[TOTAL]; /* the process that touches a position after the barrier */
byte chains, arrived, running;

inline touch(position)
{
    assert(owner[position] == NOBODY || owner[position] == _pid);
    owner[position] = _pid
}

proctype chain(byte start)
{
    byte target, source;
    atomic { saved[start] = content[start]; arrived++ };
#ifndef NO_BARRIER
    arrived == chains;
#endif
    target = start;
    source = SOURCE(target);
    do
    :: !STARTS(source) ->
        atomic { touch(source); touch(target); content[target] = content[source] };
        target = source;
        source = SOURCE(target)
    :: else -> break
    od;
#ifdef NOT_SAVED
    atomic { content[target] = content[source] };
#else
    atomic { touch(target); content[target] = saved[source] };
#endif
    running--
}

proctype cycle(byte leader)
{
    byte target, source, kept;
    atomic { touch(leader); kept = content[leader] };
    target = leader;
    source = SOURCE(target);
    do
    :: source != leader ->
        atomic { touch(source); touch(target); content[target] = content[source] };
        target = source;
        source = SOURCE(target)
    :: else -> break
    od;
    atomic { touch(target); content[target] = kept };
    running--
}

/* The smallest position of a cycle stands for it; no_start is cleared when the cycle has a start. */
inline inspect(position)
{
    no_start = !STARTS(position) && SOURCE(position) != position;
    walk = SOURCE(position);
    do
    :: walk != position ->
        no_start = no_start && !STARTS(walk) && walk > position;
        walk = SOURCE(walk)
    :: else -> break
    od
}

init {
    byte i, walk;
    bool no_start;
    d_step {
        i = 0;
        do
        :: i < TOTAL ->
            content[i] = i;
            owner[i] = NOBODY;
            chains = chains + STARTS(i);
            i++
        :: else -> break
        od
    };
    atomic {
        i = 0;
        do
        :: i < TOTAL ->
            if
            :: STARTS(i) -> running++; run chain(i)
            :: else ->
                inspect(i);
                if
#ifndef NO_LEADERS
                :: no_start -> running++; run cycle(i)
#endif
                :: else
                fi
            fi;
            i++
        :: else -> break
        od
    };
    running == 0;
    i = 0;
    do
    :: i < TOTAL -> assert(content[i] == SOURCE(i)); i++
    :: else -> break
    od
}
