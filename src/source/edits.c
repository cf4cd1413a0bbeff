/* See edits.h. */
#include "source/edits.h"
#include "base/list.h"

#include <stdlib.h>

restride_status rs_edits_add(rs_edits *edits, size_t begin, size_t end, rs_text *text)
{
    rs_text_add(text, "", 0);
    char *taken = rs_text_take(text);
    if (taken == NULL || !RS_LIST_GROW(edits->list, edits->count)) {
        free(taken);
        return rs_fail_memory("an edited source");
    }
    edits->list[edits->count++] = (rs_edit){begin, end, taken};
    return RESTRIDE_OK;
}

bool rs_edits_cover(const rs_edits *edits, size_t begin, size_t end)
{
    for (size_t i = 0; i < edits->count; i++)
        if (begin >= edits->list[i].begin && end <= edits->list[i].end)
            return true;
    return false;
}

static int compare(const void *a, const void *b)
{
    const rs_edit *x = a, *y = b;
    return x->begin != y->begin ? (x->begin > y->begin) - (x->begin < y->begin)
                                : (x->end > y->end) - (x->end < y->end);
}

void rs_edits_sort(rs_edits *edits)
{
    if (edits->count > 1)
        qsort(edits->list, edits->count, sizeof *edits->list, compare);
}

void rs_edits_free(rs_edits *edits)
{
    for (size_t i = 0; i < edits->count; i++)
        free(edits->list[i].text);
    free(edits->list);
}
