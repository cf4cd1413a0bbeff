/*
 * What a kernel's lanes do with its arrays: the class of each reference by the bytes from one lane
 * to the next and by the loops around it, and the argument by that of its references which binds a
 * layout most.
 */
#include "analyze/lanes.h"

#include "base/json.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_RECORD = 256, /* words of a flat array's record */
    MOST_GROUP = 64,   /* elements of a lane that are a group; more are walked through */
    WORD = 4,
    SOME_ROUNDS = 256, /* of a loop whose bounds are not numbers */
    SCALAR = 8         /* bytes */
};

typedef struct {
    rs_judge_lanes lanes;
    int64_t group;
    double visits;
} found_access;

/* ---- one reference ---- */

/* Bytes by which a round of a loop moves the reference; 0: not at all, or by no fixed number. */
static int64_t moved_by(const rs_access *access, const rs_unit *unit, int loop)
{
    const rs_array *array = &unit->arrays[access->reference->array];
    int64_t moved = 0;
    for (int row = 0; row < access->rows; row++) {
        int64_t factor, stride;
        rs_polynomial entry = rs_access_entry(access, row, unit->loops[loop].symbol);
        rs_polynomial bytes = rs_access_row_stride(array, access->reference, row);
        if (rs_polynomial_is_constant(&entry, &factor) &&
            rs_polynomial_is_constant(&bytes, &stride))
            moved += factor * stride;
    }
    return llabs(moved);
}

/* The least such step of the loops around that is at least `least` bytes, or 0. */
static int64_t step_of(const rs_access *access, const rs_unit *unit, int64_t least)
{
    int64_t step = 0;
    for (int loop = access->reference->loop; loop >= 0; loop = unit->loops[loop].parent) {
        int64_t moved = moved_by(access, unit, loop);
        if (moved >= least && moved > 0 && (step == 0 || moved < step))
            step = moved;
    }
    return step;
}

/* Rounds of the loops around, but for those that go through the members of an element. */
static double rounds_of(const rs_access *access, const rs_unit *unit, int64_t element)
{
    double rounds = 1;
    for (int loop = access->reference->loop; loop >= 0; loop = unit->loops[loop].parent) {
        int64_t room, moved = moved_by(access, unit, loop);
        bool known = rs_polynomial_is_constant(&unit->loops[loop].bound, &room) && room >= 0 &&
                     unit->loops[loop].step == 1;
        if (moved == 0 || moved >= element)
            rounds *= known ? (double)room + 1 : SOME_ROUNDS;
    }
    return rounds;
}

/* Whether which element it is goes with a quotient or a remainder of a thread's index. */
static bool is_divided_index(const rs_access *access, const rs_unit *unit, int64_t element)
{
    const rs_array *array = &unit->arrays[access->reference->array];
    for (int c = 0; c < access->columns; c++) {
        const rs_symbol *s = &unit->symbols.symbols[access->symbols[c]];
        bool used = false;
        for (int row = 0; row < access->rows; row++) {
            int64_t bytes;
            rs_polynomial stride = rs_access_row_stride(array, access->reference, row);
            bool inside = rs_polynomial_is_constant(&stride, &bytes) && bytes < element;
            used = used || (!inside && !rs_polynomial_is_zero(&access->matrix[row][c]));
        }
        if (used && access->between[c] && access->auxiliary[c] && !s->data &&
            (strpbrk(s->name, "/%") != NULL || strstr(s->name, ">>") != NULL))
            return true;
    }
    return false;
}

static found_access classify(const rs_access *access, const rs_unit *unit, int64_t element)
{
    int64_t stride, step = step_of(access, unit, element);
    double rounds = rounds_of(access, unit, element);
    found_access found = {.lanes = RS_LANES_UNKNOWN, .group = 1, .visits = 1};
    if ((access->classes & RS_CLASS_UNKNOWN) != 0 || !access->reference->understood)
        return found;
    if (rs_access_is_random(access))
        return (found_access){RS_LANES_GATHER, 1, rounds};
    if (is_divided_index(access, unit, element))
        return (found_access){RS_LANES_WITHIN, 1, rounds};
    if (!rs_access_moves_between(access, unit))
        return (found_access){RS_LANES_SAME, 1, step > 0 ? rounds : 1};
    if (!rs_polynomial_is_constant(&access->thread_stride, &stride) || element == 0 ||
        stride % element != 0)
        return step == element ? (found_access){RS_LANES_WALK, 1, rounds} : found;
    int64_t elements = llabs(stride / element);
    if (elements == 1)
        return (found_access){RS_LANES_ONE, 1, step > 0 ? rounds : 1};
    if (elements > 1 && elements <= MOST_GROUP)
        return (found_access){RS_LANES_GROUP, elements, 1};
    return step == element && elements > 1
               ? (found_access){RS_LANES_WALK, elements < INT32_MAX ? elements : 1, rounds}
               : found;
}

/* ---- an array ---- */

/* False: there are too many, or it reaches beyond the element. */
static bool add_field(rs_judge_argument *a, int64_t offset, int64_t bytes)
{
    for (int f = 0; f < a->field_count; f++)
        if (a->fields[f].offset == offset)
            return true;
    if (a->field_count == RS_JUDGE_MOST_FIELDS || bytes > 16 || offset + bytes > a->element)
        return false;
    a->fields[a->field_count++] = (rs_judge_field){(int)offset, (int)bytes};
    return true;
}

/* Large copies move word by word. */
static void add_bytes(rs_judge_argument *a, int64_t offset, int64_t bytes)
{
    if (bytes <= 16 && (bytes & (bytes - 1)) == 0) {
        add_field(a, offset, bytes);
        return;
    }
    for (int64_t at = 0; at < bytes; at += WORD)
        add_field(a, offset + at, bytes - at < WORD ? bytes - at : WORD);
}

/* Words of the records of a flat array: all references step by so many from lane to lane. 0: it has
 * none, or a loop leads through more than a record. */
static int64_t flat_record(const rs_accesses *accesses, int array)
{
    const rs_unit *unit = accesses->unit;
    const rs_array *described = &unit->arrays[array];
    int64_t record = 0, stride;
    if (described->element > SCALAR || described->element == 0 || described->vector ||
        described->dimensions != 1)
        return 0;
    for (int i = 0; i < unit->reference_count; i++) {
        const rs_access *access = &accesses->accesses[i];
        if (access->reference->array != array)
            continue;
        if (access->reference->member != NULL || rs_access_is_random(access) ||
            !rs_polynomial_is_constant(&access->thread_stride, &stride) ||
            stride % described->element != 0 ||
            (record != 0 && llabs(stride) != record * described->element))
            return 0;
        record = llabs(stride) / described->element;
    }
    return record > 1 && record <= MOST_RECORD ? record : 0;
}

/* The fields of a flat record that one reference touches: by its offset, and by loops. */
static void add_flat_fields(rs_judge_argument *a, const rs_access *access, const rs_unit *unit,
                            int64_t word)
{
    int64_t words = a->element / word, step = step_of(access, unit, word) / word;
    int64_t first = rs_polynomial_constant_term(&access->offset[access->rows - 1]) % words;
    double rounds = step > 0 ? rounds_of(access, unit, word) : 1;
    for (int64_t k = 0; k < words && (double)k < rounds; k++)
        add_field(a, ((first + k * step) % words + words) % words * word, word);
}

/* Adds what a member of an element has that is reached by further subscripts: one leaf, or those
 * that loops lead through; all of them where an index is no number. */
static void add_member(rs_judge_argument *a, const rs_access *access, const rs_unit *unit)
{
    const rs_reference *r = access->reference;
    const rs_array *array = &unit->arrays[r->array];
    int64_t offset = r->member != NULL ? r->member_offset : 0, reach = 0;
    int64_t width = r->width > 0 ? r->width : a->element;
    for (int row = 1; row < access->rows; row++) {
        int64_t bytes, shift;
        rs_polynomial stride = rs_access_row_stride(array, r, row);
        if (!rs_polynomial_is_constant(&stride, &bytes) || bytes >= a->element)
            continue;
        bool fixed = rs_polynomial_is_constant(&access->offset[row], &shift);
        for (int c = 0; c < access->columns; c++)
            fixed = fixed && rs_polynomial_is_zero(&access->matrix[row][c]);
        offset += fixed ? shift * bytes : 0;
        reach = fixed || bytes == 0 ? reach : a->element;
    }
    if (offset < 0 || offset + width > a->element)
        return;
    for (int64_t at = offset; at + width <= a->element && (at == offset || at < reach); at += width)
        add_bytes(a, at, width);
}

/* Another array that is the same memory, seen through a cast. */
static bool has_other_view(const rs_unit *unit, int array)
{
    for (int i = 0; i < unit->array_count; i++)
        if (i != array && unit->arrays[i].memory == unit->arrays[array].memory)
            return true;
    return false;
}

/* The class that binds a layout most: what is listed first. One element for all outside of loops
 * binds nothing. */
static int binds(const found_access *found)
{
    static const int ranks[] = {
        [RS_LANES_UNKNOWN] = 7, [RS_LANES_WITHIN] = 6, [RS_LANES_GATHER] = 5, [RS_LANES_WALK] = 4,
        [RS_LANES_SAME] = 3,    [RS_LANES_GROUP] = 2,  [RS_LANES_ONE] = 1};
    return found->lanes == RS_LANES_SAME && found->visits <= 1 ? 0 : ranks[found->lanes];
}

static bool describe_array(const rs_accesses *accesses, int array, rs_judge_argument *a,
                           int *flat_words)
{
    const rs_unit *unit = accesses->unit;
    const rs_array *described = &unit->arrays[array];
    int64_t record = flat_record(accesses, array), element = described->element;
    found_access most = {.lanes = RS_LANES_SAME, .group = 1, .visits = 1};
    bool members = element > 16;
    if (described->space != RS_SPACE_GLOBAL || element <= 0 || element > 1 << 20)
        return false;
    *flat_words = (int)record;
    element *= record > 0 ? record : 1;
    *a = (rs_judge_argument){.name = described->name, .element = (int)element};
    for (int i = 0; i < unit->reference_count; i++) {
        const rs_access *access = &accesses->accesses[i];
        const rs_reference *r = access->reference;
        if (r->array != array)
            continue;
        found_access found = classify(access, unit, element);
        most = binds(&found) >= binds(&most) ? found : most;
        members = members || r->member != NULL;
        a->reads = a->reads || r->read;
        a->writes = a->writes || r->written;
        a->atomic = a->atomic || r->atomic;
        if (record > 0)
            add_flat_fields(a, access, unit, described->element);
        else
            add_member(a, access, unit);
    }
    bool counted = a->field_count < RS_JUDGE_MOST_FIELDS && !has_other_view(unit, array);
    a->lanes = counted ? most.lanes : RS_LANES_UNKNOWN;
    a->group = (int)most.group;
    a->visits = most.visits;
    if (a->field_count == 0)
        add_bytes(a, 0,
                  element < RS_JUDGE_MOST_FIELDS * WORD ? element : RS_JUDGE_MOST_FIELDS * WORD);
    return described->argument && ((members && !described->vector) || record > 0);
}

static double local_bytes(const rs_unit *unit)
{
    double sum = 0;
    for (int i = 0; i < unit->array_count; i++) {
        const rs_array *array = &unit->arrays[i];
        double bytes = array->space == RS_SPACE_LOCAL ? (double)array->element : 0;
        for (int d = 0; d < array->dimensions; d++)
            bytes *= (double)(array->extents[d] > 0 ? array->extents[d] : 0);
        sum += bytes;
    }
    return sum;
}

/* Global arrays, the first RS_JUDGE_MOST_ARGUMENTS; `group` is a work-group's threads, 0 when they
 * are not known. The names are the unit's. */
static void describe_lanes(const rs_accesses *accesses, int64_t group, rs_kernel_lanes *lanes)
{
    const rs_unit *unit = accesses->unit;
    *lanes = (rs_kernel_lanes){
        .kernel = {.name = unit->name, .group = (double)group, .local_bytes = local_bytes(unit)}};
    for (int i = 0; i < unit->array_count; i++) {
        int *n = &lanes->kernel.argument_count;
        if (*n == RS_JUDGE_MOST_ARGUMENTS || unit->arrays[i].space != RS_SPACE_GLOBAL ||
            unit->arrays[i].element <= 0)
            continue;
        lanes->records[*n] =
            describe_array(accesses, i, &lanes->kernel.arguments[*n], &lanes->flat[*n]);
        lanes->arrays[*n] = i;
        (*n)++;
    }
}

/* ---- JSON ---- */

static json_t *text_of(void (*print)(rs_text *text, const rs_judge_layout *layout),
                       const rs_judge_layout *layout)
{
    rs_text text = RS_TEXT_EMPTY;
    print(&text, layout);
    return rs_json_take(&text);
}

/* What lanes do in the further uses of an array, each once. */
static json_t *other_lanes(const rs_judge_kernel *kernel, int k)
{
    json_t *also = json_array();
    bool told[RS_LANES_UNKNOWN + 1] = {false};
    told[kernel->arguments[k].lanes] = true;
    for (int u = k + 1; u < kernel->argument_count && kernel->arguments[u].continues; u++) {
        const rs_judge_lanes lanes = kernel->arguments[u].lanes;
        if (!told[lanes])
            json_array_append_new(also, json_string(rs_judge_lanes_text(lanes)));
        told[lanes] = true;
    }
    return also;
}

static json_t *describe_judgement(const rs_kernel_lanes *lanes, int k, const rs_judgement *found)
{
    static const char *const names[] = {"one",    "group", "within", "same",
                                        "gather", "walk",  "unknown"};
    const rs_judge_argument *a = &lanes->kernel.arguments[k];
    json_t *candidates = json_array();
    const int touched = rs_judge_touched(&lanes->kernel, k);
    for (int c = 0; c < found->candidates; c++)
        json_array_append_new(
            candidates, json_pack("{s:o, s:o, s:f}", "layout",
                                  text_of(rs_judge_layout_print, &found->layouts[c]), "meaning",
                                  text_of(rs_judge_layout_explain, &found->layouts[c]), "gain",
                                  found->gains[c]));
    json_t *entry = json_pack(
        "{s:s, s:i, s:i, s:s, s:s, s:o, s:o, s:f, s:s, s:f, s:f, s:f, s:o}", "array", a->name,
        "element", a->element, "touched", touched, "class", names[a->lanes], "lanes",
        rs_judge_lanes_text(a->lanes), "layout", text_of(rs_judge_layout_print, &found->layout),
        "meaning", text_of(rs_judge_layout_explain, &found->layout), "gain", found->gain, "reason",
        found->reason, "sectors_now", found->sectors_now, "sectors_then", found->sectors_then,
        "requests", found->requests, "candidates", candidates);
    if (lanes->flat[k] > 0)
        json_object_set_new(entry, "record", json_integer(lanes->flat[k]));
    if (a->group > 1)
        json_object_set_new(entry, "group", json_integer(a->group));
    json_t *also = other_lanes(&lanes->kernel, k);
    if (json_array_size(also) > 0)
        json_object_set(entry, "also", also);
    json_decref(also);
    return entry;
}

restride_status rs_kernel_lanes_judge(const rs_kernel_lanes *lanes, const char *device,
                                      json_t **judgement)
{
    rs_judge_device described;
    rs_judgement found[RS_JUDGE_MOST_ARGUMENTS];
    double gain;
    restride_status status = rs_judge_read_device(&described, device);
    if (status == RESTRIDE_OK)
        status = rs_judge(&lanes->kernel, &described, found, &gain);
    json_t *arguments = json_array();
    for (int k = 0; k < lanes->kernel.argument_count && status == RESTRIDE_OK; k++)
        if (lanes->records[k])
            json_array_append_new(arguments, describe_judgement(lanes, k, &found[k]));
    if (status == RESTRIDE_OK)
        *judgement = json_pack("{s:s, s:f, s:O}", "device", described.shape.name, "gain", gain,
                               "arguments", arguments);
    json_decref(arguments);
    return status;
}

restride_status rs_kernel_judge(const rs_accesses *accesses, int64_t group, const char *device,
                                json_t **judgement)
{
    rs_kernel_lanes *lanes = malloc(sizeof *lanes);
    if (lanes == NULL)
        return rs_fail_memory("a judgement");
    describe_lanes(accesses, group, lanes);
    const restride_status status = rs_kernel_lanes_judge(lanes, device, judgement);
    free(lanes);
    return status;
}
