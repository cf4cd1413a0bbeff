/*
 * The team and the barrier of src/engine/host/team.c, for spin: up to THREADS threads, some of which
 * may fail to start, meet ROUNDS times. Nobody leaves a barrier before all have come, and everybody
 * leaves it. With SPURIOUS, waiting on a condition may end without a reason, as POSIX allows; then
 * a thread that nobody wakes goes unnoticed, so the model runs with it and without.
 *
 * Wrong variants:
 *   WAIT_ONCE    the condition is not looked at again after waiting (fails with SPURIOUS)
 *   NO_ROUND     a thread waits until nobody is waiting, not until the round is over
 *   WAKE_ONE     the last to come wakes one thread and not all
 *   EARLY_COUNT  a thread starts to work before it is known how many there are
 */
#ifndef THREADS
#define THREADS 3
#endif
#ifndef ROUNDS
#define ROUNDS 3
#endif

bool locked;
bool asleep[THREADS]; /* waiting for `changed` */
byte count, waiting, round; /* the team's */
byte come[ROUNDS];          /* threads that have come to each barrier */
byte finished;

inline lock()
{
    atomic { !locked -> locked = true }
}

inline unlock()
{
    locked = false
}

inline wait_for_change(me)
{
    atomic { asleep[me] = true; locked = false };
    if
    :: !asleep[me]
#ifdef SPURIOUS
    :: asleep[me] = false
#endif
    fi;
    lock()
}

inline wake(me)
{
    atomic {
        other = 0;
        do
        :: other < THREADS ->
            if
            :: asleep[other] ->
                asleep[other] = false;
#ifdef WAKE_ONE
                break
#endif
            :: else
            fi;
            other++
        :: else -> break
        od
    }
}

inline barrier(me)
{
    lock();
    my_round = round;
    waiting++;
    if
    :: waiting == count -> waiting = 0; round++; wake(me)
    :: else
    fi;
#ifdef WAIT_ONCE
    if
    :: round == my_round -> wait_for_change(me)
    :: else
    fi;
#else
    do
#ifdef NO_ROUND
    :: waiting != 0 -> wait_for_change(me)
#else
    :: round == my_round -> wait_for_change(me)
#endif
    :: else -> break
    od;
#endif
    unlock()
}

inline work(me)
{
    members = count;
    step = 0;
    do
    :: members > 1 && step < ROUNDS ->
        come[step]++;
        barrier(me);
        assert(come[step] == members);
        step++
    :: else -> break
    od
}

proctype thread(byte me)
{
    byte my_round, members, step, other;
#ifndef EARLY_COUNT
    lock();
    do
    :: count == 0 -> wait_for_change(me)
    :: else -> break
    od;
    unlock();
#endif
    assert(count != 0);
    work(me);
    finished++
}

init {
    byte my_round, members, step, other, started;
    started = 1;
    do
    :: started < THREADS -> run thread(started); started++
    :: break /* a thread could not be started, or there are enough */
    od;
    lock();
    count = started;
    wake(0);
    unlock();
    work(0);
    finished == started - 1
}
