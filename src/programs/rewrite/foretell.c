/* Foretelling gains of rewritten kernels: see foretell.h. */
#include "programs/rewrite/foretell.h"

#include "base/child.h"
#include "base/json.h"
#include "console/page.h"
#include "programs/rewrite/judgement.h"

#include <stdlib.h>
#include <string.h>

enum { SECONDS = 10, WIDEST = 16 };

static bool is_transformed(const json_t *argument)
{
    return strcmp(rs_page_string(argument, "status"), "transformed") == 0;
}

static rs_judge_layout layout_of(const json_t *argument)
{
    return (rs_judge_layout){.tile = (int)rs_json_integer_of(argument, "tile"), .group = 1};
}

static long long count_of(const json_t *argument, const char *pattern)
{
    return rs_json_integer_of(json_object_get(json_object_get(argument, "access"), "accesses"),
                              pattern);
}

/* ---- by what the rewriter saw ---- */

/* Whether all transformed arguments are used by neighbours side by side; false too where one was in
 * another layout before. */
static bool is_sure(const json_t *kernel)
{
    size_t i;
    json_t *argument;
    json_array_foreach(json_object_get(kernel, "arguments"), i, argument)
    {
        if (is_transformed(argument) &&
            (count_of(argument, "unit") == 0 || count_of(argument, "uniform") > 0 ||
             count_of(argument, "strided") > 0 || count_of(argument, "other") > 0))
            return false;
    }
    return true;
}

/* What a letter of access.members says. */
static bool is_member_of(char letter, const rs_judge_argument *use)
{
    return letter == 'b' || (letter == 'r' && use->reads) || (letter == 'w' && use->writes);
}

/* The members that are read, or written, or both. */
static void add_use(rs_judge_question *asked, const json_t *argument, bool reads, bool writes)
{
    const json_t *record = json_object_get(argument, "record");
    const char *members = rs_page_string(json_object_get(argument, "access"), "members");
    const size_t length = strlen(members);
    const int k = asked->kernel.argument_count;
    size_t i;
    json_t *leaf;
    if (k == RS_JUDGE_MOST_ARGUMENTS)
        return;
    rs_judge_argument *a = &asked->kernel.arguments[k];
    *a = (rs_judge_argument){.name = rs_page_string(argument, "name"),
                             .element = (int)rs_json_integer_of(record, "size"),
                             .lanes = RS_LANES_ONE,
                             .group = 1,
                             .visits = 1,
                             .reads = reads,
                             .writes = writes};
    a->continues = k > 0 && a->name == asked->kernel.arguments[k - 1].name;
    asked->layouts[k] = layout_of(argument);
    json_array_foreach(json_object_get(record, "leaves"), i, leaf)
    {
        const int offset = (int)rs_json_integer_of(leaf, "offset");
        const int size = (int)rs_json_integer_of(leaf, "size");
        for (int at = 0; i < length && is_member_of(members[i], a) && at < size &&
                         a->field_count < RS_JUDGE_MOST_FIELDS;
             at += WIDEST)
            a->fields[a->field_count++] =
                (rs_judge_field){offset + at, size - at < WIDEST ? size - at : WIDEST};
    }
    asked->kernel.argument_count += a->field_count > 0;
}

static void ask_by_reply(rs_judge_question *asked, const json_t *kernel)
{
    size_t i;
    json_t *argument;
    *asked = (rs_judge_question){.kernel = {.name = rs_page_string(kernel, "name")}};
    json_array_foreach(json_object_get(kernel, "arguments"), i, argument)
    {
        const char *members = rs_page_string(json_object_get(argument, "access"), "members");
        const bool is_alike = strpbrk(members, "rw") == NULL;
        if (!is_transformed(argument))
            continue;
        add_use(asked, argument, true, is_alike);
        if (!is_alike)
            add_use(asked, argument, false, true);
    }
}

/* ---- by the tree ---- */

/* Whether the tree knows what the kernel does with each transformed argument. */
static bool ask_by_facts(rs_judge_question *asked, rs_fact_accesses *facts, const json_t *kernel)
{
    rs_judge_change changes[RS_JUDGE_MOST_ARGUMENTS];
    size_t count = 0, i;
    json_t *argument;
    json_array_foreach(json_object_get(kernel, "arguments"), i, argument)
    {
        if (!is_transformed(argument))
            continue;
        if (count == RS_JUDGE_MOST_ARGUMENTS)
            return false;
        changes[count++] = (rs_judge_change){
            rs_page_string(argument, "name"),
            rs_json_integer_of(json_object_get(argument, "record"), "size"), layout_of(argument)};
    }
    return rs_question_ask(asked, facts, changes, count);
}

typedef struct {
    const json_t *request, *kernels;
} reading;

static restride_status answer(const rs_judge_question *asked, json_t **foretold)
{
    double gain;
    const char *reason;
    restride_status status = rs_question_answer(asked, &gain, &reason);
    if (status == RESTRIDE_OK)
        *foretold = json_pack("{s:f, s:s}", "gain", gain, "reason", reason);
    return status;
}

/* Of the kernels that are asked for: their names with what is foretold. */
static restride_status judge_tree(rs_syntax *tree, const json_t *kernels, json_t *all)
{
    restride_status status = RESTRIDE_OK;
    rs_judge_question *asked = malloc(sizeof *asked);
    for (size_t i = 0; asked != NULL && i < tree->declaration_count; i++) {
        const rs_syntax_declaration *of = tree->declarations[i];
        const json_t *kernel = rs_json_named(kernels, of->name);
        rs_fact_accesses facts;
        json_t *foretold = NULL;
        if (status != RESTRIDE_OK || !of->is_kernel || of->kind != RS_DECLARATION_FUNCTION ||
            kernel == NULL)
            continue;
        status = rs_fact_accesses_read(&facts, tree, of);
        if (status != RESTRIDE_OK)
            break;
        if (ask_by_facts(asked, &facts, kernel))
            status = answer(asked, &foretold);
        rs_fact_accesses_free(&facts);
        if (foretold != NULL)
            json_object_set_new(all, of->name, foretold);
    }
    status = asked == NULL ? rs_fail_memory("a judgement") : status;
    free(asked);
    return status;
}

/* The words of an OpenCL program's build options; quotes are left to the rewriter. */
static size_t split_options(char *options, const char *words[], size_t room)
{
    size_t count = 0;
    for (char *word = strtok(options, " \t\n"); word != NULL && count < room;
         word = strtok(NULL, " \t\n"))
        words[count++] = word;
    return count;
}

static restride_status read_and_judge(void *context, rs_text *output)
{
    enum { MOST_OPTIONS = 256 };
    const reading *at = context;
    const char *source = rs_page_string(at->request, "source"), *words[MOST_OPTIONS];
    char *options = strdup(rs_page_string(at->request, "options"));
    rs_invocation invocation;
    rs_syntax *tree = NULL;
    json_t *all = json_object();
    if (options == NULL || all == NULL)
        return rs_fail_memory("a judgement");
    const rs_invocation_request asked = {.path = "/program.cl",
                                         .text = source,
                                         .size = strlen(source),
                                         .language = RS_SYNTAX_OPENCL,
                                         .options = words,
                                         .option_count =
                                             split_options(options, words, MOST_OPTIONS)};
    restride_status status = rs_invocation_make(&invocation, &asked);
    if (status == RESTRIDE_OK)
        status = rs_syntax_read(&tree, &invocation);
    if (status == RESTRIDE_OK && tree->error_count > 0)
        status = rs_fail(RESTRIDE_UNSUPPORTED, "The tree of the source has errors.");
    if (status == RESTRIDE_OK)
        status = judge_tree(tree, at->kernels, all);
    char *dump = status == RESTRIDE_OK ? json_dumps(all, JSON_COMPACT) : NULL;
    rs_text_add_string(output, dump != NULL ? dump : "");
    return status; /* the process ends: nothing needs to be freed */
}

static void foretell_by_tree(const json_t *request, const json_t *kernels)
{
    rs_text text = RS_TEXT_EMPTY;
    const reading at = {request, kernels};
    json_t *all = NULL, *foretold;
    const char *name;
    if (rs_child_do(read_and_judge, (void *)&at, SECONDS, &text) == RESTRIDE_OK && text.size > 0)
        all = json_loadb(text.data, text.size, 0, NULL);
    json_object_foreach(all, name, foretold)
    {
        json_object_set((json_t *)rs_json_named(kernels, name), "foretold", foretold);
    }
    json_decref(all);
    rs_text_free(&text);
}

/* ---- replies ---- */

static bool has_transformed(const json_t *kernel)
{
    size_t i;
    json_t *argument;
    bool has = false;
    json_array_foreach(json_object_get(kernel, "arguments"), i, argument)
    {
        has = has || is_transformed(argument);
        if (json_object_get(argument, "source_layout") != NULL)
            return false; /* it was one array for each field before */
    }
    return has;
}

void rs_foretell(const json_t *request, json_t *reply)
{
    size_t i;
    json_t *kernel, *unsure = json_array();
    rs_judge_question *asked = malloc(sizeof *asked);
    json_array_foreach(json_object_get(reply, "kernels"), i, kernel)
    {
        json_t *foretold = NULL;
        if (asked == NULL || !has_transformed(kernel))
            continue;
        if (!is_sure(kernel)) {
            json_array_append(unsure, kernel);
            continue;
        }
        ask_by_reply(asked, kernel);
        if (answer(asked, &foretold) == RESTRIDE_OK && foretold != NULL)
            json_object_set_new(kernel, "foretold", foretold);
    }
    if (json_array_size(unsure) > 0)
        foretell_by_tree(request, unsure);
    json_decref(unsure);
    free(asked);
}
