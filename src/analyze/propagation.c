/* See propagation.h. */
#include "analyze/propagation.h"

#include <stdlib.h>
#include <string.h>

int rs_grid_class(const rs_propagation *found, int grid)
{
    while (found->parents[grid] != grid)
        grid = found->parents[grid];
    return grid;
}

bool rs_propagation_keep(rs_propagation *found, const rs_translation_unit *program, int class,
                         size_t offset, const char *sentence)
{
    rs_note *reason = &found->kept[rs_grid_class(found, class)];
    if (reason->sentence != NULL)
        return true;
    const char *file = "";
    size_t line = 0;
    rs_flat_locate(&program->flat, offset, &file, &line);
    *reason = (rs_note){strdup(file), (int)line, strdup(sentence)};
    return reason->file != NULL && reason->sentence != NULL;
}

/* A pointer has one declaration, so what it may point to stays as it is together. */
restride_status rs_propagation_close(rs_propagation *found)
{
    bool changed = true;
    while (changed) {
        changed = false;
        for (int i = 0; i < found->link_count; i++)
            for (int j = 0; j < found->link_count; j++) {
                int from = rs_grid_class(found, found->links[i].class);
                int to = rs_grid_class(found, found->links[j].class);
                if (found->links[i].grid != found->links[j].grid ||
                    found->kept[from].sentence == NULL || found->kept[to].sentence != NULL)
                    continue;
                found->kept[to] = (rs_note){strdup(found->kept[from].file), found->kept[from].line,
                                            strdup(found->kept[from].sentence)};
                if (found->kept[to].sentence == NULL || found->kept[to].file == NULL)
                    return rs_fail_memory("a reason");
                changed = true;
            }
    }
    return RESTRIDE_OK;
}

void rs_propagation_free(rs_propagation *found)
{
    for (int g = 0; g < found->grid_count; g++) {
        if (found->kept != NULL) {
            free(found->kept[g].file);
            free(found->kept[g].sentence);
        }
        if (found->outer != NULL)
            free(found->outer[g]);
    }
    free(found->parents);
    free(found->kept);
    free(found->outside);
    free(found->outer);
    free(found->sizes);
    free(found->accesses);
    free(found->measures);
    free(found->copies);
    free(found->links);
    *found = (rs_propagation){.grid_count = 0};
}
