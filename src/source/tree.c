/* Checks that a flat text is safe to parse, and has it parsed. */
#include "source/tree.h"

#include "source/words.h"
#include "syntax/headers.h"

#include <string.h>

/*
 * Deeper sources are refused, so that none can exhaust clang's stack, which limits only the nesting
 * of brackets. Without brackets, nesting takes a long run of tokens, many an "else", or "for"
 * behind "for".
 */
enum { RUN_LIMIT = 1000, LONG_RUN_LIMIT = 8000, ELSE_LIMIT = 2000, LOOP_LIMIT = 200 };

/* Whether the source is safe to parse; if not, *offset is the place that is too much. */
static bool is_shallow(const char *text, size_t size, size_t run_limit, size_t *offset)
{
    size_t at = 0, run = 0, elses = 0, loops = 0, depth = 0, parentheses = 0;
    while (at < size && run <= run_limit && elses <= ELSE_LIMIT && loops <= LOOP_LIMIT) {
        *offset = at;
        char c = text[at];
        size_t length = rs_identifier_length(text + at);
        if (length > 0) {
            elses += rs_word_equals(text, at, length, "else");
            loops += rs_word_equals(text, at, length, "for");
            at += length;
            run++;
            continue;
        }
        at = rs_word_skip(text, size, at);
        if (c == ' ' || c == '\t' || c == '\n')
            continue;
        run = c == ';' || c == ',' || c == '{' || c == '}' ? 0 : run + 1;
        parentheses += c == '(';
        parentheses -= c == ')' && parentheses > 0;
        if (c == '{' || c == '}' || (c == ';' && parentheses == 0))
            loops = parentheses = 0;
        depth += c == '{';
        depth -= c == '}' && depth > 0;
        if (depth == 0)
            elses = 0;
    }
    return run <= run_limit && elses <= ELSE_LIMIT && loops <= LOOP_LIMIT;
}

static restride_status refuse(rs_tree *tree, const char *reason)
{
    tree->failure = strdup(reason);
    return tree->failure == NULL ? rs_fail_memory("a parsed source") : RESTRIDE_OK;
}

static restride_status parse_text(rs_tree *tree, const char *const arguments[], int argument_count,
                                  const rs_tree_file *extra, bool keeps_going, size_t run_limit)
{
    if (!is_shallow(tree->text, tree->size, run_limit, &tree->failure_offset))
        return refuse(tree, "an expression or statement is nested too deeply");
    return rs_flat_parse(tree, arguments, argument_count, extra, keeps_going);
}

restride_status rs_tree_parse(rs_tree *tree, const char *text, size_t size, const char *standard,
                              int address_bits)
{
    memset(tree, 0, sizeof *tree);
    tree->text = text;
    tree->size = size;
    char option[32] = "-cl-std=";
    if (strlen(standard) >= sizeof option - strlen(option))
        return refuse(tree, "the value of -cl-std is not known");
    strcat(option, standard);
    const char *const arguments[] = {"-x",
                                     "cl",
                                     option,
                                     "-target",
                                     address_bits == 32 ? "spir-unknown-unknown"
                                                        : "spir64-unknown-unknown",
                                     "-ferror-limit=0",
                                     "-idirafter",
                                     rs_clang_headers()};
    return parse_text(tree, arguments, (int)(sizeof arguments / sizeof arguments[0]), NULL, false,
                      RUN_LIMIT);
}

restride_status rs_tree_parse_as(rs_tree *tree, const char *text, size_t size,
                                 const char *const arguments[], int argument_count,
                                 const rs_tree_file *extra)
{
    memset(tree, 0, sizeof *tree);
    tree->text = text;
    tree->size = size;
    return parse_text(tree, arguments, argument_count, extra, true, LONG_RUN_LIMIT);
}
