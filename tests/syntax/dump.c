/* A tree as text: one line a node, indented. */
#include "dump.h"

static const char *const node_words[] = {
#define NODE_WORD(name, word, roles) word,
    RS_SYNTAX_NODES(NODE_WORD)};
static const char *const declaration_words[] = {
#define DECLARATION_WORD(name, word) word,
    RS_SYNTAX_DECLARATIONS(DECLARATION_WORD)};
static const char *const conversion_words[] = {
#define CONVERSION_WORD(name, word) word,
    RS_SYNTAX_CONVERSIONS(CONVERSION_WORD)};
static const char *const space_words[] = {
#define SPACE_WORD(name, word) word,
    RS_SYNTAX_SPACES(SPACE_WORD)};
static const char *const category_words[] = {"", "value", "place", "temporary"};

const char *node_word(rs_syntax_node_kind kind)
{
    return node_words[kind];
}

static void dump_range(rs_text *text, rs_syntax_range range)
{
    rs_text_format(text, " @%zu-%zu%s", range.begin, range.end, range.in_macro ? " macro" : "");
}

static void dump_constant(rs_text *text, rs_syntax_constant constant)
{
    if (constant.kind == RS_CONSTANT_INTEGER)
        rs_text_format(text, " =%lld", constant.integer);
    if (constant.kind == RS_CONSTANT_REAL)
        rs_text_format(text, " =%s", rs_decimal(constant.real, 6).text);
}

static void dump_node(rs_text *text, const rs_syntax *tree, const rs_syntax_node *node, int depth)
{
    rs_text_format(text, "%*s", 2 * depth, "");
    if (node == NULL) {
        rs_text_add_string(text, "-\n");
        return;
    }
    rs_text_add_string(text, node_words[node->kind]);
    if (node->conversion != RS_CONVERSION_NONE)
        rs_text_format(text, " %s", conversion_words[node->conversion]);
    if (node->symbol != NULL)
        rs_text_format(text, " %s%s", node->symbol, node->is_postfix ? " postfix" : "");
    if (node->is_arrow)
        rs_text_add_string(text, " arrow");
    if (node->declaration != NULL)
        rs_text_format(text, " '%s'", node->declaration->qualified);
    if (node->text != NULL)
        rs_text_format(text, " \"%s\"", node->text);
    dump_constant(text, node->constant);
    if (node->category != RS_NO_CATEGORY)
        rs_text_format(text, " %s", category_words[node->category]);
    if (node->type != NULL)
        rs_text_format(text, " <%s>", node->type->name);
    dump_range(text, node->range);
    rs_text_add_string(text, "\n");
    for (size_t i = 0; i < node->child_count; i++)
        dump_node(text, tree, node->children[i], depth + 1);
}

/* The flags of a declaration that are set, by their names. */
static void dump_flags(rs_text *text, const rs_syntax_declaration *of)
{
    const struct {
        const char *word;
        bool is_set;
    } flags[] = {{"kernel", of->is_kernel},
                 {"device", of->is_device},
                 {"host", of->is_host},
                 {"method", of->is_method},
                 {"static", of->is_static},
                 {"virtual", of->is_virtual},
                 {"constructor", of->is_constructor},
                 {"destructor", of->is_destructor},
                 {"conversion", of->is_conversion},
                 {"implicit", of->is_implicit},
                 {"instance", of->is_instance},
                 {"extern", of->is_extern},
                 {"union", of->is_union},
                 {"lambda", of->is_lambda},
                 {"polymorphic", of->is_polymorphic},
                 {"system", of->is_system}};
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        if (flags[i].is_set)
            rs_text_format(text, " %s", flags[i].word);
}

static void dump_head(rs_text *text, const rs_syntax_declaration *of)
{
    rs_text_format(text, "%s '%s'", declaration_words[of->kind], of->qualified);
    if (of->type != NULL) {
        rs_text_format(text, " <%s>", of->type->name);
        if (of->space != RS_SYNTAX_SPACE_ANY && of->space != RS_SYNTAX_SPACE_PRIVATE)
            rs_text_format(text, " in %s", space_words[of->space]);
        if (of->kind == RS_DECLARATION_RECORD)
            rs_text_format(text, " size %lld align %lld", of->type->size, of->type->align);
    }
    dump_flags(text, of);
    dump_constant(text, of->value);
}

void dump_declaration(rs_text *text, const rs_syntax *tree,
                      const rs_syntax_declaration *declaration)
{
    dump_head(text, declaration);
    dump_range(text, declaration->range);
    rs_text_add_string(text, "\n");
    for (size_t i = 0; i < declaration->base_count; i++)
        rs_text_format(text, "  base '%s' at %lld\n", declaration->bases[i].type->name,
                       declaration->bases[i].offset);
    for (size_t i = 0; i < declaration->field_count; i++) {
        const rs_syntax_declaration *field = declaration->fields[i];
        rs_text_add_string(text, "  ");
        dump_head(text, field);
        rs_text_format(text, " bit %lld", field->bit_offset);
        if (field->is_bitfield)
            rs_text_format(text, " width %lld", field->bit_width);
        rs_text_add_string(text, "\n");
    }
    for (size_t i = 0; i < declaration->parameter_count; i++) {
        rs_text_add_string(text, "  ");
        dump_head(text, declaration->parameters[i]);
        rs_text_add_string(text, "\n");
    }
    if (declaration->initializer != NULL)
        dump_node(text, tree, declaration->initializer, 1);
    if (declaration->body != NULL)
        dump_node(text, tree, declaration->body, 1);
}
