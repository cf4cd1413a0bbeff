/* Builds and frees the model. */
#include "analyze/model.h"
#include "base/list.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOTE_LIMIT = 200, SENTENCE_ROOM = 512 };

/* Adds an element, zeroed, to a list; NULL without memory. */
#define ADD(list, count)                                                                           \
    (RS_LIST_GROW(list, count) ? memset(&(list)[(count)++], 0, sizeof *(list)) : NULL)

rs_unit *rs_model_add_unit(rs_model_set *set, const char *name, int line, bool kernel)
{
    rs_unit *unit = ADD(set->units, set->unit_count);
    if (unit == NULL)
        return NULL;
    unit->name = strdup(name);
    unit->line = line;
    unit->kernel = kernel;
    return unit->name == NULL ? NULL : unit;
}

rs_loop *rs_unit_add_loop(rs_unit *unit)
{
    return ADD(unit->loops, unit->loop_count);
}

rs_array *rs_unit_add_array(rs_unit *unit, const char *name)
{
    rs_array *array = ADD(unit->arrays, unit->array_count);
    if (array != NULL)
        array->name = strdup(name);
    return array == NULL || array->name == NULL ? NULL : array;
}

rs_reference *rs_unit_add_reference(rs_unit *unit)
{
    return ADD(unit->references, unit->reference_count);
}

bool rs_model_note(rs_model_set *set, const char *file, int line, const char *format, ...)
{
    char sentence[SENTENCE_ROOM];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    for (int i = 0; i < set->note_count; i++)
        if (set->notes[i].line == line && strcmp(set->notes[i].sentence, sentence) == 0)
            return true;
    if (set->note_count >= NOTE_LIMIT)
        return true;
    rs_note *note = ADD(set->notes, set->note_count);
    if (note == NULL)
        return false;
    note->file = strdup(file);
    note->line = line;
    note->sentence = strdup(sentence);
    return note->file != NULL && note->sentence != NULL;
}

static void free_unit(rs_unit *unit)
{
    for (int i = 0; i < unit->loop_count; i++) {
        free(unit->loops[i].carried);
        free(unit->loops[i].reduced);
        free(unit->loops[i].unsupported);
    }
    for (int i = 0; i < unit->array_count; i++) {
        free(unit->arrays[i].name);
        free(unit->arrays[i].type);
    }
    for (int i = 0; i < unit->reference_count; i++) {
        free(unit->references[i].member);
        free(unit->references[i].text);
    }
    free(unit->name);
    free(unit->loops);
    free(unit->arrays);
    free(unit->references);
    rs_symbols_free(&unit->symbols);
}

void rs_model_drop_unit(rs_model_set *set)
{
    free_unit(&set->units[--set->unit_count]);
}

void rs_model_set_free(rs_model_set *set)
{
    for (int i = 0; i < set->unit_count; i++)
        free_unit(&set->units[i]);
    for (int i = 0; i < set->note_count; i++) {
        free(set->notes[i].file);
        free(set->notes[i].sentence);
    }
    free(set->units);
    free(set->notes);
    memset(set, 0, sizeof *set);
}

uint64_t rs_loop_varies(const rs_unit *unit, int loop)
{
    return rs_symbol_depends(&unit->symbols, unit->loops[loop].symbol);
}

bool rs_unit_is_within(const rs_unit *unit, int loop, int outer)
{
    while (loop >= 0 && loop != outer)
        loop = unit->loops[loop].parent;
    return loop == outer;
}

/* ---- loaded pointers ---- */

enum { POINTER_SIZE = 8, ANY_LEVEL = -1 };

/* Whether the pointer at `at` bytes in an element of a memory is stored, so many pointers deep. */
static bool is_stored(const rs_unit *unit, uint64_t memory, int pointers, int64_t at)
{
    for (int i = 0; i < unit->reference_count; i++) {
        const rs_reference *r = &unit->references[i];
        bool here = r->written && unit->arrays[r->array].memory == memory &&
                    (r->pointers == pointers || pointers == ANY_LEVEL || r->around);
        bool apart = r->member != NULL && r->width > 0 && !r->around &&
                     (at >= r->member_offset + r->width || r->member_offset >= at + POINTER_SIZE);
        if (here && !apart)
            return true;
    }
    return false;
}

/* Whether the pointers of a memory were declared together with what they point to. */
static bool is_filled(const rs_unit *unit, uint64_t memory)
{
    for (int i = 0; i < unit->array_count; i++)
        if (unit->arrays[i].memory == memory && unit->arrays[i].filled)
            return true;
    return false;
}

/* Whether one of the pointers that lead to a reference is not what it was before the unit. */
static bool follows_stored(const rs_unit *unit, const rs_reference *r)
{
    const rs_array *array = &unit->arrays[r->array];
    bool stored = r->pointers > 0 && is_filled(unit, array->owner);
    for (int level = 0; level < r->pointers && !stored; level++) {
        bool owned = level == 0 && array->owner != array->memory;
        stored = is_stored(unit, owned ? array->owner : array->memory, owned ? ANY_LEVEL : level,
                           array->pointer);
    }
    return stored;
}

/* Leaves a reference out; the partners' numbers are 1 more than their places. */
static void remove_reference(rs_unit *unit, int at)
{
    free(unit->references[at].text);
    free(unit->references[at].member);
    unit->reference_count--;
    memmove(&unit->references[at], &unit->references[at + 1],
            (size_t)(unit->reference_count - at) * sizeof *unit->references);
    for (int i = 0; i < unit->reference_count; i++)
        unit->references[i].partner -= unit->references[i].partner > at + 1;
}

/*
 * What is written through one view of a memory is written in all of them, and what is written
 * through a pointer into one of two arrays perhaps in both; through one that may lead anywhere
 * perhaps in all.
 */
static void settle_views(rs_unit *unit)
{
    bool anywhere = false;
    for (int i = 0; i < unit->reference_count; i++)
        anywhere = anywhere || (unit->references[i].anywhere && unit->references[i].written);
    for (int i = 0; i < unit->array_count && anywhere; i++)
        if (unit->arrays[i].space == RS_SPACE_GLOBAL)
            unit->arrays[i].written = true;
    for (int i = 0; i < unit->array_count; i++)
        if (unit->arrays[i].mixed > 0 && unit->arrays[unit->arrays[i].mixed - 1].written)
            unit->arrays[i].written = true;
    for (int i = 0; i < unit->array_count; i++)
        for (int j = 0; j < unit->array_count; j++)
            if (unit->arrays[i].memory == unit->arrays[j].memory && unit->arrays[j].written)
                unit->arrays[i].written = true;
}

void rs_unit_settle_pointers(rs_unit *unit)
{
    for (int i = 0; i < unit->reference_count; i++)
        if (follows_stored(unit, &unit->references[i]))
            unit->references[i].anywhere = true;
    for (int i = unit->reference_count - 1; i >= 0; i--) {
        const rs_reference *r = &unit->references[i];
        if (!r->loads_pointer)
            continue;
        rs_array *array = &unit->arrays[r->array];
        if (is_stored(unit, array->memory, r->pointers, r->member_offset))
            array->read = true;
        else
            remove_reference(unit, i);
    }
    settle_views(unit);
}
