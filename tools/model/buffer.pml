/*
 * One buffer of the layer, for spin: the table of states of src/layer/core/buffer.c and the order of
 * commands of coherence.c. A program enqueues OPERATIONS uses, each on one of two queues (0 in order,
 * 1 in any order) and in one of LAYOUTS layouts (0 is the program's own), and the device runs
 * commands whenever their queues and wait lists allow it, several at a time.
 * tools/model_check.sh runs it, and its wrong variants.
 *
 * Right: a use finds the buffer in its layout, and no conversion runs beside a use or another one.
 *
 * Wrong variants:
 *   NO_READY      commands do not wait for the last conversion of another queue
 *   NO_USERS      conversions do not wait for the uses of other queues
 *   ALL_IN_ORDER  the second queue is taken for one in order
 *   NO_RESTORE   the table lets a buffer go from one layout to another without a conversion back
 *   NOT_NOTED     uses are not noted
 */
#ifndef OPERATIONS
#define OPERATIONS 3
#endif
#ifndef LAYOUTS
#define LAYOUTS 3
#endif
#define MOST (OPERATIONS * 5)
#define NONE 255
#define BIT(command) (1 << (command))

mtype = {use, change, mark};
mtype kind[MOST];
byte queue_of[MOST], from[MOST], to[MOST];
int waits_for[MOST];
int begun, over; /* commands */
byte count;

/* The bytes, on the device. */
byte layout, users_now, changes_now;

/* The record. */
byte layout_now; /* 0: the original */
byte ready = NONE, ready_queue;
bool used_by[2];

inline append(what, queue, before, after, waits)
{
    kind[count] = what;
    queue_of[count] = queue;
    from[count] = before;
    to[count] = after;
    waits_for[count] = waits;
    count++
}

inline wait_until_ready(queue)
{
#ifndef NO_READY
    if
#ifdef ALL_IN_ORDER
    :: ready != NONE && ready_queue != queue -> waits = waits | BIT(ready)
#else
    :: ready != NONE && (ready_queue != queue || queue == 1) -> waits = waits | BIT(ready)
#endif
    :: else
    fi
#else
    skip
#endif
}

/* rs_command_wait_for_users() */
inline wait_for_users(queue)
{
    wait_until_ready(queue);
#ifndef NO_USERS
    other = 0;
    do
    :: other == 2 -> break
    :: other < 2 ->
        if
#ifdef ALL_IN_ORDER
        :: used_by[other] && other != queue ->
#else
        :: used_by[other] && !(other == queue && queue == 0) ->
#endif
            waits = waits | BIT(count);
            append(mark, other, 0, 0, 0)
        :: else
        fi;
        other++
    od
#endif
}

inline convert(queue, before, after)
{
    wait_for_users(queue);
    append(change, queue, before, after, waits);
    ready = count - 1;
    ready_queue = queue;
    used_by[0] = false;
    used_by[1] = false;
    waits = waits | BIT(ready);
    layout_now = after
}

/* rs_command_use(): what the table says of original and converted. The lock is held. */
proctype program()
{
    byte left = OPERATIONS, queue, wanted, other;
    int waits;
    do
    :: left == 0 -> break
    :: left > 0 ->
        atomic {
            waits = 0;
            if
            :: queue = 0
            :: queue = 1
            fi;
            select (wanted : 0 .. LAYOUTS - 1);
            if
#ifndef NO_RESTORE
            :: layout_now != wanted && layout_now != 0 -> convert(queue, layout_now, 0)
#endif
            :: else
            fi;
            if
            :: layout_now != wanted -> convert(queue, 0, wanted)
            :: else
            fi;
            wait_until_ready(queue);
#ifndef NOT_NOTED
            used_by[queue] = true;
#endif
            append(use, queue, wanted, wanted, waits);
            left--
        }
    od
}

/* Whether everything before a command in its queue is over. */
inline look_at_queue(command, is_first)
{
    before = 0;
    is_first = true;
    do
    :: before == command -> break
    :: before < command ->
        if
        :: queue_of[before] == queue_of[command] && (over & BIT(before)) == 0 -> is_first = false
        :: else
        fi;
        before++
    od
}

proctype device()
{
    byte command, before;
    bool is_first;
    do
    :: atomic {
        select (command : 0 .. MOST - 1);
        if
        :: command < count && (begun & BIT(command)) == 0 &&
           (waits_for[command] & over) == waits_for[command] ->
            look_at_queue(command, is_first);
            if
            :: is_first || (queue_of[command] == 1 && kind[command] != mark) ->
                begun = begun | BIT(command);
                if
                :: kind[command] == use ->
                    assert(changes_now == 0 && layout == from[command]);
                    users_now++
                :: kind[command] == change ->
                    assert(changes_now == 0 && users_now == 0 && layout == from[command]);
                    changes_now++
                :: else
                fi
            :: else
            fi
        :: command < count && (begun & BIT(command)) != 0 && (over & BIT(command)) == 0 ->
            over = over | BIT(command);
            if
            :: kind[command] == use -> users_now--
            :: kind[command] == change -> changes_now--; layout = to[command]
            :: else
            fi
        :: else
        fi;
        command = 0;
        before = 0;
        is_first = false
    }
    od
}

init
{
    atomic {
        run program();
        run device()
    }
}
