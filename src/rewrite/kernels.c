/* Kernels and their arguments, and the life of the model. */
#include "rewrite/model.h"

#include "base/text.h"
#include "source/words.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *copy_string(CXString string)
{
    char *copy = strdup(clang_getCString(string));
    clang_disposeString(string);
    return copy;
}

restride_status rs_argument_refuse(rs_argument *argument, size_t offset, const char *format, ...)
{
    if (argument->reason != NULL && argument->reason_offset <= offset)
        return RESTRIDE_OK;
    char sentence[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    char *copy = strdup(sentence);
    if (copy == NULL)
        return rs_fail_memory("the reason for an argument");
    free(argument->reason);
    argument->reason = copy;
    argument->reason_offset = offset;
    return RESTRIDE_OK;
}

/* An attribute of a function has no kind of its own in libclang; the keyword in the text tells. */
static bool is_kernel(const rs_tree *tree, int function)
{
    for (int n = tree->nodes[function].first; n >= 0; n = tree->nodes[n].next) {
        const rs_node *node = &tree->nodes[n];
        if (clang_isAttribute(node->kind) != 0 &&
            (rs_word_equals(tree->text, node->begin, node->end - node->begin, "kernel") ||
             rs_word_equals(tree->text, node->begin, node->end - node->begin, "__kernel")))
            return true;
    }
    return false;
}

/* Whether the spelling of a type has the word; libclang has no other way to tell OpenCL's address
 * spaces. */
static bool type_has_word(CXType type, const char *name)
{
    CXString spelling = clang_getTypeSpelling(type);
    const char *text = clang_getCString(spelling);
    size_t size = strlen(text), position = 0, word, length;
    bool found = false;
    while (!found && rs_word_next(text, size, &position, &word, &length))
        found = rs_word_equals(text, word, length, name);
    clang_disposeString(spelling);
    return found;
}

/* The type as a user writes it: clang adds "__private" for the parameter's own place. */
static char *type_name(CXType type)
{
    static const char own_place[] = "__private";
    char *name = copy_string(clang_getTypeSpelling(type));
    size_t length = name == NULL ? 0 : strlen(name), tail = strlen(own_place);
    if (length > tail && strcmp(name + length - tail, own_place) == 0) {
        length -= tail;
        while (length > 0 && name[length - 1] == ' ')
            length--;
        name[length] = '\0';
    }
    return name;
}

/*
 * What a pointer or array parameter points to, and the type that spells its address space: for an
 * array, libclang tells the address space of the whole, not of the elements. False for parameters
 * of other types.
 */
static bool pointee(CXType type, CXType *target, CXType *spelled)
{
    CXType canonical = clang_getCanonicalType(type);
    if (canonical.kind == CXType_Pointer) {
        *target = *spelled = clang_getPointeeType(canonical);
        return true;
    }
    *target = clang_getArrayElementType(canonical);
    *spelled = canonical;
    return canonical.kind == CXType_IncompleteArray || canonical.kind == CXType_ConstantArray;
}

static restride_status refuse_structure(rs_model *model, rs_argument *argument, CXType target,
                                        size_t offset)
{
    CXType element = clang_getCanonicalType(target);
    if (element.kind != CXType_Record)
        return rs_argument_refuse(argument, offset, "it is not an array of structures");
    restride_status status = rs_model_structure(model, element, &argument->structure);
    if (status != RESTRIDE_OK)
        return status;
    const rs_structure *s = &model->structures[argument->structure];
    if (s->failure != NULL)
        return rs_argument_refuse(argument, s->failure_offset, "%s", s->failure);
    const rs_node *kernel = &model->tree->nodes[model->kernels[argument->kernel].node];
    unsigned declared = 0;
    CXFile file;
    clang_getFileLocation(clang_getCursorLocation(s->declaration), &file, NULL, NULL, &declared);
    if (declared >= kernel->begin)
        return rs_argument_refuse(argument, offset, "its structure is declared in the kernel");
    if (s->record.leaf_count < 2)
        return rs_argument_refuse(argument, offset, "its structure has only one member");
    return RESTRIDE_OK;
}

static restride_status add_argument(rs_model *model, int kernel, CXCursor cursor, unsigned index)
{
    static const char *const address_spaces[] = {"__global", "__constant"};
    CXType type = clang_getCursorType(cursor), target, spelled;
    if (!pointee(type, &target, &spelled))
        return RESTRIDE_OK;
    const char *address_space = NULL;
    for (int i = 0; i < 2; i++)
        if (type_has_word(spelled, address_spaces[i]))
            address_space = address_spaces[i];
    if (address_space == NULL)
        return RESTRIDE_OK;
    rs_argument *grown =
        realloc(model->arguments, (size_t)(model->argument_count + 1) * sizeof *grown);
    if (grown == NULL)
        return rs_fail_memory("a kernel's arguments");
    model->arguments = grown;
    rs_argument *added = &grown[model->argument_count++];
    memset(added, 0, sizeof *added);
    added->cursor = cursor;
    added->kernel = kernel;
    added->index = index;
    added->structure = added->accessor = added->count_argument = -1;
    added->address_space = address_space;
    added->name = copy_string(clang_getCursorSpelling(cursor));
    added->type = type_name(type);
    if (added->name == NULL || added->type == NULL)
        return rs_fail_memory("a kernel's arguments");
    unsigned offset = 0;
    CXFile file;
    clang_getFileLocation(clang_getCursorLocation(cursor), &file, NULL, NULL, &offset);
    added->offset = offset;
    model->kernels[kernel].argument_count++;
    return refuse_structure(model, added, target, offset);
}

static restride_status add_kernel(rs_model *model, int node)
{
    rs_kernel_source *grown =
        realloc(model->kernels, (size_t)(model->kernel_count + 1) * sizeof *grown);
    if (grown == NULL)
        return rs_fail_memory("a kernel");
    model->kernels = grown;
    int kernel = model->kernel_count++;
    CXCursor cursor = model->tree->nodes[node].cursor;
    int parameters = clang_Cursor_getNumArguments(cursor);
    grown[kernel] = (rs_kernel_source){
        cursor, node,      copy_string(clang_getCursorSpelling(cursor)), model->argument_count,
        0,      parameters};
    if (grown[kernel].name == NULL)
        return rs_fail_memory("a kernel");
    restride_status status = RESTRIDE_OK;
    for (int i = 0; i < parameters && status == RESTRIDE_OK; i++)
        status =
            add_argument(model, kernel, clang_Cursor_getArgument(cursor, (unsigned)i), (unsigned)i);
    return status;
}

restride_status rs_model_find_kernels(rs_model *model)
{
    const rs_tree *tree = model->tree;
    restride_status status = RESTRIDE_OK;
    for (int n = tree->nodes[0].first; n >= 0 && status == RESTRIDE_OK; n = tree->nodes[n].next)
        if (tree->nodes[n].kind == CXCursor_FunctionDecl &&
            clang_isCursorDefinition(tree->nodes[n].cursor) != 0 && is_kernel(tree, n))
            status = add_kernel(model, n);
    return status;
}

void rs_model_free(rs_model *model)
{
    for (int i = 0; i < model->structure_count; i++) {
        rs_structure *s = &model->structures[i];
        for (size_t m = 0; m < s->member_count; m++)
            free(s->members[m].path);
        free(s->members);
        free(s->name);
        free(s->failure);
        rs_record_free(&s->record);
    }
    for (int i = 0; i < model->argument_count; i++) {
        free(model->arguments[i].name);
        free(model->arguments[i].type);
        free(model->arguments[i].reason);
        free(model->arguments[i].layout);
    }
    for (int i = 0; i < model->kernel_count; i++)
        free(model->kernels[i].name);
    for (int i = 0; i < model->accessor_count; i++)
        free(model->accessors[i].layout);
    free(model->structures);
    free(model->arguments);
    free(model->kernels);
    free(model->accesses);
    free(model->accessors);
    free(model->copiers);
    memset(model, 0, sizeof *model);
}
