/* Launches. */
#include "apply/launch.h"

#include <string.h>

enum { ITEMS_LIMIT = 1 << 23 };

/* Rounds up to whole groups of these extents. */
static rs_launch round_up(const size_t items[3], const size_t group[3])
{
    rs_launch launch;
    for (int i = 0; i < 3; i++) {
        size_t wanted = items[i] == 0 ? 1 : items[i] > ITEMS_LIMIT ? ITEMS_LIMIT : items[i];
        launch.local[i] = group[i];
        launch.global[i] = (wanted + group[i] - 1) / group[i] * group[i];
    }
    return launch;
}

rs_launch rs_launch_items(const size_t items[3])
{
    static const size_t groups[4][3] = {{1, 1, 1}, {128, 1, 1}, {32, 4, 1}, {32, 2, 2}};
    return round_up(items, groups[items[2] > 1 ? 3 : items[1] > 1 ? 2 : items[0] > 1 ? 1 : 0]);
}

/* Iterations of the nest with threads; the vectors' loop needs one for each vector only. */
static void count_items(const rs_values *values, const json_t *nest, int width, size_t items[3])
{
    size_t i;
    json_t *quantity, *thread;
    const char *along = json_string_value(json_object_get(nest, "along"));
    items[0] = items[1] = items[2] = 1;
    json_array_foreach(json_object_get(nest, "items"), i, quantity)
    {
        if (i < 3)
            items[i] = rs_values_quantity(values, quantity);
    }
    json_array_foreach(json_object_get(nest, "threads"), i, thread)
    {
        size_t d = (size_t)json_integer_value(json_object_get(thread, "dimension"));
        if (along != NULL && d < 3 &&
            strcmp(json_string_value(json_object_get(thread, "loop")), along) == 0)
            items[d] /= (size_t)width;
    }
}

rs_launch rs_launch_of(const rs_values *values, const json_t *nest, bool changed, int width)
{
    size_t items[3], group[3];
    const json_t *given = json_object_get(nest, "group");
    count_items(values, nest, changed ? width : 1, items);
    if (!changed || given == NULL)
        return rs_launch_items(items);
    for (size_t i = 0; i < 3; i++)
        group[i] = (size_t)json_integer_value(json_array_get(given, i));
    return round_up(items, group);
}
