/* What is known of the variables of a kernel. */
#include "facts/walk.h"

#include <stdlib.h>
#include <string.h>

static rs_fact_binding *find_binding(const rs_fact_walk *walk, const void *variable,
                                     long long offset)
{
    for (size_t i = walk->binding_count; i-- > 0;)
        if (walk->bindings[i].variable == variable && walk->bindings[i].offset == offset)
            return &walk->bindings[i];
    return NULL;
}

const rs_fact_value *rs_fact_find(const rs_fact_walk *walk, const void *variable)
{
    const rs_fact_binding *found = find_binding(walk, variable, RS_WHOLE_VARIABLE);
    return found == NULL ? NULL : &found->value;
}

static void bind_at(rs_fact_walk *walk, const void *variable, long long offset, rs_fact_value value)
{
    rs_fact_binding *found = find_binding(walk, variable, offset);
    if (found == NULL) {
        found = RS_FACT_ADD(walk, walk->bindings, walk->binding_count);
    }
    if (found != NULL)
        *found = (rs_fact_binding){variable, offset, value};
}

void rs_fact_bind(rs_fact_walk *walk, const void *variable, rs_fact_value value)
{
    bind_at(walk, variable, RS_WHOLE_VARIABLE, value);
}

rs_fact_value rs_fact_read_local(const rs_fact_walk *walk, const rs_fact_value *place)
{
    const rs_fact_binding *found = find_binding(walk, place->local, place->offset);
    if (found == NULL)
        found = find_binding(walk, place->local, RS_SOMEWHERE);
    if (found == NULL || place->is_inner_lane) /* each thread has another one */
        return rs_fact_other();
    return found->value;
}

/* The number at an offset that is known, and what may be anywhere in the variable. */
void rs_fact_write_local(rs_fact_walk *walk, const rs_fact_value *place, rs_fact_value value)
{
    const rs_fact_form form = rs_fact_form_of(&value);
    if (place->offset != RS_SOMEWHERE)
        bind_at(walk, place->local, place->offset, value);
    if (place->offset == RS_WHOLE_VARIABLE)
        return;
    for (size_t i = 0; i < walk->binding_count && place->offset == RS_SOMEWHERE; i++) {
        rs_fact_binding *one = &walk->bindings[i];
        const rs_fact_form old = rs_fact_form_of(&one->value);
        if (one->variable == place->local && one->offset >= 0)
            one->value = rs_fact_number(rs_form_merge(old, form));
    }
    const rs_fact_binding *anywhere = find_binding(walk, place->local, RS_SOMEWHERE);
    const rs_fact_form old = anywhere == NULL ? form : rs_fact_form_of(&anywhere->value);
    bind_at(walk, place->local, RS_SOMEWHERE, rs_fact_number(rs_form_merge(old, form)));
}
