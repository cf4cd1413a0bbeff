/* The states of a buffer: see buffer.h. */
#include "layer/core/buffer.h"

#define HOME RS_BUFFER_HOME
#define MAPPED RS_BUFFER_MAPPED
#define PINNED RS_BUFFER_PINNED
#define AWAY RS_BUFFER_AWAY
#define LOST RS_BUFFER_LOST

/* A launch that wants a buffer elsewhere which may not leave is not made so (choice.c); it would be
 * refused. A buffer that comes home is pinned there if it has been told to (rs_buffer_pin). */
static const rs_buffer_step table[RS_BUFFER_STATES][RS_BUFFER_EVENTS] = {
    [HOME] = {[RS_USE_HOME] = {RS_DO_NOTHING, HOME},
              [RS_USE_SAME] = {RS_DO_REFUSE, HOME},
              [RS_USE_OTHER] = {RS_DO_CONVERT, AWAY},
              [RS_USE_UNSEEN] = {RS_DO_NOTHING, HOME},
              [RS_REPLACED_HOME] = {RS_DO_NOTHING, HOME},
              [RS_REPLACED_AWAY] = {RS_DO_SETTLE, AWAY},
              [RS_RESTORE] = {RS_DO_NOTHING, HOME},
              [RS_TORN] = {RS_DO_GIVE_UP, LOST}},
    [MAPPED] = {[RS_USE_HOME] = {RS_DO_NOTHING, MAPPED},
                [RS_USE_SAME] = {RS_DO_REFUSE, MAPPED},
                [RS_USE_OTHER] = {RS_DO_REFUSE, MAPPED},
                [RS_USE_UNSEEN] = {RS_DO_NOTHING, MAPPED},
                [RS_REPLACED_HOME] = {RS_DO_NOTHING, MAPPED},
                [RS_REPLACED_AWAY] = {RS_DO_REFUSE, MAPPED},
                [RS_RESTORE] = {RS_DO_NOTHING, MAPPED},
                [RS_TORN] = {RS_DO_GIVE_UP, LOST}},
    [PINNED] = {[RS_USE_HOME] = {RS_DO_NOTHING, PINNED},
                [RS_USE_SAME] = {RS_DO_REFUSE, PINNED},
                [RS_USE_OTHER] = {RS_DO_REFUSE, PINNED},
                [RS_USE_UNSEEN] = {RS_DO_NOTHING, PINNED},
                [RS_REPLACED_HOME] = {RS_DO_NOTHING, PINNED},
                [RS_REPLACED_AWAY] = {RS_DO_REFUSE, PINNED},
                [RS_RESTORE] = {RS_DO_NOTHING, PINNED},
                [RS_TORN] = {RS_DO_GIVE_UP, LOST}},
    [AWAY] = {[RS_USE_HOME] = {RS_DO_BRING_BACK, HOME},
              [RS_USE_SAME] = {RS_DO_NOTHING, AWAY},
              [RS_USE_OTHER] = {RS_DO_BRING_BACK_CONVERT, AWAY},
              [RS_USE_UNSEEN] = {RS_DO_NOTHING, AWAY},
              [RS_REPLACED_HOME] = {RS_DO_SETTLE, HOME},
              [RS_REPLACED_AWAY] = {RS_DO_SETTLE, AWAY},
              [RS_RESTORE] = {RS_DO_BRING_BACK, HOME},
              [RS_TORN] = {RS_DO_GIVE_UP, LOST}},
    [LOST] = {[RS_USE_HOME] = {RS_DO_REFUSE, LOST},
              [RS_USE_SAME] = {RS_DO_REFUSE, LOST},
              [RS_USE_OTHER] = {RS_DO_REFUSE, LOST},
              [RS_USE_UNSEEN] = {RS_DO_REFUSE, LOST},
              [RS_REPLACED_HOME] = {RS_DO_REFUSE, LOST},
              [RS_REPLACED_AWAY] = {RS_DO_REFUSE, LOST},
              [RS_RESTORE] = {RS_DO_REFUSE, LOST},
              [RS_TORN] = {RS_DO_NOTHING, LOST}},
};

rs_buffer_state rs_buffer_state_of(const rs_buffer *buffer)
{
    if (buffer->is_lost)
        return LOST;
    if (buffer->residence != NULL)
        return AWAY;
    if (buffer->pinned != NULL)
        return PINNED;
    return buffer->map_count > 0 ? MAPPED : HOME;
}

rs_buffer_step rs_buffer_next(rs_buffer_state state, rs_buffer_event event)
{
    return table[state][event];
}

const char *rs_buffer_state_name(rs_buffer_state state)
{
    static const char *const names[] = {[HOME] = "home",
                                        [MAPPED] = "mapped",
                                        [PINNED] = "pinned",
                                        [AWAY] = "away",
                                        [LOST] = "lost"};
    return names[state];
}

const char *rs_buffer_event_name(rs_buffer_event event)
{
    static const char *const names[] = {[RS_USE_HOME] = "use home",
                                        [RS_USE_SAME] = "use the same layout",
                                        [RS_USE_OTHER] = "use another layout",
                                        [RS_USE_UNSEEN] = "use unseen",
                                        [RS_REPLACED_HOME] = "replaced, home",
                                        [RS_REPLACED_AWAY] = "replaced, away",
                                        [RS_RESTORE] = "restore",
                                        [RS_TORN] = "torn"};
    return names[event];
}

const char *rs_buffer_action_name(rs_buffer_action action)
{
    static const char *const names[] = {[RS_DO_NOTHING] = "",
                                        [RS_DO_CONVERT] = "convert",
                                        [RS_DO_BRING_BACK] = "bring back",
                                        [RS_DO_BRING_BACK_CONVERT] = "bring back, convert",
                                        [RS_DO_SETTLE] = "settle",
                                        [RS_DO_GIVE_UP] = "give up",
                                        [RS_DO_REFUSE] = "refuse"};
    return names[action];
}

bool rs_buffer_is_sound(const rs_buffer *buffer)
{
    const bool is_away = buffer->residence != NULL;
    const bool has_route = buffer->route.plans != NULL || buffer->route.scratch != NULL;
    return !(is_away && (buffer->is_lost || buffer->map_count > 0)) && (is_away || !has_route) &&
           (buffer->ready != NULL || buffer->ready_queue == NULL);
}
