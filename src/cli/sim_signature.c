/* Parameters of a kernel and their values; see sim.h. */
#include "base/arithmetic.h"
#include "base/child.h"
#include "base/json.h"
#include "cli/sim.h"
#include "console/parts.h"
#include "file/npy.h"
#include "layout/record_json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the signature ---- */

static restride_status read_parameter(rs_sim_parameter *parameter, const json_t *described)
{
    static const struct {
        const char *space;
        rs_sim_parameter_kind place;
    } places[] = {{"value", RS_SIM_VALUE},
                  {"__global", RS_SIM_BUFFER},
                  {"__constant", RS_SIM_BUFFER},
                  {"__local", RS_SIM_LOCAL}};
    const char *name = NULL;
    const char *space = NULL;
    const char *type = NULL;
    json_int_t bytes = 0;
    if (json_unpack((json_t *)described, "{s:s, s:s, s:s, s:I}", "name", &name, "space", &space,
                    "type", &type, "bytes", &bytes) != 0)
        return rs_fail(RESTRIDE_SYNTAX, "The rewriter's reply cannot be understood.");
    size_t i = 0;
    while (i < sizeof places / sizeof places[0] && strcmp(places[i].space, space) != 0)
        i++;
    if (i == sizeof places / sizeof places[0] || bytes <= 0)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "Parameter %s is neither a number nor a pointer to global, constant or "
                       "local memory, so the kernel cannot be run here.",
                       name);
    parameter->place = places[i].place;
    parameter->bytes = (size_t)bytes;
    parameter->name = strdup(name);
    parameter->type = strdup(type);
    if (parameter->name == NULL || parameter->type == NULL)
        return rs_fail_memory("a kernel's parameters");
    const json_t *record = json_object_get(described, "record");
    parameter->has_record = record != NULL;
    return record == NULL ? RESTRIDE_OK : rs_record_from_json(&parameter->record, record);
}

static restride_status read_parameters(rs_sim_signature *signature, const json_t *kernel)
{
    size_t i;
    json_t *described;
    signature->kernel = strdup(rs_json_string_of(kernel, "name"));
    if (signature->kernel == NULL)
        return rs_fail_memory("a kernel's parameters");
    json_array_foreach(json_object_get(kernel, "parameters"), i, described)
    {
        if (i == RS_SIM_MOST_PARAMETERS)
            return rs_fail(RESTRIDE_UNSUPPORTED, "The kernel has more than %d parameters.",
                           RS_SIM_MOST_PARAMETERS);
        signature->count++;
        restride_status status = read_parameter(&signature->parameters[i], described);
        if (status != RESTRIDE_OK)
            return status;
    }
    return RESTRIDE_OK;
}

static const json_t *find_kernel(const json_t *reply, const char *file, const char *name)
{
    size_t i;
    json_t *kernel;
    const json_t *kernels = json_object_get(reply, "kernels");
    rs_text names = RS_TEXT_EMPTY;
    json_array_foreach(kernels, i, kernel)
    {
        const char *present = rs_json_string_of(kernel, "name");
        if (name == NULL ? json_array_size(kernels) == 1 : strcmp(present, name) == 0) {
            rs_text_free(&names);
            return kernel;
        }
        rs_text_format(&names, "%s%s", i > 0 ? ", " : "", present);
    }
    if (json_array_size(kernels) == 0)
        rs_fail(RESTRIDE_INVALID_ARGUMENT, "%s has no kernel.", file);
    else if (name == NULL)
        rs_fail(RESTRIDE_INVALID_ARGUMENT, "%s has several kernels; choose one by --kernel: %s.",
                file, names.data != NULL ? names.data : "");
    else
        rs_fail(RESTRIDE_INVALID_ARGUMENT, "%s has no kernel %s, but: %s.", file, name,
                names.data != NULL ? names.data : "");
    rs_text_free(&names);
    return NULL;
}

static restride_status read_reply(rs_sim_signature *signature, const json_t *reply,
                                  const char *file, const char *kernel)
{
    const char *reason = rs_json_string_of(reply, "reason");
    const char *source = rs_json_string_of(reply, "file");
    if (reason != NULL)
        return rs_fail(RESTRIDE_SYNTAX, "%s:%lld: %s", source != NULL ? source : file,
                       rs_json_integer_of(reply, "line"), reason);
    const json_t *found = find_kernel(reply, file, kernel);
    return found == NULL ? RESTRIDE_INVALID_ARGUMENT : read_parameters(signature, found);
}

/* Runs "restride-rewrite FILE --json -- OPTIONS". */
static restride_status ask_rewriter(json_t **reply, const char *file, char *const options[],
                                    size_t option_count)
{
    char *rewriter = NULL;
    restride_status status = rs_cli_part_path(RS_PART_REWRITER, &rewriter);
    char **arguments = calloc(option_count + 5, sizeof *arguments);
    if (status == RESTRIDE_OK && arguments == NULL)
        status = rs_fail_memory("the rewriter's arguments");
    rs_text output = RS_TEXT_EMPTY;
    rs_text errors = RS_TEXT_EMPTY;
    int exit_status = 0;
    if (status == RESTRIDE_OK) {
        arguments[0] = rewriter;
        arguments[1] = (char *)file;
        arguments[2] = "--json";
        arguments[3] = "--";
        for (size_t i = 0; i < option_count; i++)
            arguments[4 + i] = options[i];
        status = rs_child_run(arguments, "", 0, &output, &errors, &exit_status);
    }
    *reply = status == RESTRIDE_OK && exit_status == 0
                 ? json_loadb(output.data, output.size, 0, NULL)
                 : NULL;
    if (status == RESTRIDE_OK && *reply == NULL) {
        const char *sentence = errors.data != NULL ? errors.data : "The rewriter failed.";
        const char *colon = strstr(sentence, ": ");
        sentence = colon != NULL ? colon + 2 : sentence;
        status = rs_fail(RESTRIDE_SYNTAX, "%.*s", (int)strcspn(sentence, "\n"), sentence);
    }
    rs_text_free(&output);
    rs_text_free(&errors);
    free(arguments);
    free(rewriter);
    return status;
}

restride_status rs_sim_signature_read(rs_sim_signature *signature, const char *file,
                                      const char *kernel, char *const options[],
                                      size_t option_count)
{
    json_t *reply = NULL;
    memset(signature, 0, sizeof *signature);
    restride_status status = ask_rewriter(&reply, file, options, option_count);
    if (status == RESTRIDE_OK)
        status = read_reply(signature, reply, file, kernel);
    json_decref(reply);
    return status;
}

void rs_sim_signature_free(rs_sim_signature *signature)
{
    for (size_t i = 0; i < signature->count; i++) {
        rs_sim_parameter *parameter = &signature->parameters[i];
        free(parameter->name);
        free(parameter->type);
        free(parameter->data);
        rs_record_free(&parameter->record);
    }
    free(signature->kernel);
    signature->count = 0;
}

rs_sim_parameter *rs_sim_find_parameter(rs_sim_signature *signature, const char *name,
                                        size_t length)
{
    for (size_t i = 0; i < signature->count; i++)
        if (strlen(signature->parameters[i].name) == length &&
            strncmp(signature->parameters[i].name, name, length) == 0)
            return &signature->parameters[i];
    rs_fail(RESTRIDE_INVALID_ARGUMENT, "Kernel %s has no parameter \"%.*s\".", signature->kernel,
            (int)length, name);
    return NULL;
}

/* ---- numbers as bytes ---- */

typedef enum { SIGNED, UNSIGNED, REAL, UNKNOWN } number_kind;

/* The type of a number, without the lanes of a vector. */
static number_kind kind_of(const char *type, size_t *bytes, size_t *lanes)
{
    static const struct {
        const char *name;
        number_kind kind;
        size_t bytes;
    } types[] = {{"float", REAL, 4},
                 {"double", REAL, 8},
                 {"bool", UNSIGNED, 1},
                 {"char", SIGNED, 1},
                 {"unsigned char", UNSIGNED, 1},
                 {"uchar", UNSIGNED, 1},
                 {"short", SIGNED, 2},
                 {"unsigned short", UNSIGNED, 2},
                 {"ushort", UNSIGNED, 2},
                 {"int", SIGNED, 4},
                 {"unsigned int", UNSIGNED, 4},
                 {"uint", UNSIGNED, 4},
                 {"long", SIGNED, 8},
                 {"unsigned long", UNSIGNED, 8},
                 {"ulong", UNSIGNED, 8}};
    size_t length = strcspn(type, "0123456789");
    *lanes = type[length] == '\0' ? 1 : strtoul(type + length, NULL, 10);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (strlen(types[i].name) == length && strncmp(types[i].name, type, length) == 0) {
            *bytes = types[i].bytes;
            return types[i].kind;
        }
    return UNKNOWN;
}

static void store_number(unsigned char *place, number_kind kind, size_t bytes, double real,
                         uint64_t whole)
{
    if (kind == REAL && bytes == sizeof(float))
        memcpy(place, &(float){(float)real}, bytes);
    else if (kind == REAL)
        memcpy(place, &real, bytes);
    else
        memcpy(place, &whole, bytes); /* the lowest bytes come first */
}

/* Reads a number and what stands between it and the next one. */
static bool read_number(const char **text, number_kind kind, double *real, uint64_t *whole)
{
    char *end;
    errno = 0;
    if (kind == REAL)
        *real = strtod(*text, &end);
    else if (kind == SIGNED)
        *whole = (uint64_t)strtoll(*text, &end, 0);
    else
        *whole = strtoull(*text, &end, 0);
    if (end == *text || errno != 0)
        return false;
    *text = end + strspn(end, " ,");
    return true;
}

static restride_status give_number(rs_sim_parameter *parameter, const char *value)
{
    size_t bytes;
    size_t lanes;
    size_t read = 0;
    const char *text = value;
    number_kind kind = kind_of(parameter->type, &bytes, &lanes);
    if (kind == UNKNOWN)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "Parameter %s is no number; give its bytes in a file: '%s: @FILE'.",
                       parameter->name, parameter->name);
    parameter->data = calloc(1, parameter->bytes);
    parameter->size = parameter->bytes;
    if (parameter->data == NULL)
        return rs_fail_memory("a kernel's parameters");
    while (read < lanes && *text != '\0') {
        double real = 0;
        uint64_t whole = 0;
        if (!read_number(&text, kind, &real, &whole))
            break;
        store_number(parameter->data + read++ * bytes, kind, bytes, real, whole);
    }
    for (size_t lane = 1; read == 1 && lane < lanes; lane++)
        memcpy(parameter->data + lane * bytes, parameter->data, bytes);
    return *text == '\0' && (read == lanes || read == 1)
               ? RESTRIDE_OK
               : rs_fail(RESTRIDE_INVALID_ARGUMENT,
                         "\"%s\" is no value for parameter %s of type %s.", value, parameter->name,
                         parameter->type);
}

/* ---- buffers ---- */

restride_status rs_sim_give_zeros(rs_sim_parameter *parameter, size_t elements)
{
    parameter->given = true;
    if (elements == 0)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT, "The array %s has no elements.", parameter->name);
    return rs_size_multiply(elements, parameter->bytes, &parameter->size)
               ? RESTRIDE_OK
               : rs_fail(RESTRIDE_OVERFLOW, "The array %s is too large for this machine's sizes.",
                         parameter->name);
}

static restride_status give_file(rs_sim_parameter *parameter, const char *path)
{
    rs_text file = RS_TEXT_EMPTY;
    rs_npy npy;
    restride_status status = rs_text_read_file(&file, path);
    size_t header = 0;
    if (status == RESTRIDE_OK && file.size > 6 && memcmp(file.data, "\x93NUMPY", 6) == 0) {
        status = rs_npy_read(&npy, path, file.data, file.size, file.size);
        if (status == RESTRIDE_OK) {
            header = npy.header_bytes;
            rs_npy_free(&npy);
        }
    }
    if (status == RESTRIDE_OK &&
        (file.size == header || (file.size - header) % parameter->bytes != 0 ||
         (parameter->place == RS_SIM_VALUE && file.size - header != parameter->bytes)))
        status = rs_fail(RESTRIDE_INVALID_ARGUMENT,
                         "%s does not hold whole elements of %s, which have %zu bytes.", path,
                         parameter->name, parameter->bytes);
    if (status == RESTRIDE_OK) {
        parameter->size = file.size - header;
        parameter->data = malloc(parameter->size);
        if (parameter->data == NULL)
            status = rs_fail_memory("an array");
        else
            memcpy(parameter->data, file.data + header, parameter->size);
    }
    rs_text_free(&file);
    return status;
}

/* A linear congruential generator's upper bits, the same on every machine. */
static uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return *state >> 32;
}

static restride_status fill(rs_sim_parameter *parameter, uint64_t below)
{
    size_t bytes;
    size_t lanes;
    uint64_t state = 1;
    number_kind kind = kind_of(parameter->type, &bytes, &lanes);
    if (kind == UNKNOWN)
        return rs_fail(RESTRIDE_UNSUPPORTED,
                       "The elements of %s are no numbers; give them in a file: '%s: @FILE'.",
                       parameter->name, parameter->name);
    parameter->data = malloc(parameter->size);
    if (parameter->data == NULL)
        return rs_fail_memory("an array");
    for (size_t i = 0; i < parameter->size / bytes; i++) {
        uint64_t value = below == 0 ? i : next_random(&state) * below >> 32;
        store_number(parameter->data + i * bytes, kind, bytes, (double)value, value);
    }
    return RESTRIDE_OK;
}

static restride_status give_elements(rs_sim_parameter *parameter, const char *value)
{
    uint64_t elements = 0;
    uint64_t below = 0;
    int end = 0;
    int filled = 0;
    if (sscanf(value, "%" SCNu64 " %n", &elements, &end) == 1 && value[end] != '\0') {
        const char *rest = value + end;
        if (strcmp(rest, "counting") == 0)
            filled = end = (int)strlen(value);
        else if (sscanf(rest, "random %" SCNu64 "%n", &below, &filled) == 1 && below > 0 &&
                 below <= UINT32_MAX)
            end += filled;
    }
    if (end == 0 || value[end] != '\0' || value[0] == '-' ||
        (filled > 0 && parameter->place == RS_SIM_LOCAL))
        return rs_fail(
            RESTRIDE_INVALID_ARGUMENT,
            "\"%s\" does not say what %s holds; give a number of elements, \"N counting\", "
            "\"N random M\" or @FILE.",
            value, parameter->name);
    restride_status status = rs_sim_give_zeros(parameter, elements);
    return status == RESTRIDE_OK && filled > 0 ? fill(parameter, below) : status;
}

restride_status rs_sim_give(rs_sim_parameter *parameter, const char *value)
{
    if (parameter->given)
        return rs_fail(RESTRIDE_INVALID_ARGUMENT, "Parameter %s is given twice.", parameter->name);
    parameter->given = true;
    if (value[0] == '@' && parameter->place != RS_SIM_LOCAL)
        return give_file(parameter, value + 1);
    return parameter->place == RS_SIM_VALUE ? give_number(parameter, value)
                                            : give_elements(parameter, value);
}
