/* The contract of rewrite.h: the steps from a request to its reply. */
#include "rewrite/rewrite.h"

#include "base/json.h"
#include "base/text.h"
#include "rewrite/header.h"
#include "rewrite/reorder.h"
#include "rewrite/reply.h"
#include "rewrite/rewriting.h"

#include <stdlib.h>
#include <string.h>

/* "Nothing could be done": the reply is this sentence, and whether the request itself is wrong. */
restride_status rs_reply_error(rs_rewriting *r, const char *sentence, bool bad_request)
{
    return rs_json_add(r->reply, json_pack("{s:o, s:b}", "error", rs_json_string(sentence),
                                           "bad_request", bad_request));
}

/* Why the whole source stays as it is. */
restride_status rs_keep_source(rs_rewriting *r, const char *reason, const char *file, size_t line)
{
    return rs_json_explain(r->reply, reason, file, line);
}

restride_status rs_keep_flat(rs_rewriting *r, size_t offset, const char *reason)
{
    return rs_reply_explain_at(r->reply, reason, &r->flat, offset);
}

static bool any_transformed(const rs_model *model)
{
    for (int i = 0; i < model->argument_count; i++)
        if (model->arguments[i].reason == NULL &&
            rs_argument_kernel(model, &model->arguments[i]) != NULL)
            return true;
    return false;
}

static restride_status refuse_all(rs_rewriting *r)
{
    restride_status status = rs_keep_flat(r, r->tree.failure_offset, r->tree.failure);
    for (int i = 0; i < r->model.argument_count && status == RESTRIDE_OK; i++) {
        r->model.arguments[i].reason_offset = (size_t)-1;
        status = rs_argument_refuse(&r->model.arguments[i], r->tree.failure_offset, "%s",
                                    r->tree.failure);
    }
    return status;
}

static restride_status put_header(rs_rewriting *r)
{
    rs_text header = RS_TEXT_EMPTY;
    restride_status status = rs_header_write(&r->model, r->file, &header);
    if (status == RESTRIDE_OK)
        status = rs_json_put(r->reply, "header", rs_json_string(header.data));
    rs_text_free(&header);
    return status;
}

static restride_status put_source(rs_rewriting *r, const char *source)
{
    json_t *text = json_string(source);
    if (text == NULL)
        return rs_reply_error(r, "A header is not a text in UTF-8.", false);
    return rs_json_add(r->reply, json_pack("{s:o, s:o}", "source", text, "options",
                                           rs_json_string(r->options.rest)));
}

/* References take the place of layouts: a request is about one or the other. */
static restride_status reorder(rs_rewriting *r, const json_t *references, json_t *kernels)
{
    char *source = NULL, *sentence = NULL;
    restride_status status =
        rs_reorder_references(&r->model, references, kernels, &source, &sentence);
    if (status == RESTRIDE_OK && sentence != NULL)
        status = rs_reply_error(r, sentence, true);
    if (status == RESTRIDE_OK && source != NULL)
        status = put_source(r, source);
    free(sentence);
    free(source);
    return status;
}

/* Which arguments get which layout; or, at once, the references that are asked for. */
static restride_status choose_changes(rs_rewriting *r, json_t *kernels, bool *stopped)
{
    r->model.tree = &r->tree;
    r->model.flat = &r->flat;
    r->model.annotations = &r->annotations;
    restride_status status = rs_annotations_evaluate(&r->annotations, &r->tree);
    if (status != RESTRIDE_OK)
        return status;
    r->model.soa = json_is_true(json_object_get(r->request, "soa"));
    r->model.full = json_is_true(json_object_get(r->request, "full"));
    const json_t *bits = json_object_get(r->request, "address_bits");
    r->model.address_bits = bits != NULL ? (int)json_integer_value(bits) : 64;
    status = rs_model_find_functions(&r->model);
    if (status == RESTRIDE_OK && r->tree.failure != NULL)
        status = refuse_all(r);
    const json_t *references = json_object_get(r->request, "references");
    if (status != RESTRIDE_OK || json_object_size(references) == 0)
        return status == RESTRIDE_OK ? rs_set_layouts(r, stopped) : status;
    *stopped = true;
    return r->tree.failure == NULL ? reorder(r, references, kernels) : RESTRIDE_OK;
}

static restride_status put_results(rs_rewriting *r, json_t *kernels, bool header)
{
    char *source = NULL;
    restride_status status = RESTRIDE_OK;
    if (any_transformed(&r->model))
        status = rs_model_render(&r->model, &source);
    if (status == RESTRIDE_OK) /* rendering may have refused some */
        status = rs_reply_describe(&r->model, kernels);
    if (status == RESTRIDE_OK && source != NULL)
        status = put_source(r, source);
    if (status == RESTRIDE_OK && source != NULL && header)
        status = put_header(r);
    free(source);
    return status;
}

static restride_status run(rs_rewriting *r)
{
    bool stopped;
    restride_status status = rs_read_source(r, &stopped);
    json_t *kernels = json_array();
    if (status == RESTRIDE_OK && json_object_get(r->reply, "error") == NULL)
        status = rs_json_put(r->reply, "kernels", json_incref(kernels));
    if (status == RESTRIDE_OK && !stopped && r->tree.unit == NULL) { /* not even parsed */
        stopped = true;
        status = rs_keep_flat(r, r->tree.failure_offset, r->tree.failure);
    }
    if (status == RESTRIDE_OK && !stopped)
        status = choose_changes(r, kernels, &stopped);
    if (status == RESTRIDE_OK && !stopped)
        status = rs_model_find_origins(&r->model);
    if (status == RESTRIDE_OK && !stopped)
        status = rs_model_understand(&r->model);
    if (status == RESTRIDE_OK && !stopped)
        status = rs_model_settle_calls(&r->model);
    const bool header = json_is_true(json_object_get(r->request, "header"));
    if (status == RESTRIDE_OK && !stopped && header)
        status = rs_header_refuse_twins(&r->model);
    if (status == RESTRIDE_OK && !stopped)
        status = rs_model_plan(&r->model);
    if (status == RESTRIDE_OK && !stopped)
        status = put_results(r, kernels, header);
    json_decref(kernels);
    if (status == RESTRIDE_OK && json_object_get(r->reply, "error") != NULL) {
        json_object_del(r->reply, "kernels");
        json_object_del(r->reply, "options");
    }
    return status;
}

static void free_rewriting(rs_rewriting *r)
{
    rs_model_free(&r->model);
    rs_tree_free(&r->tree);
    rs_flat_free(&r->flat);
    rs_options_free(&r->options);
    rs_annotations_free(&r->annotations);
    for (size_t i = 0; i < r->definition_count; i++)
        free(r->definitions[i]);
    free(r->definitions);
}

restride_status rs_rewrite(const json_t *request, json_t **reply)
{
    rs_rewriting r;
    memset(&r, 0, sizeof r);
    *reply = NULL;
    r.request = request;
    r.reply = json_object();
    if (r.reply == NULL)
        return rs_fail_memory("the rewriter's reply");
    restride_status status;
    const char *wrong = rs_request_check(request);
    if (wrong != NULL) {
        status = rs_reply_error(&r, wrong, true);
    } else {
        r.source = rs_request_text(request, "source", "");
        r.file = rs_request_text(request, "file", "kernel.cl");
        status = rs_options_parse(&r.options, rs_request_text(request, "options", ""));
        if (status == RESTRIDE_OK)
            status = rs_request_macros(&r);
        if (status == RESTRIDE_OK)
            status = rs_annotations_read(&r.annotations, json_object_get(request, "records"),
                                         json_object_get(request, "config"), r.source, r.file);
        if (status == RESTRIDE_OK)
            status = run(&r);
    }
    free_rewriting(&r);
    if (status == RESTRIDE_OK)
        *reply = r.reply;
    else
        json_decref(r.reply);
    return status;
}
