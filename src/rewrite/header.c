/* Writes the header for host programs: see header.h. */
#include "rewrite/header.h"

#include "layout/host_calls.h"

#include <string.h>

static restride_status write_argument(const rs_model *model, const rs_pointer_parameter *argument,
                                      rs_text *out)
{
    const rs_structure *s = &model->structures[argument->structure];
    const char *kernel = model->functions[argument->function].name;
    rs_text name = RS_TEXT_EMPTY, title = RS_TEXT_EMPTY;
    rs_text_format(&name, "restride_%s_%s", kernel, argument->name);
    rs_text_format(&title, "Argument %u of %s: %s", argument->index, kernel,
                   s->name != NULL ? s->name : "records");
    restride_status status =
        name.failed || title.failed
            ? rs_fail_memory("a header")
            : rs_host_calls_add(out, name.data, title.data, &s->record,
                                argument->extent != NULL ? "f i" : "i f", argument->layout);
    rs_text_free(&name);
    rs_text_free(&title);
    return status;
}

static bool is_written(const rs_model *model, const rs_pointer_parameter *argument)
{
    return argument->reason == NULL && rs_argument_kernel(model, argument) != NULL;
}

/* Letter number i of "KERNEL_ARGUMENT". */
static char letter_of(const rs_model *model, const rs_pointer_parameter *argument, size_t i)
{
    const char *kernel = model->functions[argument->function].name;
    size_t length = strlen(kernel);
    return i < length ? kernel[i] : i == length ? '_' : argument->name[i - length - 1];
}

static bool have_same_functions(const rs_model *model, const rs_pointer_parameter *a,
                                const rs_pointer_parameter *b)
{
    size_t i = 0;
    while (letter_of(model, a, i) == letter_of(model, b, i) && letter_of(model, a, i) != '\0')
        i++;
    return letter_of(model, a, i) == letter_of(model, b, i);
}

restride_status rs_header_refuse_twins(const rs_model *model)
{
    restride_status status = RESTRIDE_OK;
    for (int i = 0; i < model->argument_count; i++)
        for (int k = 0; k < i && status == RESTRIDE_OK; k++) {
            rs_pointer_parameter *second = &model->arguments[i];
            const rs_pointer_parameter *first = &model->arguments[k];
            if (is_written(model, first) && is_written(model, second) &&
                have_same_functions(model, first, second))
                status = rs_argument_refuse(second, second->offset,
                                            "the header has functions restride_%s_%s for another "
                                            "argument",
                                            model->functions[second->function].name, second->name);
        }
    return status;
}

restride_status rs_header_write(const rs_model *model, const char *file, rs_text *out)
{
    restride_status status = RESTRIDE_OK;
    rs_host_calls_begin(out, file,
                        " * The kernel gets the number of structures in each such buffer behind "
                        "its own arguments,\n * in their order, as unsigned long.\n");
    for (int i = 0; i < model->argument_count && status == RESTRIDE_OK; i++)
        if (is_written(model, &model->arguments[i]))
            status = write_argument(model, &model->arguments[i], out);
    if (status == RESTRIDE_OK && out->failed)
        status = rs_fail_memory("a header");
    return status;
}
