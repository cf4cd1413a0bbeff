/* See companion.h. */
#include "programs/rewrite/companion.h"

#include "base/json.h"
#include "companion/elsewhere.h"
#ifdef RESTRIDE_HAVE_JUDGE
#include "programs/rewrite/judgement.h"
#endif

#include <stdlib.h>
#include <string.h>

rs_companion_judge *rs_companion_own_judge(void)
{
#ifdef RESTRIDE_HAVE_JUDGE
    return rs_judge_companion;
#else
    return NULL;
#endif
}

/* Name expressions make instances of templates: behind the source stands a function for each. */
static void add_names(rs_text *text, const json_t *names)
{
    size_t i;
    json_t *name;
    json_array_foreach(names, i, name)
    {
        const char *expression = json_string_value(name);
        if (expression != NULL)
            rs_text_format(text, "\nstatic void *restride_name_%zu() { return (void *)%s%s; }", i,
                           expression[0] == '&' ? "" : "&", expression);
    }
}

/* Takes from the companion what add_names() has added. */
static void cut(json_t *reply, const rs_text *added)
{
    const json_t *source = json_object_get(reply, "source");
    const size_t length = json_string_length(source);
    if (length >= added->size && added->size > 0 &&
        memcmp(json_string_value(source) + length - added->size, added->data, added->size) == 0)
        json_object_set_new(reply, "source",
                            json_stringn(json_string_value(source), length - added->size));
}

/* Makes the companion hold in another folder; where that cannot be it is left out. */
static restride_status move(json_t *reply, const char *folder)
{
    const json_t *source = json_object_get(reply, "source");
    rs_text text = RS_TEXT_EMPTY;
    const char *why = NULL;
    if (source == NULL || folder == NULL)
        return RESTRIDE_OK;
    rs_text_add(&text, json_string_value(source), json_string_length(source));
    restride_status status =
        text.failed ? rs_fail_memory("a companion") : rs_companion_move(&text, folder, &why);
    if (status == RESTRIDE_OK && why != NULL) {
        json_object_del(reply, "source");
        json_object_set_new(reply, "reason", json_string(why));
    } else if (status == RESTRIDE_OK) {
        json_object_set_new(reply, "source", json_stringn(text.data, text.size));
    }
    rs_text_free(&text);
    return status;
}

restride_status rs_companion_answer(const json_t *request, json_t **reply)
{
    const json_t *asked = json_object_get(request, "companion");
    const json_t *options = json_object_get(asked, "options"),
                 *source = json_object_get(request, "source");
    const size_t count = json_array_size(options);
    const char **words = calloc(count + 1, sizeof *words);
    rs_text text = RS_TEXT_EMPTY, names = RS_TEXT_EMPTY;
    restride_status status = words == NULL ? rs_fail_memory("a request") : RESTRIDE_OK;
    for (size_t i = 0; i < count && status == RESTRIDE_OK; i++) {
        words[i] = json_string_value(json_array_get(options, i));
        if (words[i] == NULL)
            status = rs_fail(RESTRIDE_INVALID_ARGUMENT, "An option is no text.");
    }
    if (status == RESTRIDE_OK) {
        if (json_string_value(source) != NULL)
            rs_text_add(&text, json_string_value(source), json_string_length(source));
        add_names(&names, json_object_get(asked, "names"));
        if (names.size > 0)
            rs_text_add(&text, names.data, names.size);
        const rs_companion_request made = {.path = rs_json_string_of(request, "file"),
                                           .text = text.data,
                                           .size = text.size,
                                           .options = words,
                                           .option_count = count,
                                           .tile = (size_t)rs_json_integer_of(asked, "tile"),
                                           .judge = rs_companion_own_judge(),
                                           .is_chosen = true};
        status = made.path == NULL || text.data == NULL
                     ? rs_fail(RESTRIDE_INVALID_ARGUMENT, "A request has no source or file.")
                     : rs_companion_reply(&made, reply);
    }
    if (status == RESTRIDE_OK)
        cut(*reply, &names);
    if (status == RESTRIDE_OK)
        status = move(*reply, rs_json_string_of(asked, "folder"));
    rs_text_free(&text);
    rs_text_free(&names);
    free((void *)words);
    return status;
}
