/* Numbers as they are written on the command line. Each function is false for anything else. */
#ifndef RS_CONSOLE_NUMBERS_H
#define RS_CONSOLE_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>

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

/* An order of `rank` axes as digits, "0231"; in a list of them *text moves behind the comma. */
bool rs_cli_read_axes(const char **text, int rank, int axes[]);

#endif
