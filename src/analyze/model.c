/* Builds and frees the model. */
#include "analyze/model.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NOTE_LIMIT = 200, SENTENCE_ROOM = 512 };

/* Adds a zeroed element to an array that doubles at powers of two. */
static void *grow(void **array, int *count, size_t size)
{
    int n = *count;
    if ((n & (n - 1)) == 0) {
        void *grown = realloc(*array, (n == 0 ? 1 : (size_t)n * 2) * size);
        if (grown == NULL)
            return NULL;
        *array = grown;
    }
    void *added = (char *)*array + (size_t)n * size;
    memset(added, 0, size);
    (*count)++;
    return added;
}

rs_unit *rs_model_add_unit(rs_model_set *set, const char *name, int line, bool kernel)
{
    void *units = set->units;
    rs_unit *unit = grow(&units, &set->unit_count, sizeof *unit);
    set->units = units;
    if (unit == NULL)
        return NULL;
    unit->name = strdup(name);
    unit->line = line;
    unit->kernel = kernel;
    return unit->name == NULL ? NULL : unit;
}

rs_loop *rs_unit_add_loop(rs_unit *unit)
{
    void *loops = unit->loops;
    rs_loop *loop = grow(&loops, &unit->loop_count, sizeof *loop);
    unit->loops = loops;
    return loop;
}

rs_array *rs_unit_add_array(rs_unit *unit, const char *name)
{
    void *arrays = unit->arrays;
    rs_array *array = grow(&arrays, &unit->array_count, sizeof *array);
    unit->arrays = arrays;
    if (array != NULL)
        array->name = strdup(name);
    return array == NULL || array->name == NULL ? NULL : array;
}

rs_reference *rs_unit_add_reference(rs_unit *unit)
{
    void *references = unit->references;
    rs_reference *reference = grow(&references, &unit->reference_count, sizeof *reference);
    unit->references = references;
    return reference;
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
    void *notes = set->notes;
    rs_note *note = grow(&notes, &set->note_count, sizeof *note);
    set->notes = notes;
    if (note == NULL)
        return false;
    note->file = strdup(file);
    note->line = line;
    note->sentence = strdup(sentence);
    return note->file != NULL && note->sentence != NULL;
}

static void free_loop(rs_loop *loop)
{
    free(loop->carried);
    free(loop->reduced);
}

static void free_unit(rs_unit *unit)
{
    for (int i = 0; i < unit->loop_count; i++)
        free_loop(&unit->loops[i]);
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

bool rs_unit_is_within(const rs_unit *unit, int loop, int outer)
{
    while (loop >= 0 && loop != outer)
        loop = unit->loops[loop].parent;
    return loop == outer;
}
