/* From a source to its kernels: every loop nest on its own. */
#include "apply/apply.h"

#include "analyze/analyze.h"
#include "analyze/dependence.h"
#include "apply/describe.h"
#include "apply/nest_read.h"
#include "apply/values.h"
#include "source/query.h"
#ifdef RESTRIDE_HAVE_SIM
#include "apply/predict.h"
#endif

#include <stdlib.h>
#include <string.h>

enum { USUAL_SIZE = 1 << 20, USUAL_MEMORY = 8192 };

typedef struct {
    const char *along;
    int width;
    bool spaces; /* to place arrays, not to make vectors */
    rs_device_model device;
    const json_t *given, *elements; /* parameters; of arrays that are read at random */
    int64_t size, memory;           /* the most of other parameters; bytes of all arrays */
    rs_translation_unit program;
    rs_model_set set;
    rs_text source;
    json_t *nests;
} application;

static int find_function(const rs_tree *tree, const rs_unit *unit)
{
    for (int i = 1; i < tree->node_count; i++) {
        if (tree->nodes[i].is != RS_NODE_FUNCTION || rs_node_body(tree, i) < 0)
            continue;
        if (strcmp(tree->nodes[i].name, unit->name) == 0)
            return i;
    }
    return -1;
}

static restride_status make_vectors(const application *a, rs_kernels *kernels, rs_copies *copies,
                                    rs_text *source)
{
    restride_status status = RESTRIDE_OK;
    for (bool again = true; status == RESTRIDE_OK && again;) {
        rs_copies_free(copies);
        status = rs_copies_find(copies, kernels->nest, a->width);
        if (status == RESTRIDE_OK)
            status = rs_kernels_write(kernels, source);
        again = kernels->nest->refusal != NULL && a->along == NULL && rs_nest_retry(kernels->nest);
    }
    return status;
}

static restride_status place_arrays(const application *a, const rs_kernels *kernels,
                                    rs_spaces *spaces, rs_text *source)
{
    restride_status status = rs_spaces_choose(spaces, kernels, &a->device);
    return status == RESTRIDE_OK && kernels->nest->refusal == NULL
               ? rs_spaces_write(spaces, kernels, source)
               : status;
}

/* Sizes of arrays that only the user knows; what a nest says of an array of the same name stays. */
static void set_elements(const application *a, const json_t *entry)
{
    size_t i;
    json_t *parameter;
    json_array_foreach(json_object_get(entry, "parameters"), i, parameter)
    {
        json_t *given =
            json_object_get(a->elements, json_string_value(json_object_get(parameter, "name")));
        if (given != NULL && json_is_null(json_object_get(parameter, "sizes")))
            json_object_set_new(parameter, "sizes",
                                json_pack("[{s:[[O]], s:i}]", "terms", given, "divisor", 1));
    }
}

#ifdef RESTRIDE_HAVE_SIM
/* Adds "predicted"; where no values fit the nest, without it. */
static restride_status predict(const application *a, const rs_kernels *kernels,
                               const rs_spaces *spaces, json_t *entry)
{
    rs_values values;
    rs_prediction prediction;
    if (rs_values_choose(&values, entry, a->given, a->size, (size_t)a->memory << 20) != RESTRIDE_OK)
        return RESTRIDE_OK;
    restride_status status = rs_predict(&prediction, kernels, spaces, entry, &values);
    if (status == RESTRIDE_OK)
        json_object_set_new(entry, "predicted",
                            json_pack("{s:f, s:f, s:s, s:s}", "threads", prediction.threads,
                                      "changed", prediction.changed, "threads_bound",
                                      prediction.bound_threads, "changed_bound",
                                      prediction.bound_changed));
    return status;
}
#endif

static restride_status report_nest(application *a, const rs_kernels *kernels,
                                   const rs_spaces *spaces)
{
    json_t *entry = rs_describe_nest(kernels, spaces);
    restride_status status = RESTRIDE_OK;
    set_elements(a, entry);
#ifdef RESTRIDE_HAVE_SIM
    if (kernels->nest->refusal == NULL)
        status = predict(a, kernels, spaces, entry);
#endif
    return json_array_append_new(a->nests, entry) == 0 ? status
                                                       : rs_fail_memory("the report of a nest");
}

/* Changes one nest; `number` is 0 where the function has no other. */
static restride_status apply_nest(application *a, const rs_accesses *accesses, int function,
                                  int node, int number)
{
    rs_nest nest;
    rs_copies copies = {NULL, NULL, NULL, 0};
    rs_spaces spaces = {NULL, {1, 1, 1}, -1, false};
    rs_text name = RS_TEXT_EMPTY;
    rs_text_format(&name, number > 0 ? "%s_%d" : "%s", accesses->unit->name, number);
    restride_status status = name.failed ? rs_fail_memory("a name")
                                         : rs_nest_read(&nest, &a->program, accesses, function,
                                                        node, a->along, a->spaces);
    rs_kernels kernels = {&nest, &copies, name.data, a->width, {{NULL, NULL, 0}}, 0};
    if (status != RESTRIDE_OK) {
        rs_text_free(&name);
        return status;
    }
    if (nest.refusal == NULL)
        status = rs_kernels_prepare(&kernels);
    if (status == RESTRIDE_OK && nest.refusal == NULL)
        status = a->spaces ? place_arrays(a, &kernels, &spaces, &a->source)
                           : make_vectors(a, &kernels, &copies, &a->source);
    if (status == RESTRIDE_OK)
        status = report_nest(a, &kernels, a->spaces ? &spaces : NULL);
    rs_kernels_free(&kernels);
    rs_copies_free(&copies);
    rs_spaces_free(&spaces);
    rs_nest_free(&nest);
    rs_text_free(&name);
    return status;
}

static restride_status apply_unit(application *a, rs_unit *unit)
{
    const rs_tree *tree = &a->program.tree;
    const int function = find_function(tree, unit);
    const int body = function < 0 ? -1 : rs_node_body(tree, function);
    int nests = 0, number = 0;
    rs_accesses accesses = {unit, NULL, NULL};
    restride_status status = rs_accesses_make(&accesses, unit, NULL);
    for (int child = body < 0 ? -1 : tree->nodes[body].first; child >= 0;
         child = tree->nodes[child].next)
        nests += tree->nodes[child].is == RS_NODE_FOR;
    for (int child = body < 0 ? -1 : tree->nodes[body].first; child >= 0 && status == RESTRIDE_OK;
         child = tree->nodes[child].next)
        if (tree->nodes[child].is == RS_NODE_FOR)
            status = apply_nest(a, &accesses, function, child, nests > 1 ? ++number : 0);
    rs_accesses_free(&accesses);
    return status;
}

static restride_status read_request(const json_t *request, application *a,
                                    rs_program_request *wanted)
{
    const json_t *width = json_object_get(request, "width");
    a->along = json_string_value(json_object_get(request, "along"));
    const char *apply = json_string_value(json_object_get(request, "apply"));
    const json_t *constant = json_object_get(request, "constant");
    const json_t *size = json_object_get(request, "size"),
                 *memory = json_object_get(request, "memory");
    a->given = json_object_get(request, "set");
    a->elements = json_object_get(request, "elements");
    a->size = size == NULL ? USUAL_SIZE : json_integer_value(size);
    a->memory = memory == NULL ? USUAL_MEMORY : json_integer_value(memory);
    a->device = RS_DEVICE_USUAL;
    if (json_is_integer(constant))
        a->device.constant_size = json_integer_value(constant);
    a->spaces = apply != NULL && strcmp(apply, "memory") == 0;
    a->width = width == NULL ? 4 : (int)json_integer_value(width);
    const restride_status status = rs_analyze_read_source(request, wanted);
    if (status != RESTRIDE_OK)
        return status;
    if (apply == NULL || (!a->spaces && strcmp(apply, "vector") != 0))
        return rs_fail(RESTRIDE_INVALID_ARGUMENT, "\"vector\" or \"memory\" can be applied.");
    if (a->width != 2 && a->width != 4 && a->width != 8 && a->width != 16)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT, "A vector has 2, 4, 8 or 16 elements.");
    return RESTRIDE_OK;
}

/* Kernels have no loop whose iterations become work-items: they are work-items. */
static restride_status refuse_kernels(const application *a, const char *file)
{
    for (int i = 0; i < a->set.unit_count; i++)
        if (a->set.units[i].kernel)
            return rs_fail(RESTRIDE_UNSUPPORTED,
                           "%s:%d: %s is a kernel, whose work-items are threads already; only loop "
                           "nests of C are transformed.",
                           file, a->set.units[i].line, a->set.units[i].name);
    return rs_fail(RESTRIDE_UNSUPPORTED, "%s: only loop nests of C are transformed.", file);
}

restride_status rs_apply(const json_t *request, json_t **reply)
{
    static const char *const languages[] = {"C", "OpenCL C", "CUDA C"};
    application a;
    rs_program_request wanted;
    memset(&a, 0, sizeof a);
    a.nests = json_array();
    restride_status status = read_request(request, &a, &wanted);
    if (status == RESTRIDE_OK)
        status = rs_program_read(&a.program, &wanted, &a.set);
    if (status == RESTRIDE_OK && a.program.readable)
        status = rs_walk_program(&a.program, &a.set);
    if (status == RESTRIDE_OK && wanted.language != RS_LANGUAGE_C)
        status = refuse_kernels(&a, wanted.file);
    if (status == RESTRIDE_OK && a.program.readable)
        status = rs_kernels_write_head(&a.source, &a.program, wanted.file);
    size_t head = a.source.size;
    for (int i = 0; i < a.set.unit_count && status == RESTRIDE_OK; i++)
        status = apply_unit(&a, &a.set.units[i]);
    rs_kernels_indent(&a.source, head);
    if (status == RESTRIDE_OK) {
        *reply = json_pack("{s:s, s:s, s:b, s:s, s:i, s:o, s:s, s:O}", "file", wanted.file,
                           "language", languages[wanted.language], "readable", a.program.readable,
                           "apply", a.spaces ? "memory" : "vector", "width", a.width, "notes",
                           rs_analyze_notes(&a.set), "source",
                           a.source.data != NULL ? a.source.data : "", "nests", a.nests);
        status = *reply == NULL ? rs_fail_memory("the report") : RESTRIDE_OK;
    }
    json_decref(a.nests);
    rs_text_free(&a.source);
    rs_model_set_free(&a.set);
    rs_program_free(&a.program);
    return status;
}
