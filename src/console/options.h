/* Reading a verb's options, and the numbers in them. */
#ifndef RS_CONSOLE_OPTIONS_H
#define RS_CONSOLE_OPTIONS_H

#include <getopt.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Prints `usage` and is true when --help or -h is among the arguments. */
bool rs_cli_helps(int argc, char **argv, const char *usage);

/* An option of a verb, and the field of a structure that it sets. */
typedef struct rs_cli_option {
    const char *name;
    enum {
        RS_CLI_IS_FLAG,
        RS_CLI_IS_TEXT,
        RS_CLI_IS_COUNT,
        RS_CLI_IS_BYTES,
        RS_CLI_IS_OWN,
        RS_CLI_IS_JSON
    } kind;
    size_t field; /* where it begins in the structure */
    size_t least;
    size_t most;
    bool (*take)(const char *value, void *field);
    bool (*put)(json_t *object, const struct rs_cli_option *option, const char *value);
    const char *takes; /* "a number from 1 to 256", for a value that it cannot have; NULL: --help */
    char letter;       /* 'o' where -o is short for it; 0: none */
} rs_cli_option;

/* Rows of a table, {RS_CLI_TEXT("svg", draw_options, svg)}. A FLAG sets a bool and takes no value,
 * a TEXT sets a const char *. COUNT and BYTES set a size_t from `least` to `most`, BYTES with K, M
 * or G. OWN calls take(value, field) and WHOLE take(value, structure), JSON calls
 * put(object, option, value) with the json_t * of a field. They are false for a value that the
 * option cannot have. A member of another type does not compile. */
#define RS_CLI_ROW(option, is, structure, member, type)                                            \
    .name = (option), .kind = (is),                                                                \
    .field = _Generic(((structure *)NULL)->member, type /* NOLINT(bugprone-macro-parentheses) */   \
                      : offsetof(structure, member))
#define RS_CLI_FLAG(option, structure, member)                                                     \
    RS_CLI_ROW(option, RS_CLI_IS_FLAG, structure, member, bool)
#define RS_CLI_TEXT(option, structure, member)                                                     \
    RS_CLI_ROW(option, RS_CLI_IS_TEXT, structure, member, const char *)
#define RS_CLI_COUNT(option, structure, member, from, to)                                          \
    RS_CLI_ROW(option, RS_CLI_IS_COUNT, structure, member, size_t), .least = (from), .most = (to)
#define RS_CLI_BYTES(option, structure, member, from, to)                                          \
    RS_CLI_ROW(option, RS_CLI_IS_BYTES, structure, member, size_t), .least = (from), .most = (to)
#define RS_CLI_OWN(option, structure, member, function)                                            \
    .name = (option), .kind = RS_CLI_IS_OWN, .field = offsetof(structure, member),                 \
    .take = (function)
#define RS_CLI_JSON(option, structure, member, function)                                           \
    RS_CLI_ROW(option, RS_CLI_IS_JSON, structure, member, json_t *), .put = (function)
#define RS_CLI_WHOLE(option, function) .name = (option), .kind = RS_CLI_IS_OWN, .take = (function)

/*
 * Sets the fields of `into` as the table says, which ends with a row without a name. For a value
 * that an option cannot have, and for an unknown option, a sentence is printed and the status is
 * RS_EXIT_USAGE, else RS_EXIT_DONE. Afterwards argv[optind] is the first argument that is no
 * option.
 */
int rs_cli_read_options(const char *verb, int argc, char **argv, const rs_cli_option *table,
                        void *into);

/* The same, up to the first argument that is no option: what follows is another program's. */
int rs_cli_read_first_options(const char *verb, int argc, char **argv, const rs_cli_option *table,
                              void *into);

/* The same as rs_cli_read_options(), for verbs that take options alone. */
int rs_cli_read_only_options(const char *verb, int argc, char **argv, const rs_cli_option *table,
                             void *into);

/* Makes the folder that an option names, unless it is there, and reports what is wrong with it
 * before the work begins. RS_EXIT_DONE or RS_EXIT_FAILED. */
int rs_cli_make_folder(const char *verb, const char *path);

/* ---- numbers on the command line ---- */

/* Digits alone. This function and those below are false for any other text. */
bool rs_cli_read_count(const char *text, size_t *count);

/* 4096, 64K, 256M, 2G: powers of 1024. */
bool rs_cli_read_bytes(const char *text, size_t *bytes);

/* The bytes of an element: a type (u8, f32, c128, ..., or float32 and the like as in
 * NumPy) or a number; for tables of options, *bytes is a size_t. */
bool rs_cli_take_unit(const char *text, void *bytes);

/* The type of an element as it was written, and its bytes. */
typedef struct {
    const char *name;
    size_t bytes;
} rs_cli_type;

/* The same, for tables of options; *field is an rs_cli_type. */
bool rs_cli_take_type(const char *text, void *field);

/* Between 1 and `most` counts with a separator between them. */
bool rs_cli_read_list(const char *text, char separator, int most, size_t values[], int *count);

/* Numbers of at least 1, as rs_cli_read_bytes() reads them, with commas; for tables of options,
 * *field is an rs_cli_numbers. */
typedef struct {
    size_t count;
    size_t values[64];
} rs_cli_numbers;
bool rs_cli_take_numbers(const char *text, void *field);

/* The next shape of a list, 7200x1800,1800x7200; *text moves behind it. */
bool rs_cli_read_shape(const char **text, size_t *rows, size_t *cols);

/* An order of `rank` axes as digits, "0231"; in a list of them *text moves behind the comma. */
bool rs_cli_read_axes(const char **text, int rank, int axes[]);

#endif
