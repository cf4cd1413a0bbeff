/* See nvrtc.h. */
#include "layer/cuda/nvrtc.h"

#include "base/json.h"
#include "base/library.h"
#include "base/list.h"
#include "base/log.h"
#include "base/store.h"
#include "layer/core/rewriter.h"
#include "layer/cuda/images.h"
#include "layer/cuda/names.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { DONE = 0, MOST_LIBRARIES = 8 };

typedef struct {
    char **at;
    size_t count;
} strings;

/* The functions of one libnvrtc; a process may have several. */
typedef struct {
    const void *base;
    int (*nvrtcCreateProgram)(rs_word *program, const char *source, const char *name, int count,
                              const char *const *headers, const char *const *names);
    int (*nvrtcAddNameExpression)(rs_word program, const char *name);
    int (*nvrtcCompileProgram)(rs_word program, int count, const char *const *options);
    int (*nvrtcGetLoweredName)(rs_word program, const char *name, const char **lowered);
    int (*nvrtcGetPTXSize)(rs_word program, size_t *size);
    int (*nvrtcGetPTX)(rs_word program, char *image);
    int (*nvrtcGetCUBINSize)(rs_word program, size_t *size);
    int (*nvrtcGetCUBIN)(rs_word program, char *image);
    int (*nvrtcDestroyProgram)(rs_word *program);
} library;

typedef struct program {
    struct program *next;
    const library *of;
    rs_word handle;
    char *source, *name;
    strings headers, header_names, names, options;
    bool is_compiled, is_tried;
    rs_word beside;    /* the companion's, 0: there is none */
    char *description; /* of its second forms */
} program;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* NVRTC is not called with it */
static program *programs;
static library libraries[MOST_LIBRARIES];
static size_t library_count;

/* --- lists of strings --- */

static bool add(strings *list, const char *text)
{
    if (!RS_LIST_GROW(list->at, list->count))
        return false;
    char *copy = strdup(text != NULL ? text : "");
    list->at[list->count] = copy;
    list->count += copy != NULL;
    return copy != NULL;
}

static void clear(strings *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->at[i]);
    free(list->at);
    *list = (strings){NULL, 0};
}

/* --- libraries --- */

static bool find_functions(library *of, void *handle)
{
#define NVRTC(function) RS_LIBRARY_FUNCTION(library, function)
    static const rs_library_function functions[] = {
        NVRTC(nvrtcCreateProgram),  NVRTC(nvrtcAddNameExpression), NVRTC(nvrtcCompileProgram),
        NVRTC(nvrtcGetLoweredName), NVRTC(nvrtcGetPTXSize),        NVRTC(nvrtcGetPTX),
        NVRTC(nvrtcGetCUBINSize),   NVRTC(nvrtcGetCUBIN),          NVRTC(nvrtcDestroyProgram),
    };
    return rs_library_find(handle, functions, sizeof functions / sizeof functions[0], of) == NULL;
}

/* The library that a function is of; NULL: it is too old, or there are too many. */
static const library *library_of(rs_any_function *function)
{
    Dl_info place;
    void *address;
    const library *found = NULL;
    memcpy(&address, &function, sizeof address);
    if (dladdr(address, &place) == 0)
        return NULL;
    pthread_mutex_lock(&mutex);
    for (size_t i = 0; i < library_count && found == NULL; i++)
        if (libraries[i].base == place.dli_fbase)
            found = &libraries[i];
    pthread_mutex_unlock(&mutex);
    if (found != NULL)
        return found;
    library made = {.base = place.dli_fbase};
    void *handle = dlopen(place.dli_fname, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);
    const bool is_whole = handle != NULL && find_functions(&made, handle);
    if (handle != NULL)
        dlclose(handle);
    pthread_mutex_lock(&mutex);
    if (is_whole && library_count < MOST_LIBRARIES) {
        libraries[library_count] = made;
        found = &libraries[library_count++];
    }
    pthread_mutex_unlock(&mutex);
    return found;
}

/* --- programs --- */

static program *find_program(rs_word handle)
{
    pthread_mutex_lock(&mutex);
    program *one = programs;
    while (one != NULL && one->handle != handle)
        one = one->next;
    pthread_mutex_unlock(&mutex);
    return one;
}

static void free_program(program *one)
{
    if (one->beside != 0)
        one->of->nvrtcDestroyProgram(&one->beside);
    clear(&one->headers);
    clear(&one->header_names);
    clear(&one->names);
    clear(&one->options);
    free(one->source);
    free(one->name);
    free(one->description);
    free(one);
}

static bool is_wanted(void)
{
    return rs_the_layer()->settings.policy != RS_POLICY_OFF &&
           rs_the_layer()->rewriter.path != NULL && !rs_cuda_is_frozen();
}

/* (program, source, name, number of headers, headers, their names) */
static rs_word create(const rs_entry *entry, rs_word *w)
{
    const rs_word result = rs_entry_call(entry, w);
    const char *source = (const char *)w[1], *name = (const char *)w[2];
    const char *const *headers = (const char *const *)w[4], *const *names =
                                                                (const char *const *)w[5];
    if ((int)result != DONE || source == NULL || !is_wanted())
        return result;
    program *made = calloc(1, sizeof *made);
    if (made == NULL)
        return result;
    made->handle = *(rs_word *)w[0];
    made->of = library_of(entry->function);
    made->source = strdup(source);
    made->name = strdup(name != NULL && name[0] != '\0' ? name : "default_program");
    bool is_whole = made->of != NULL && made->source != NULL && made->name != NULL;
    for (int i = 0; i < (int)w[3] && is_whole; i++)
        is_whole = add(&made->headers, headers[i]) && add(&made->header_names, names[i]);
    if (!is_whole) {
        free_program(made);
        return result;
    }
    pthread_mutex_lock(&mutex);
    made->next = programs;
    programs = made;
    pthread_mutex_unlock(&mutex);
    return result;
}

static rs_word add_name(const rs_entry *entry, rs_word *w)
{
    const rs_word result = rs_entry_call(entry, w);
    program *one = (int)result == DONE ? find_program(w[0]) : NULL;
    if (one != NULL && !add(&one->names, (const char *)w[1]))
        one->is_tried = true;
    return result;
}

/* (program, number of options, options) */
static rs_word compile(const rs_entry *entry, rs_word *w)
{
    const rs_word result = rs_entry_call(entry, w);
    const char *const *options = (const char *const *)w[2];
    program *one = (int)result == DONE ? find_program(w[0]) : NULL;
    if (one == NULL || one->is_compiled)
        return result;
    one->is_compiled = true;
    for (int i = 0; i < (int)w[1]; i++)
        if (!add(&one->options, options[i]))
            one->is_tried = true;
    return result;
}

static rs_word destroy(const rs_entry *entry, rs_word *w)
{
    const rs_word handle = w[0] != 0 ? *(rs_word *)w[0] : 0;
    program *found = NULL;
    pthread_mutex_lock(&mutex);
    for (program **at = &programs; *at != NULL && found == NULL;)
        if ((*at)->handle == handle) {
            found = *at;
            *at = found->next;
        } else {
            at = &(*at)->next;
        }
    pthread_mutex_unlock(&mutex);
    if (found != NULL)
        free_program(found);
    return rs_entry_call(entry, w);
}

/* --- companions --- */

/* Whether its text may have an array of structures. NVRTC's own macro would be another one's to the
 * rewriter. */
static bool may_have_structures(const program *one)
{
    static const char *const words[] = {"struct", "class", "union"};
    bool found = false;
    if (strstr(one->source, "__global__") == NULL || strstr(one->source, "__CUDACC_RTC__") != NULL)
        return false;
    for (size_t i = 0; i < sizeof words / sizeof words[0] && !found; i++) {
        found = strstr(one->source, words[i]) != NULL;
        for (size_t k = 0; k < one->headers.count && !found; k++)
            found = strstr(one->headers.at[k], words[i]) != NULL;
    }
    return found;
}

/* The program's options for the rewriter, with folders for headers that are in memory. */
static json_t *options_of(const program *one)
{
    json_t *options = json_array();
    for (size_t i = 0; i < one->options.count; i++)
        json_array_append_new(options, json_string(one->options.at[i]));
    for (size_t i = 0; i < one->headers.count; i++) {
        const char *name = one->header_names.at[i];
        char *path =
            strchr(name, '/') != NULL || name[0] == '\0'
                ? NULL
                : rs_store_put("headers", name, one->headers.at[i], strlen(one->headers.at[i]));
        if (path == NULL) {
            json_decref(options);
            return NULL;
        }
        path[strlen(path) - strlen(name) - 1] = '\0';
        json_array_append_new(options, json_sprintf("-I%s", path));
        free(path);
    }
    return options;
}

static json_t *ask(const program *one)
{
    json_t *names = json_array(), *options = options_of(one), *reply = NULL;
    for (size_t i = 0; i < one->names.count; i++)
        json_array_append_new(names, json_string(one->names.at[i]));
    json_t *request = options == NULL
                          ? NULL
                          : json_pack("{s:s, s:s, s:{s:O, s:I, s:O}}", "source", one->source,
                                      "file", one->name, "companion", "options", options, "tile",
                                      (json_int_t)rs_the_layer()->settings.tile, "names", names);
    if (request != NULL)
        (void)rs_rewriter_ask(&rs_the_layer()->rewriter, request, false, &reply);
    json_decref(request);
    json_decref(options);
    json_decref(names);
    return reply;
}

/* Whether NVRTC gives the second forms the names that are described. */
static bool is_as_described(const program *one, const json_t *reply)
{
    static const char *const kinds[] = {"full", "ragged", "full_large", "ragged_large"};
    const json_t *names = json_object_get(reply, "names");
    size_t i;
    json_t *kernel;
    bool is_same = true;
    json_array_foreach(json_object_get(json_object_get(reply, "forms"), "kernels"), i, kernel)
    {
        for (size_t k = 0; k < RS_FORM_KINDS && is_same; k++) {
            const char *name = json_string_value(json_array_get(names, i * RS_FORM_KINDS + k)),
                       *wanted = rs_json_string_of(json_object_get(kernel, "second"), kinds[k]),
                       *lowered = NULL;
            is_same = name != NULL && wanted != NULL &&
                      one->of->nvrtcGetLoweredName(one->beside, name, &lowered) == DONE;
            char *a = is_same ? rs_name_plain(lowered) : NULL,
                 *b = is_same ? rs_name_plain(wanted) : NULL;
            is_same = a != NULL && b != NULL && strcmp(a, b) == 0;
            free(a);
            free(b);
        }
    }
    return is_same;
}

static bool compile_companion(program *one, const json_t *reply)
{
    const library *of = one->of;
    const json_t *names = json_object_get(reply, "names");
    int code = of->nvrtcCreateProgram(&one->beside, rs_json_string_of(reply, "source"), one->name,
                                      (int)one->headers.count, (const char *const *)one->headers.at,
                                      (const char *const *)one->header_names.at);
    if (code != DONE) {
        one->beside = 0;
        return false;
    }
    for (size_t i = 0; i < one->names.count && code == DONE; i++)
        code = of->nvrtcAddNameExpression(one->beside, one->names.at[i]);
    for (size_t i = 0; i < json_array_size(names) && code == DONE; i++)
        code = of->nvrtcAddNameExpression(one->beside, json_string_value(json_array_get(names, i)));
    if (code == DONE)
        code = of->nvrtcCompileProgram(one->beside, (int)one->options.count,
                                       (const char *const *)one->options.at);
    return code == DONE && is_as_described(one, reply);
}

static void make_companion(program *one)
{
    one->is_tried = true;
    if (!may_have_structures(one))
        return;
    json_t *reply = ask(one);
    const json_t *forms = json_object_get(reply, "forms");
    if (forms != NULL && rs_json_string_of(reply, "source") != NULL) {
        one->description = json_dumps(forms, JSON_COMPACT);
        if (one->description == NULL || !compile_companion(one, reply)) {
            if (one->beside != 0)
                one->of->nvrtcDestroyProgram(&one->beside);
            one->beside = 0;
            rs_log(RS_LOG_INFO, "%s: NVRTC does not compile the second forms", one->name);
        }
    }
    json_decref(reply);
}

/* --- images --- */

static void keep_image(program *one, const void *image, int (*size_of)(rs_word, size_t *),
                       int (*get)(rs_word, char *))
{
    size_t size, other_size;
    if (one == NULL || !one->is_compiled)
        return;
    if (!one->is_tried)
        make_companion(one);
    if (one->beside == 0 || size_of(one->handle, &size) != DONE ||
        size_of(one->beside, &other_size) != DONE)
        return;
    char *other = malloc(other_size + 1);
    if (other != NULL && get(one->beside, other) == DONE &&
        rs_image_keep(image, size, other, other_size, one->description) != RESTRIDE_OK)
        rs_log(RS_LOG_INFO, "%s: %s", one->name, restride_last_error());
    free(other);
}

static rs_word get_ptx(const rs_entry *entry, rs_word *w)
{
    const rs_word result = rs_entry_call(entry, w);
    program *one = (int)result == DONE ? find_program(w[0]) : NULL;
    if (one != NULL)
        keep_image(one, (const void *)w[1], one->of->nvrtcGetPTXSize, one->of->nvrtcGetPTX);
    return result;
}

static rs_word get_cubin(const rs_entry *entry, rs_word *w)
{
    const rs_word result = rs_entry_call(entry, w);
    program *one = (int)result == DONE ? find_program(w[0]) : NULL;
    if (one != NULL)
        keep_image(one, (const void *)w[1], one->of->nvrtcGetCUBINSize, one->of->nvrtcGetCUBIN);
    return result;
}

const rs_entry_kind *rs_nvrtc_kind(const char *name)
{
    static const rs_entry_kind kinds[] = {
        {"nvrtcCreateProgram", "*", create, 0, -1, -1},
        {"nvrtcAddNameExpression", "*", add_name, 0, -1, -1},
        {"nvrtcCompileProgram", "*", compile, 0, -1, -1},
        {"nvrtcGetPTX", "*", get_ptx, 0, -1, -1},
        {"nvrtcGetCUBIN", "*", get_cubin, 0, -1, -1},
        {"nvrtcDestroyProgram", "*", destroy, 0, -1, -1},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

/* --- modules --- */

typedef struct loaded {
    struct loaded *next;
    void *handle; /* of a module or of a library */
    bool is_library;
    const rs_forms *forms;
} loaded;

static loaded *all_loaded;

rs_word rs_follow_load(const rs_entry *entry, rs_word *w)
{
    const rs_image *image = is_wanted() ? rs_image_find((const void *)w[1]) : NULL;
    loaded *added = image != NULL ? calloc(1, sizeof *added) : NULL;
    if (added == NULL)
        return rs_entry_call(entry, w);
    rs_word changed[RS_CUDA_WORDS];
    memcpy(changed, w, sizeof changed);
    changed[1] = (rs_word)image->bytes;
    if ((rs_cuda_result)rs_entry_call(entry, changed) != RS_CUDA_SUCCESS) {
        free(added);
        return rs_entry_call(entry, w);
    }
    *added = (loaded){.handle = *(void **)w[0],
                      .is_library = strncmp(entry->kind->name, "cuLibrary", 9) == 0,
                      .forms = &image->forms};
    pthread_mutex_lock(&mutex);
    added->next = all_loaded;
    all_loaded = added;
    pthread_mutex_unlock(&mutex);
    return RS_CUDA_SUCCESS;
}

const rs_forms *rs_nvrtc_forms_of(rs_cuda_module module)
{
    const rs_forms *found = NULL;
    pthread_mutex_lock(&mutex);
    for (const loaded *one = all_loaded; one != NULL && found == NULL; one = one->next) {
        rs_cuda_module own = NULL;
        if (one->is_library && rs_cuda.more.cuLibraryGetModule != NULL &&
            rs_cuda.more.cuLibraryGetModule(&own, one->handle) == RS_CUDA_SUCCESS && own == module)
            found = one->forms;
        if (!one->is_library && one->handle == (void *)module)
            found = one->forms;
    }
    pthread_mutex_unlock(&mutex);
    return found;
}

void rs_nvrtc_forget(const void *handle)
{
    pthread_mutex_lock(&mutex);
    for (loaded **at = &all_loaded; *at != NULL;) {
        loaded *one = *at;
        if (one->handle != handle) {
            at = &one->next;
            continue;
        }
        *at = one->next;
        free(one);
    }
    pthread_mutex_unlock(&mutex);
}
