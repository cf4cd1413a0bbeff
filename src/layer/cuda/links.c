/* See links.h. */
#include "layer/cuda/links.h"

#include "base/library.h"
#include "base/list.h"
#include "base/log.h"
#include "layer/cuda/images.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { DONE = 0 };

/* What was added: bytes, or the name of a file. */
typedef struct {
    int type;
    void *bytes; /* NULL: a file's */
    size_t size;
    char *name;
    const rs_image *image; /* with second forms, in its place; NULL: there is none */
} input;

typedef struct link_record {
    struct link_record *next;
    rs_word handle;
    const void *function; /* of the library */
    char **options;
    size_t option_count;
    input *inputs;
    size_t input_count;
    bool is_left; /* the linked image is the program's own */
} link_record;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* nvJitLink is not called with it */
static link_record *links;

/* --- records --- */

static void free_link(link_record *one)
{
    for (size_t i = 0; i < one->option_count; i++)
        free(one->options[i]);
    for (size_t i = 0; i < one->input_count; i++) {
        free(one->inputs[i].bytes);
        free(one->inputs[i].name);
    }
    free(one->options);
    free(one->inputs);
    free(one);
}

static link_record *find_link(rs_word handle)
{
    pthread_mutex_lock(&mutex);
    link_record *one = links;
    while (one != NULL && one->handle != handle)
        one = one->next;
    pthread_mutex_unlock(&mutex);
    return one;
}

static link_record *take_out(rs_word handle)
{
    link_record *found = NULL;
    pthread_mutex_lock(&mutex);
    for (link_record **at = &links; *at != NULL && found == NULL;)
        if ((*at)->handle == handle) {
            found = *at;
            *at = found->next;
        } else {
            at = &(*at)->next;
        }
    pthread_mutex_unlock(&mutex);
    return found;
}

static bool add_option(link_record *to, const char *text)
{
    if (!RS_LIST_GROW(to->options, to->option_count))
        return false;
    char *copy = strdup(text);
    to->options[to->option_count] = copy;
    to->option_count += copy != NULL;
    return copy != NULL;
}

static input *add_input(link_record *to, int type, const char *name)
{
    if (!RS_LIST_GROW(to->inputs, to->input_count))
        return NULL;
    input *added = &to->inputs[to->input_count++];
    *added = (input){.type = type, .name = strdup(name != NULL ? name : "")};
    return added->name != NULL ? added : NULL;
}

/* --- the program's calls --- */

static bool is_wanted(void)
{
    return rs_the_layer()->settings.policy != RS_POLICY_OFF && !rs_cuda_is_frozen();
}

/* (handle, number of options, options) */
static rs_word create(const rs_entry *entry, rs_word *w)
{
    const rs_word result = rs_entry_call(entry, w);
    const char *const *options = (const char *const *)w[2];
    link_record *made = (int)result == DONE && is_wanted() ? calloc(1, sizeof *made) : NULL;
    if (made == NULL)
        return result;
    made->handle = *(rs_word *)w[0];
    memcpy(&made->function, &entry->function, sizeof made->function);
    for (unsigned i = 0; i < (unsigned)w[1] && !made->is_left; i++)
        made->is_left = strncmp(options[i], "-lto", 4) == 0 || !add_option(made, options[i]);
    pthread_mutex_lock(&mutex);
    made->next = links;
    links = made;
    pthread_mutex_unlock(&mutex);
    return result;
}

/* (handle, type, bytes, size, name). PTX ends behind its last byte, or there. */
static rs_word add_bytes(const rs_entry *entry, rs_word *w)
{
    const rs_word result = rs_entry_call(entry, w);
    link_record *one = (int)result == DONE ? find_link(w[0]) : NULL;
    const size_t size = (size_t)w[3];
    if (one == NULL || one->is_left)
        return result;
    input *added = add_input(one, (int)w[1], (const char *)w[4]);
    char *bytes = added != NULL ? malloc(size + 1) : NULL;
    one->is_left = bytes == NULL;
    if (bytes == NULL)
        return result;
    memcpy(bytes, (const void *)w[2], size);
    bytes[size] = '\0';
    added->bytes = bytes;
    added->size = size;
    if (rs_image_size_within(bytes, size) > 0)
        added->image = rs_image_find(bytes);
    return result;
}

/* (handle, type, name) */
static rs_word add_file(const rs_entry *entry, rs_word *w)
{
    const rs_word result = rs_entry_call(entry, w);
    link_record *one = (int)result == DONE ? find_link(w[0]) : NULL;
    if (one != NULL && add_input(one, (int)w[1], (const char *)w[2]) == NULL)
        one->is_left = true;
    return result;
}

static rs_word destroy(const rs_entry *entry, rs_word *w)
{
    link_record *found = w[0] != 0 ? take_out(*(rs_word *)w[0]) : NULL;
    if (found != NULL)
        free_link(found);
    return rs_entry_call(entry, w);
}

/* --- the other link --- */

typedef struct {
    int (*nvJitLinkCreate)(rs_word *handle, unsigned count, const char **options);
    int (*nvJitLinkAddData)(rs_word handle, int type, const void *bytes, size_t size,
                            const char *name);
    int (*nvJitLinkAddFile)(rs_word handle, int type, const char *name);
    int (*nvJitLinkComplete)(rs_word handle);
    int (*nvJitLinkGetLinkedCubinSize)(rs_word handle, size_t *size);
    int (*nvJitLinkGetLinkedCubin)(rs_word handle, void *cubin);
    int (*nvJitLinkDestroy)(rs_word *handle);
} library;

static bool find_library(library *of, const void *function)
{
#define NVJITLINK(function) RS_LIBRARY_FUNCTION(library, function)
    static const rs_library_function functions[] = {
        NVJITLINK(nvJitLinkCreate),
        NVJITLINK(nvJitLinkAddData),
        NVJITLINK(nvJitLinkAddFile),
        NVJITLINK(nvJitLinkComplete),
        NVJITLINK(nvJitLinkGetLinkedCubinSize),
        NVJITLINK(nvJitLinkGetLinkedCubin),
        NVJITLINK(nvJitLinkDestroy),
    };
    Dl_info place;
    void *handle = dladdr(function, &place) != 0
                       ? dlopen(place.dli_fname, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD)
                       : NULL;
    const bool is_whole =
        handle != NULL &&
        rs_library_find(handle, functions, sizeof functions / sizeof functions[0], of) == NULL;
    if (handle != NULL)
        dlclose(handle);
    return is_whole;
}

/* Descriptions of several sources have several witnesses: one is linked with others' code. */
static const rs_image *only_image(const link_record *one)
{
    const rs_image *found = NULL;
    for (size_t i = 0; i < one->input_count; i++) {
        if (one->inputs[i].image != NULL && found != NULL)
            return NULL;
        if (one->inputs[i].image != NULL)
            found = one->inputs[i].image;
    }
    return found;
}

/* The linked image with second forms; the caller frees it. */
static void *link_beside(const link_record *one, const library *of, size_t *size)
{
    rs_word handle = 0;
    char *cubin = NULL;
    int code =
        of->nvJitLinkCreate(&handle, (unsigned)one->option_count, (const char **)one->options);
    for (size_t i = 0; i < one->input_count && code == DONE; i++) {
        const input *in = &one->inputs[i];
        if (in->bytes == NULL)
            code = of->nvJitLinkAddFile(handle, in->type, in->name);
        else
            code = of->nvJitLinkAddData(handle, in->type,
                                        in->image != NULL ? in->image->bytes : in->bytes,
                                        in->image != NULL ? in->image->size : in->size, in->name);
    }
    if (code == DONE)
        code = of->nvJitLinkComplete(handle);
    if (code == DONE)
        code = of->nvJitLinkGetLinkedCubinSize(handle, size);
    if (code == DONE)
        cubin = malloc(*size);
    if (cubin != NULL && of->nvJitLinkGetLinkedCubin(handle, cubin) != DONE) {
        free(cubin);
        cubin = NULL;
    }
    if (handle != 0)
        of->nvJitLinkDestroy(&handle);
    return cubin;
}

/* (handle, cubin) */
static rs_word get_cubin(const rs_entry *entry, rs_word *w)
{
    const rs_word result = rs_entry_call(entry, w);
    link_record *one = (int)result == DONE ? find_link(w[0]) : NULL;
    const rs_image *image = one != NULL && !one->is_left ? only_image(one) : NULL;
    library of;
    size_t size, other_size;
    if (image == NULL || !find_library(&of, one->function) ||
        of.nvJitLinkGetLinkedCubinSize(one->handle, &size) != DONE)
        return result;
    one->is_left = true; /* once is enough */
    void *other = link_beside(one, &of, &other_size);
    if (other == NULL)
        rs_log(RS_LOG_INFO, "nvJitLink does not link the second forms");
    else if (rs_image_keep((const void *)w[1], size, other, other_size, image->description) !=
             RESTRIDE_OK)
        rs_log(RS_LOG_INFO, "a linked image: %s", restride_last_error());
    free(other);
    return result;
}

const rs_entry_kind *rs_link_kind(const char *name)
{
    static const rs_entry_kind kinds[] = {
        {"nvJitLinkCreate", "*", create, 0, -1, -1},
        {"nvJitLinkAddData", "*", add_bytes, 0, -1, -1},
        {"nvJitLinkAddFile", "*", add_file, 0, -1, -1},
        {"nvJitLinkGetLinkedCubin", "*", get_cubin, 0, -1, -1},
        {"nvJitLinkDestroy", "*", destroy, 0, -1, -1},
    };
    const char *own = strncmp(name, "__", 2) == 0 ? name + 2 : name;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        const size_t length = strlen(kinds[i].name);
        if (strncmp(own, kinds[i].name, length) == 0 &&
            (own[length] == '\0' || (own != name && own[length] == '_')))
            return &kinds[i];
    }
    return NULL;
}
