/* Changes of layout: see relayout.h. */
#include "layer/core/relayout.h"

#include <stdlib.h>

/* What a plan may take of scratch memory, whatever the size of its array (engine.c). */
enum { SMALL_BYTES = 7 << 17 };

void rs_relayout_give_number(rs_relayouts *numbered, rs_relayout *relayout)
{
    for (size_t i = 0; i < numbered->count && relayout->number == 0; i++)
        if (rs_relayout_equal(&numbered->all[i], relayout))
            relayout->number = i + 1;
    if (relayout->number != 0)
        return;
    rs_relayout *all = realloc(numbered->all, (numbered->count + 1) * sizeof *all);
    if (all == NULL)
        return;
    numbered->all = all;
    all[numbered->count] = *relayout;
    if (rs_record_copy(&all[numbered->count].record, &relayout->record) == RESTRIDE_OK)
        relayout->number = ++numbered->count;
}

bool rs_relayout_equal(const rs_relayout *a, const rs_relayout *b)
{
    if (a->number != 0 && b->number != 0)
        return a->number == b->number;
    return a->tile == b->tile && a->from_soa == b->from_soa &&
           rs_record_equal(&a->record, &b->record);
}

bool rs_relayout_has_kernel(const rs_relayout *relayout)
{
    return relayout->tile != 0 && !relayout->from_soa;
}

bool rs_relayout_needs_plans(const rs_relayout *relayout, size_t bytes)
{
    return !rs_relayout_has_kernel(relayout) && bytes > SMALL_BYTES;
}
