/* What stands in front of all kernels of a file, and the indentation of what follows. */
#include "apply/kernels.h"

#include "apply/types.h"
#include "source/query.h"

#include <string.h>

static void write_function(rs_text *functions, rs_text *names, const char *name)
{
    static const char *const arguments[] = {"", "a", "a, b", "a, b, c"};
    bool is_float;
    const rs_math_function *function = rs_function_find(name, &is_float);
    rs_text mark = RS_TEXT_EMPTY;
    rs_text_format(&mark, "#define %s ", name);
    if (function != NULL && !mark.failed &&
        (names->data == NULL || strstr(names->data, mark.data) == NULL)) {
        const char *type = is_float ? "float" : "double";
        rs_text_format(functions, "static %s restride_%s(", type, name);
        for (int i = 0; i < function->arguments; i++)
            rs_text_format(functions, "%s%s %c", i > 0 ? ", " : "", type, 'a' + i);
        rs_text_format(functions, ") { return %s(%s); }\n", function->opencl,
                       arguments[function->arguments]);
        rs_text_format(names, "%srestride_%s\n", mark.data, name);
    }
    rs_text_free(&mark);
}

/* Names that C leaves to the program and OpenCL C does not. */
static void write_keywords(rs_text *text, const rs_translation_unit *program)
{
    static const char *const keywords[] = {"half",       "kernel",     "global",  "local",
                                           "constant",   "private",    "generic", "read_only",
                                           "write_only", "read_write", "pipe",    "event_t"};
    for (size_t k = 0; k < sizeof keywords / sizeof keywords[0]; k++)
        for (int i = 0; i < program->tree.node_count; i++) {
            int kind = program->tree.nodes[i].is;
            if (kind != RS_NODE_PARAMETER && kind != RS_NODE_VARIABLE && kind != RS_NODE_FIELD &&
                kind != RS_NODE_ENUMERATOR)
                continue;
            if (strcmp(program->tree.nodes[i].name, keywords[k]) == 0) {
                rs_text_format(text, "#define %s restride_%s\n", keywords[k], keywords[k]);
                break;
            }
        }
}

static bool belongs_to_head(const rs_tree *tree, int node)
{
    int kind = tree->nodes[node].is;
    bool kernels_need = kind == RS_NODE_ENUM || kind == RS_NODE_STRUCT || kind == RS_NODE_TYPEDEF;
    return kernels_need || (kind == RS_NODE_FUNCTION && rs_node_body(tree, node) >= 0 &&
                            rs_function_is_callable(tree, tree->nodes[node].declaration));
}

restride_status rs_kernels_write_head(rs_text *text, const rs_translation_unit *program,
                                      const char *file)
{
    const rs_tree *tree = &program->tree;
    rs_text_format(text,
                   "/* Made by restride analyze --apply from %s: see the report for what each "
                   "kernel is. */\n"
                   "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
                   "#pragma OPENCL FP_CONTRACT OFF\n",
                   file);
    /* C has functions of double and of float under names of their own; OpenCL C has one name, which
     * takes the type of the argument. */
    rs_text functions = RS_TEXT_EMPTY, names = RS_TEXT_EMPTY;
    for (int i = 0; i < program->tree.node_count; i++)
        if (program->tree.nodes[i].is == RS_NODE_CALL)
            write_function(&functions, &names, program->tree.nodes[i].name);
    if (functions.size > 0 && names.size > 0) {
        rs_text_add(text, functions.data, functions.size);
        rs_text_add(text, names.data, names.size);
    }
    text->failed = text->failed || functions.failed || names.failed;
    rs_text_free(&functions);
    rs_text_free(&names);
    write_keywords(text, program);
    RS_EACH_CHILD(child, tree, 0) {
        const rs_node *n = &tree->nodes[child];
        if (!belongs_to_head(tree, child))
            continue;
        rs_text_add(text, tree->text + n->begin, n->end - n->begin);
        rs_text_add_string(text, n->is == RS_NODE_FUNCTION ? "\n" : ";\n");
    }
    rs_text_add_string(text, "\n");
    return text->failed ? rs_fail_memory("the kernels of a nest") : RESTRIDE_OK;
}

/* ---- indentation ---- */

void rs_kernels_indent(rs_text *text, size_t from)
{
    rs_text indented = RS_TEXT_EMPTY;
    int depth = 0;
    bool open = false; /* the line before does not end a statement */
    if (text->failed || text->size <= from)
        return;
    for (const char *line = text->data + from; *line != '\0';) {
        size_t length = strcspn(line, "\n"), blank = strspn(line, " \t");
        const char *next = line + length + (line[length] == '\n');
        if (blank < length) {
            int levels = depth - (line[blank] == '}') + (open && line[blank] != '{');
            rs_text_format(&indented, "%*s", levels > 0 ? 4 * levels : 0, "");
            rs_text_add(&indented, line + blank, length - blank);
            open = strchr(";{}/", line[length - 1]) == NULL;
        }
        rs_text_add_string(&indented, "\n");
        for (size_t i = 0; i < length; i++)
            depth += (line[i] == '{') - (line[i] == '}');
        line = next;
    }
    text->size = from;
    text->data[from] = '\0';
    rs_text_add(text, indented.data != NULL ? indented.data : "", indented.size);
    text->failed = text->failed || indented.failed;
    rs_text_free(&indented);
}
