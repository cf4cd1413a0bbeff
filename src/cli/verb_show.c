/* restride show EXPRESSION: draws a layout as text or SVG, or describes it as JSON. */
#include "cli/cli.h"
#include "console/fail.h"
#include "console/options.h"
#include "layout/picture.h"

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    const char *dims;
    const char *svg;
    bool json;
    const char *accessors;
    const char *name;
    const char *to;
} show_options;

/* The usual order of dimensions, slowest first; names that are not listed come before all of these.
 */
static const char *const usual_order[] = {"t", "z", "y", "x", "i", "j", "r", "k", "c", "e", "f"};

enum { MAX_NAMES = RS_LAYOUT_MAX_RANK, SMALL_EXTENT = 4, FIELDS = 3 };

/* A dimension as the expression alone shows it. */
typedef struct {
    const char *name;
    size_t length;
    size_t tile; /* the largest */
} guessed_dimension;

static size_t usual_place(const guessed_dimension *guess)
{
    for (size_t i = 0; i < sizeof usual_order / sizeof usual_order[0]; i++)
        if (strlen(usual_order[i]) == guess->length &&
            strncmp(usual_order[i], guess->name, guess->length) == 0)
            return i + 1;
    return 0;
}

static guessed_dimension *find_guess(guessed_dimension *guesses, size_t *count, const char *name,
                                     size_t length)
{
    for (size_t i = 0; i < *count; i++)
        if (guesses[i].length == length && strncmp(guesses[i].name, name, length) == 0)
            return &guesses[i];
    if (*count == MAX_NAMES)
        return NULL;
    guesses[*count] = (guessed_dimension){name, length, 1};
    return &guesses[(*count)++];
}

/* Finds the names and tiles in an expression; what is wrong with it is for the parser to say. */
static size_t guess_dimensions(const char *expression, guessed_dimension *guesses)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_";
    static const char name_characters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789";
    size_t count = 0;
    guessed_dimension *current = NULL;
    for (const char *c = expression; *c != '\0';) {
        size_t length = strchr(letters, *c) != NULL ? strspn(c, name_characters) : 0;
        if (length > 0) {
            bool suffix = c > expression && c[-1] == ':';
            current = suffix ? current : find_guess(guesses, &count, c, length);
            c += length;
        } else if ((*c == '/' || *c == '%') && current != NULL) {
            char *end;
            unsigned long long tile = strtoull(c + 1, &end, 10);
            if (tile > current->tile && tile < SIZE_MAX / 8)
                current->tile = (size_t)tile;
            c++;
        } else {
            c++;
        }
    }
    return count;
}

/* A small array for an expression: two tiles and, when `ragged`, half of a third. The caller frees
 * it. */
static char *default_dims(const char *expression, bool ragged)
{
    guessed_dimension guesses[MAX_NAMES];
    size_t count = guess_dimensions(expression, guesses);
    rs_text dims = RS_TEXT_EMPTY;
    for (size_t place = 0; place <= sizeof usual_order / sizeof usual_order[0]; place++)
        for (size_t i = 0; i < count; i++) {
            const guessed_dimension *guess = &guesses[i];
            if (usual_place(guess) != place)
                continue;
            bool fields = *guess->name == 'f' || *guess->name == 'e';
            size_t extent = fields ? FIELDS : SMALL_EXTENT;
            if (guess->tile > 1)
                extent = 2 * guess->tile + (ragged ? guess->tile / 2 : 0);
            rs_text_format(&dims, "%s%.*s:%zu", dims.size > 0 ? " " : "", (int)guess->length,
                           guess->name, extent);
        }
    if (count == 0)
        rs_text_add_string(&dims, "i:8 f:3");
    return rs_text_take(&dims);
}

/* Prints the text that was at fault with a caret below the place. */
static int fail_with_caret(const char *verb, const char *text, size_t position)
{
    int status = rs_cli_fail_last(RS_EXIT_USAGE, verb);
    fprintf(stderr, "    ");
    for (const char *c = text; *c != '\0'; c++)
        fputc((unsigned char)*c < ' ' ? ' ' : *c, stderr);
    fprintf(stderr, "\n    ");
    for (size_t i = 0; i < position; i++)
        if (((unsigned char)text[i] & 0xc0) != 0x80) /* one column for each character */
            fputc(' ', stderr);
    fprintf(stderr, "^\n");
    return status;
}

static json_t *describe_dimension(const rs_dimension *dimension)
{
    json_t *json =
        json_pack("{s:s, s:I, s:I}", "name", dimension->name, "extent",
                  (json_int_t)dimension->extent, "padded", (json_int_t)dimension->padded_extent);
    if (!dimension->is_record)
        return json;
    json_t *leaves = json_array();
    for (size_t i = 0; i < dimension->record.leaf_count; i++) {
        const rs_leaf *leaf = &dimension->record.leaves[i];
        json_array_append_new(leaves,
                              json_pack("{s:s?, s:I, s:I}", "name", leaf->name, "offset",
                                        (json_int_t)leaf->offset, "size", (json_int_t)leaf->size));
    }
    json_object_set_new(json, "record",
                        json_pack("{s:I, s:I, s:o}", "size", (json_int_t)dimension->record.size,
                                  "alignment", (json_int_t)dimension->record.alignment, "leaves",
                                  leaves));
    return json;
}

/* The elements at the beginning of memory, in its order. */
static json_t *describe_memory(const rs_picture *picture)
{
    json_t *memory = json_array();
    for (size_t i = 0; i < picture->cell_count; i++) {
        const rs_cell *cell = &picture->cells[i];
        json_t *index = json_array();
        for (int d = 0; d < picture->layout->rank; d++)
            json_array_append_new(index, json_integer((json_int_t)cell->index[d]));
        json_array_append_new(memory,
                              json_pack("{s:I, s:I, s:o, s:b}", "offset", (json_int_t)cell->offset,
                                        "size", (json_int_t)cell->size, "index", index, "padding",
                                        cell->padding || cell->outside));
    }
    return memory;
}

static int show_json(const char *verb, const restride_layout *layout)
{
    static const char *const forms[] = {[RS_FORM_AOS] = "AoS",
                                        [RS_FORM_SOA] = "SoA",
                                        [RS_FORM_ASTA] = "ASTA",
                                        [RS_FORM_OTHER] = "other"};
    rs_picture picture;
    if (rs_picture_create(&picture, layout) != RESTRIDE_OK)
        return rs_cli_fail_last(RS_EXIT_FAILED, verb);
    size_t tile;
    rs_layout_form form = rs_layout_classify(layout, &tile);
    json_t *dimensions = json_array();
    for (int d = 0; d < layout->rank; d++)
        json_array_append_new(dimensions, describe_dimension(&layout->dimensions[d]));
    json_t *json = json_pack("{s:s, s:s, s:s, s:s, s:I, s:o, s:o, s:b}", "layout",
                             layout->expression_text, "dims", layout->dims_text, "form",
                             forms[form], "unit", layout->record >= 0 ? "byte" : "element", "size",
                             (json_int_t)layout->size, "dimensions", dimensions, "memory",
                             describe_memory(&picture), "memory_is_whole", picture.whole_memory);
    if (json != NULL && form == RS_FORM_ASTA)
        json_object_set_new(json, "tile", json_integer((json_int_t)tile));
    rs_picture_free(&picture);
    return rs_cli_print_json(verb, json);
}

static int show_svg(const char *verb, const restride_layout *layout, const char *path)
{
    char *drawing;
    if (rs_draw_svg(layout, &drawing) != RESTRIDE_OK)
        return rs_cli_fail_last(RS_EXIT_FAILED, verb);
    restride_status status = rs_text_write_file(path, drawing, strlen(drawing));
    free(drawing);
    return status == RESTRIDE_OK ? RS_EXIT_DONE : rs_cli_fail_last(RS_EXIT_FAILED, verb);
}

static int show_text(const char *verb, const restride_layout *layout)
{
    char *drawing;
    if (rs_draw_text(layout, isatty(STDOUT_FILENO) == 1, &drawing) != RESTRIDE_OK)
        return rs_cli_fail_last(RS_EXIT_FAILED, verb);
    int written = fputs(drawing, stdout);
    free(drawing);
    return written < 0 ? rs_cli_fail(RS_EXIT_FAILED, verb, "The drawing could not be written.")
                       : RS_EXIT_DONE;
}

/* Words of --accessors that make sense together. */
static int check_accessors(const char *verb, const show_options *options)
{
    if (options->accessors == NULL && options->name != NULL)
        return rs_cli_fail(RS_EXIT_USAGE, verb, "--name is for --accessors.");
    if (options->accessors != NULL && options->dims == NULL)
        return rs_cli_fail(RS_EXIT_USAGE, verb, "--accessors needs --dims, which say the types.");
    return RS_EXIT_DONE;
}

static int show_accessors(const char *verb, const restride_layout *layout,
                          const show_options *options)
{
    char *source;
    const bool cuda = strcmp(options->accessors, "cuda") == 0;
    if (restride_layout_accessor(layout, cuda ? RESTRIDE_DIALECT_CUDA_CPP : RESTRIDE_DIALECT_CPP,
                                 options->name == NULL ? "Array" : options->name,
                                 &source) != RESTRIDE_OK)
        return rs_cli_fail_last(RS_EXIT_FAILED, verb);
    int written = fputs(source, stdout);
    free(source);
    return written < 0 ? rs_cli_fail(RS_EXIT_FAILED, verb, "The header could not be written.")
                       : RS_EXIT_DONE;
}

/* Parses with the given dimensions, or with small ones: ragged where the layout allows it. */
static int parse(const char *verb, const char *expression, const char *given,
                 restride_layout **layout)
{
    restride_status status = RESTRIDE_SYNTAX;
    rs_layout_fault fault = {.known = false};
    char *dims = NULL;
    for (int ragged = 1; ragged >= 0 && status != RESTRIDE_OK; ragged--) {
        free(dims);
        dims = given != NULL ? strdup(given) : default_dims(expression, ragged == 1);
        if (dims == NULL)
            return rs_cli_fail(RS_EXIT_FAILED, verb, "There is not enough memory.");
        status = strchr(expression, '@') != NULL
                     ? rs_layout_parse_spread(layout, dims, expression, &fault)
                     : rs_layout_parse(layout, dims, expression, &fault);
    }
    int result = RS_EXIT_DONE;
    if (status == RESTRIDE_OUT_OF_MEMORY)
        result = rs_cli_fail_last(RS_EXIT_FAILED, verb);
    else if (status != RESTRIDE_OK && fault.known)
        result = fail_with_caret(verb, fault.in_dims ? dims : expression, fault.position);
    else if (status != RESTRIDE_OK)
        result = rs_cli_fail_last(RS_EXIT_USAGE, verb);
    free(dims);
    return result;
}

/* A layout over processes, and the one that it goes to. */
static int show_processes(const char *verb, const restride_layout *layout,
                          const show_options *options)
{
    if (options->accessors != NULL)
        return rs_cli_fail(RS_EXIT_USAGE, verb, "A layout over processes has no accessors.");
    restride_layout *target = NULL;
    int status =
        options->to == NULL ? RS_EXIT_DONE : parse(verb, options->to, layout->dims_text, &target);
    if (status == RS_EXIT_DONE)
        status = rs_show_spread(verb, layout, target, options->svg, options->json);
    restride_layout_destroy(target);
    return status;
}

static int show(const char *verb, const restride_layout *layout, const show_options *options)
{
    int status = options->svg != NULL ? show_svg(verb, layout, options->svg) : RS_EXIT_DONE;
    if (status == RS_EXIT_DONE && options->json)
        status = show_json(verb, layout);
    if (status == RS_EXIT_DONE && options->accessors != NULL)
        status = show_accessors(verb, layout, options);
    if (status == RS_EXIT_DONE && options->svg == NULL && !options->json &&
        options->accessors == NULL)
        status = show_text(verb, layout);
    return status;
}

static bool take_accessors(const char *word, void *field)
{
    *(const char **)field = word;
    return strcmp(word, "cpp") == 0 || strcmp(word, "cuda") == 0;
}

int rs_verb_show(int argc, char **argv)
{
    static const rs_cli_option table[] = {
        {RS_CLI_TEXT("dims", show_options, dims)},
        {RS_CLI_TEXT("svg", show_options, svg)},
        {RS_CLI_FLAG("json", show_options, json)},
        {RS_CLI_OWN("accessors", show_options, accessors, take_accessors), .takes = "cpp or cuda"},
        {RS_CLI_TEXT("name", show_options, name)},
        {RS_CLI_TEXT("to", show_options, to)},
        {0},
    };
    show_options options = {.dims = NULL};
    int status = rs_cli_read_options(argv[0], argc, argv, table, &options);
    if (status != RS_EXIT_DONE)
        return status;
    if (argc - optind != 1)
        return rs_cli_fail(RS_EXIT_USAGE, argv[0], "%s",
                           argc == optind
                               ? "A layout is missing, as in restride show 'i/32 f i%32'."
                               : "There is more than one layout; put it into quotes, as in "
                                 "restride show 'i/32 f i%32'.");
    status = check_accessors(argv[0], &options);
    restride_layout *layout = NULL;
    if (status == RS_EXIT_DONE)
        status = parse(argv[0], argv[optind], options.dims, &layout);
    if (status == RS_EXIT_DONE && (layout->spread || options.to != NULL))
        status = show_processes(argv[0], layout, &options);
    else if (status == RS_EXIT_DONE)
        status = show(argv[0], layout, &options);
    restride_layout_destroy(layout);
    return status;
}
