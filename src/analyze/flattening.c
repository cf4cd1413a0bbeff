/* See flattening.h. */
#include "analyze/flattening.h"

#include "layout/layout.h"

/* Extents are arguments of the function. Since no tile divides these, an order of terms that needs
 * tiles that do is refused. */
enum { FEW_DIMENSIONS = 3, LARGE_PRIME = 1048573, PRIME = 1009 };

static const char dimension_names[] = "ijklmn";

void rs_flattening_add_rows(rs_text *text, int rank)
{
    for (int d = 0; d < rank; d++)
        rs_text_format(text, "%s%c", d > 0 ? " " : "", dimension_names[d]);
}

static bool is_padded(const restride_layout *layout)
{
    size_t elements = 1;
    for (int d = 0; d < restride_layout_rank(layout); d++)
        elements *= restride_layout_extent(layout, d);
    return restride_layout_size(layout) != elements;
}

restride_status rs_flattening_write(rs_text *out, restride_dialect dialect, int rank,
                                    const char *expression, const char *prefix, bool narrow)
{
    rs_text dims = RS_TEXT_EMPTY, rows = RS_TEXT_EMPTY;
    for (int d = 0; d < rank; d++)
        rs_text_format(&dims, "%s%c:%d", d > 0 ? " " : "", dimension_names[d],
                       rank <= FEW_DIMENSIONS ? LARGE_PRIME : PRIME);
    rs_flattening_add_rows(&rows, rank);
    const char *chosen = expression != NULL ? expression : rows.data;
    restride_layout *layout = NULL;
    restride_status status = dims.failed || rows.failed
                                 ? rs_fail_memory("a flattening function")
                                 : restride_layout_parse(&layout, dims.data, chosen);
    if (status == RESTRIDE_OK && is_padded(layout))
        status = rs_fail(RESTRIDE_INVALID_ARGUMENT,
                         "The layout \"%s\" needs more memory than the program has for the grid; "
                         "leave out \":pad\".",
                         chosen);
    if (status == RESTRIDE_OK) {
        rs_layout_write_offset(layout, dialect, prefix, narrow, out);
        rs_text_add_string(out, "\n");
    }
    restride_layout_destroy(layout);
    rs_text_free(&dims);
    rs_text_free(&rows);
    return status;
}

void rs_flattening_write_rows(rs_text *out, restride_dialect dialect, int rank, const char *prefix)
{
    static const struct {
        const char *qualifiers, *word;
    } dialects[] = {
        [RESTRIDE_DIALECT_C] = {"static inline", "unsigned long long"},
        [RESTRIDE_DIALECT_OPENCL_C] = {"static inline __attribute__((unused))", "ulong"},
        [RESTRIDE_DIALECT_CUDA_C] = {"static __host__ __device__ inline __attribute__((unused))",
                                     "unsigned long long"}};
    const char *word = dialects[dialect].word;
    rs_text_format(out, "/* The same from an offset in rows. */\n%s %s %s_rows(",
                   dialects[dialect].qualifiers, word, prefix);
    for (int d = 0; d < rank; d++)
        rs_text_format(out, "%s extent_%c, ", word, dimension_names[d]);
    rs_text_format(out, "%s offset)\n{\n", word);
    for (int d = rank - 1; d > 0; d--) {
        char name = dimension_names[d];
        rs_text_format(out, "    const %s index_%c = offset %% extent_%c;\n", word, name, name);
        rs_text_format(out, "    offset /= extent_%c;\n", name);
    }
    rs_text_format(out, "    return %s_offset(", prefix);
    for (int d = 0; d < rank; d++)
        rs_text_format(out, "extent_%c, ", dimension_names[d]);
    rs_text_add_string(out, "offset");
    for (int d = 1; d < rank; d++)
        rs_text_format(out, ", index_%c", dimension_names[d]);
    rs_text_add_string(out, ");\n}\n\n");
}
