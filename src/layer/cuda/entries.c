/*
 * Which function of the layer stands for a name of the driver.
 *
 * Closed world. Names that the table (table.c) says are harmless are the driver's own functions.
 * Those that are followed, and those that are not known, are functions of the layer, one for each:
 * of the unknown ones the first call brings all memory back into the program's layout and ends all
 * conversions, before the driver sees it. Not the question for a name: the CUDA runtime asks for
 * nearly all of them when it starts.
 *
 * One shape serves the functions of the driver, for their arguments are numbers and pointers: they
 * are handed on as words, as in loader/loader.c. (Four old functions take a float; they are
 * harmless, and so are the driver's own.)
 */
#include "layer/cuda/driver.h"

#include "layer/cuda/links.h"
#include "layer/cuda/nvrtc.h"
#include "layer/cuda/thunks.h"

#include <stdlib.h>
#include <string.h>

/* ABIs that this table is written for. What CUDA 13.0's driver answers for a name is known. */
enum { KNOWN_VERSION = 13000, SECOND_VERSION = 3020, PER_THREAD_DEFAULT_STREAM = 2 };

static rs_entry entries[RS_THUNKS];
static int entry_count;
static pthread_mutex_t entries_mutex = PTHREAD_MUTEX_INITIALIZER; /* nothing is called with it */

rs_word rs_thunk_call(int number, rs_word *words)
{
    const rs_entry *entry = &entries[number];
    if (entry->kind != NULL)
        return entry->kind->handle(entry, words);
    if (!rs_cuda_is_frozen())
        rs_cuda_freeze(entry->name);
    return rs_entry_call(entry, words);
}

/* ---- names ---- */

static bool ends_with(const char *name, size_t length, const char *end)
{
    const size_t end_length = strlen(end);
    return length > end_length && memcmp(name + length - end_length, end, end_length) == 0;
}

/* The length of a name without "_ptsz", "_ptds". */
static size_t without_thread(const char *name, bool *is_per_thread)
{
    const size_t length = strlen(name);
    *is_per_thread = ends_with(name, length, "_ptsz") || ends_with(name, length, "_ptds");
    return *is_per_thread ? length - strlen("_ptsz") : length;
}

/* The length of that without "_v2", "_v3". */
static size_t without_version(const char *name, size_t length)
{
    size_t end = length;
    while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9')
        end--;
    return end < length && end > 2 && memcmp(name + end - 2, "_v", 2) == 0 ? end - 2 : length;
}

/* A name that the driver exports; NULL: it is not known. */
static const rs_entry_kind *kind_of_export(const char *name, bool *is_per_thread)
{
    const size_t length = without_thread(name, is_per_thread);
    const size_t base = without_version(name, length);
    const rs_entry_kind *kind = rs_entry_kind_of(name, base);
    if (kind == NULL || strcmp(kind->form, "*") == 0)
        return kind;
    return strlen(kind->form) == length - base &&
                   strncmp(kind->form, name + base, length - base) == 0
               ? kind
               : NULL;
}

/* The same for a name and version of cuGetProcAddress(). A newer version may have other arguments,
 * unless it is the function of the known one. */
static const rs_entry_kind *kind_of_version(const char *name, int version, uint64_t flags,
                                            const void *function)
{
    const rs_entry_kind *kind = rs_entry_kind_of(name, strlen(name));
    void *known = NULL;
    int status;
    if (kind == NULL || (strcmp(kind->form, "_v2") == 0 && version < SECOND_VERSION))
        return NULL;
    if (version <= KNOWN_VERSION || kind->handle == NULL)
        return kind;
    const bool is_same = rs_cuda.more.cuGetProcAddress != NULL &&
                         rs_cuda.more.cuGetProcAddress(name, &known, KNOWN_VERSION, flags,
                                                       &status) == RS_CUDA_SUCCESS &&
                         known == function;
    return is_same ? kind : NULL;
}

/* ---- functions ---- */

static void *function_of(const rs_entry_kind *kind, bool is_per_thread, const char *name,
                         void *function)
{
    rs_any_function *words;
    memcpy(&words, &function, sizeof words);
    pthread_mutex_lock(&entries_mutex);
    int number = 0;
    while (number < entry_count &&
           (entries[number].function != words || entries[number].kind != kind ||
            entries[number].is_per_thread != is_per_thread))
        number++;
    char *copy = number == entry_count && entry_count < RS_THUNKS ? strdup(name) : NULL;
    if (copy != NULL)
        entries[entry_count++] = (rs_entry){kind, copy, words, is_per_thread};
    const bool has_entry = number < entry_count;
    pthread_mutex_unlock(&entries_mutex);
    if (has_entry)
        return rs_thunk(number);
    atomic_store(&rs_cuda.must_freeze, "there was no room to follow a function of the driver");
    return function;
}

static void *answer(const rs_entry_kind *kind, bool is_per_thread, const char *name, void *function)
{
    if (function == NULL || (kind != NULL && kind->handle == NULL))
        return function;
    return function_of(kind, is_per_thread, name, function);
}

static bool is_of_driver(const char *name)
{
    return name[0] == 'c' && name[1] == 'u' && name[2] >= 'A' && name[2] <= 'Z';
}

/* What the audit library binds a name to. */
RESTRIDE_API uintptr_t restride_cuda_answer(const char *name, uintptr_t function);
uintptr_t restride_cuda_answer(const char *name, uintptr_t function)
{
    void *pointer;
    bool is_per_thread;
    const rs_entry_kind *compiler = rs_nvrtc_kind(name);
    if (compiler == NULL)
        compiler = rs_link_kind(name);
    if ((compiler == NULL && !is_of_driver(name)) || rs_cuda.driver == NULL)
        return function;
    const rs_entry_kind *kind = compiler != NULL ? compiler : kind_of_export(name, &is_per_thread);
    memcpy(&pointer, &function, sizeof pointer);
    pointer = answer(kind, compiler == NULL && is_per_thread, name, pointer);
    memcpy(&function, &pointer, sizeof function);
    return function;
}

/* cuGetProcAddress(name, function, version, flags), and in the second version a status. */
rs_word rs_follow_get_address(const rs_entry *entry, rs_word *w)
{
    const char *name = (const char *)w[0];
    void **function = (void **)w[1];
    const rs_word result = rs_entry_call(entry, w);
    if ((rs_cuda_result)result != RS_CUDA_SUCCESS || name == NULL || function == NULL)
        return result;
    const bool is_per_thread = entry->is_per_thread || (w[3] & PER_THREAD_DEFAULT_STREAM) != 0;
    if (is_of_driver(name))
        *function = answer(kind_of_version(name, (int)w[2], w[3], *function), is_per_thread, name,
                           *function);
    return result;
}
