/*
 * See changes.h. Assignments by name come first; then what pointers, references and functions may
 * change, of the variables that escape at all.
 */
#include "analyze/changes.h"

#include "base/list.h"
#include "source/query.h"

enum { DEPTH_LIMIT = 20 };

void rs_changes_add(rs_walk *walk, rs_changes *all, const rs_assignment *change)
{
    RS_LIST_ADD(all->list, all->count, walk->no_memory, *change);
}

int rs_changes_count(const rs_walk *walk, const rs_changes *all, uint64_t key)
{
    int count = 0;
    for (int i = 0; i < all->count; i++)
        count += all->list[i].key == key || rs_walk_is_part(walk, all->list[i].key, key) ||
                 rs_walk_is_part(walk, key, all->list[i].key);
    return count;
}

bool rs_changes_are_guessed(const rs_walk *walk, const rs_changes *all, uint64_t key)
{
    for (int i = 0; i < all->count; i++)
        if (!all->list[i].guess &&
            (all->list[i].key == key || rs_walk_is_part(walk, key, all->list[i].key)))
            return false;
    return true;
}

/* ---- by name ---- */

bool rs_variable_key(rs_walk *walk, int node, uint64_t *key)
{
    node = rs_node_inner(walk->tree, node);
    if (node < 0 || !rs_walk_names_variable(walk, node))
        return false;
    rs_location place = rs_walk_locate(walk, node);
    *key = place.key;
    return place.kind == RS_PLACE_VARIABLE;
}

static bool lasts(const rs_tree *tree, int target)
{
    int root = rs_root_name(tree, target);
    return root >= 0 && rs_variable_lasts(tree->nodes[root].declaration);
}

bool rs_loads_memory(const rs_tree *tree, int node)
{
    for (int at = node, end = rs_node_behind(tree, node); at < end; at++) {
        const int kind = tree->nodes[at].is, first = tree->nodes[at].first;
        if (kind == RS_NODE_SUBSCRIPT || kind == RS_NODE_CALL ||
            (kind == RS_NODE_MEMBER && first >= 0 && rs_node_is_pointer(tree, first)) ||
            (rs_node_is_unary(tree, at, "*")))
            return true;
    }
    return false;
}

/* Reads "v = v + e", "v = e + v", "v = v - e". */
static void read_sum(rs_walk *walk, rs_assignment *c, int right)
{
    uint64_t key;
    right = rs_node_inner(walk->tree, right);
    if (right < 0 || walk->tree->nodes[right].is != RS_NODE_BINARY)
        return;
    int a = rs_node_child(walk->tree, right, 0), b = rs_node_child(walk->tree, right, 1);
    bool plus = rs_node_is_binary(walk->tree, right, "+");
    bool minus = rs_node_is_binary(walk->tree, right, "-");
    if ((plus || minus) && rs_variable_key(walk, a, &key) && key == c->key) {
        c->by = b;
        c->sign = plus ? 1 : -1;
    } else if (plus && rs_variable_key(walk, b, &key) && key == c->key) {
        c->by = a;
        c->sign = 1;
    }
}

/* Whether a node assigns a variable, and how. */
static bool read_change(rs_walk *walk, int node, rs_assignment *c)
{
    const rs_tree *tree = walk->tree;
    int kind = tree->nodes[node].is;
    int left = rs_node_child(tree, node, 0), right = rs_node_child(tree, node, 1);
    c->node = node;
    c->target = left;
    c->by = -1;
    c->sign = 0;
    c->data = c->guess = false;
    if (left < 0 || !rs_variable_key(walk, left, &c->key))
        return false;
    c->lasts = lasts(tree, left);
    if (rs_node_is_binary(tree, node, "=")) {
        read_sum(walk, c, right);
        c->data = rs_loads_memory(tree, right);
        return true;
    }
    if (kind == RS_NODE_ASSIGN) {
        bool plus = rs_node_is_binary(tree, node, "+="),
             minus = rs_node_is_binary(tree, node, "-=");
        c->sign = plus ? 1 : minus ? -1 : 0;
        c->by = right;
        c->data = right >= 0 && rs_loads_memory(tree, right);
        return true;
    }
    if (kind == RS_NODE_UNARY) {
        bool up = rs_node_is_unary(tree, node, "++");
        bool down = rs_node_is_unary(tree, node, "--");
        c->sign = up ? 1 : down ? -1 : 0;
        c->data = c->guess = rs_node_is_unary(tree, node, "&"); /* its address is handed on */
        return up || down || c->data;
    }
    return false;
}

/* Whether a node is a variable that inline assembly writes. */
static bool read_output(rs_walk *walk, int node, rs_assignment *c)
{
    if (!rs_node_is_output(walk->tree, node) || !rs_variable_key(walk, node, &c->key))
        return false;
    *c = (rs_assignment){c->key, node, node, -1, 0, true, true, lasts(walk->tree, node), false};
    return true;
}

void rs_changes_collect(rs_walk *walk, int node, bool always, rs_changes *all)
{
    rs_assignment c;
    if (node < 0)
        return;
    if (read_output(walk, node, &c))
        rs_changes_add(walk, all, &c);
    if (read_change(walk, node, &c)) {
        c.always = always;
        c.data = c.data || !always; /* whether it happens depends on what was loaded */
        rs_changes_add(walk, all, &c);
    }
    int kind = walk->tree->nodes[node].is;
    bool plain = kind == RS_NODE_COMPOUND || kind == RS_NODE_PAREN || kind == RS_NODE_BINARY ||
                 kind == RS_NODE_IMPLICIT || kind == RS_NODE_SUBSCRIPT || kind == RS_NODE_UNARY ||
                 kind == RS_NODE_ASSIGN || kind == RS_NODE_DECLARE || kind == RS_NODE_VARIABLE ||
                 kind == RS_NODE_CAST;
    bool either = rs_node_is_binary(walk->tree, node, "&& ||");
    RS_EACH_CHILD(child, walk->tree, node) {
        rs_changes_collect(walk, child, always && plain, all);
        always = always && !either;
    }
}

/* ---- by other ways ---- */

/* What a pointer leads to, or a place lies in. */
typedef enum { TO_VARIABLE, TO_MEMORY, TO_ANYTHING } reach;

typedef struct {
    rs_walk *walk;
    const int *parts; /* of the loop; NULL in a function that it calls */
    int callee;       /* the function, or -1 */
    rs_changes *all;
    int depth;
} unseen;

static reach of_pointer(unseen *u, int node, uint64_t *key);

static bool contains(const rs_tree *tree, int node, size_t offset)
{
    return node >= 0 && offset >= tree->nodes[node].begin && offset < tree->nodes[node].end;
}

static bool is_inside(const unseen *u, const rs_syntax_declaration *declared)
{
    const rs_tree *tree = u->walk->tree;
    size_t offset = declared->place;
    if (u->parts == NULL)
        return contains(tree, u->callee, offset);
    for (int i = 0; i < 3; i++)
        if (contains(tree, u->parts[i], offset))
            return true;
    return false;
}

/* The initializer of a variable that the loop declares; -1 for none. */
static int initializer_of(const unseen *u, const rs_syntax_declaration *declared)
{
    const rs_tree *tree = u->walk->tree;
    if (!rs_is_declared(declared, RS_DECLARATION_VARIABLE) || !is_inside(u, declared) ||
        !declared->is_initialized)
        return -1;
    for (int i = 0; i < tree->node_count; i++)
        if (tree->nodes[i].is == RS_NODE_VARIABLE && tree->nodes[i].declaration == declared)
            return rs_node_last(tree, i);
    return -1;
}

static reach of_value(const rs_walk *walk, int value, uint64_t *key)
{
    if (value >= 0 && walk->values[value].kind == RS_VALUE_POINTER &&
        walk->values[value].key != 0) {
        *key = walk->values[value].key;
        return TO_VARIABLE;
    }
    bool memory =
        value >= 0 && walk->values[value].kind == RS_VALUE_ADDRESS && !walk->values[value].lost;
    return memory ? TO_MEMORY : TO_ANYTHING;
}

static reach of_place(unseen *u, int node, uint64_t *key);

static reach of_name(unseen *u, int node, uint64_t *key)
{
    const rs_syntax_declaration *declared = u->walk->tree->nodes[node].declaration;
    const rs_syntax_type *type = rs_declared_type(declared);
    uint64_t own = rs_declared_key(declared);
    bool parameter = rs_is_declared(declared, RS_DECLARATION_PARAMETER);
    if ((type->kind == RS_TYPE_ARRAY && !parameter) ||
        (u->callee >= 0 && is_inside(u, declared) && parameter))
        return TO_MEMORY; /* what a parameter refers to is a matter of the arguments */
    if (type->kind != RS_TYPE_REFERENCE) {
        *key = own;
        return TO_VARIABLE;
    }
    if (is_inside(u, declared)) {
        int initializer = initializer_of(u, declared);
        return initializer < 0 ? TO_ANYTHING : of_place(u, initializer, key);
    }
    int known = rs_walk_find(u->walk, own);
    *key = own;
    return known < 0 ? TO_VARIABLE : of_value(u->walk, known, key);
}

/* What lies in a variable's array is memory of its own. */
static reach of_place(unseen *u, int node, uint64_t *key)
{
    const rs_tree *tree = u->walk->tree;
    node = rs_node_inner(tree, node);
    int base = node < 0 ? -1 : rs_node_child(tree, node, 0);
    if (node < 0 || ++u->depth > DEPTH_LIMIT)
        return TO_ANYTHING;
    if (tree->nodes[node].is == RS_NODE_REFERENCE)
        return of_name(u, node, key);
    if (rs_node_is_list(tree, node))
        return TO_MEMORY;
    if (base < 0)
        return TO_ANYTHING;
    if (rs_node_is_unary(tree, node, "*"))
        return of_pointer(u, base, key);
    bool element = tree->nodes[node].is == RS_NODE_SUBSCRIPT;
    if (!element && tree->nodes[node].is != RS_NODE_MEMBER &&
        tree->nodes[node].is != RS_NODE_IMPLICIT)
        return TO_ANYTHING;
    const rs_syntax_type *type = rs_type_of(tree, rs_node_inner(tree, base));
    if (type->kind == RS_TYPE_POINTER)
        return of_pointer(u, base, key);
    reach found = of_place(u, base, key);
    return element && type->kind == RS_TYPE_ARRAY && found == TO_VARIABLE ? TO_MEMORY : found;
}

/* Whether a pointer stays in memory whatever the loop assigns to it. */
static bool stays(unseen *u, uint64_t key)
{
    for (int i = 0; i < u->all->count; i++) {
        rs_assignment c = u->all->list[i];
        uint64_t other;
        if (c.key != key || (c.sign != 0 && !c.data))
            continue;
        if (c.sign == 0 &&
            (u->walk->tree->nodes[c.node].is != RS_NODE_BINARY ||
             of_pointer(u, rs_node_child(u->walk->tree, c.node, 1), &other) != TO_MEMORY))
            return false;
    }
    return true;
}

static bool is_assigned(const rs_tree *tree, int node, const rs_syntax_declaration *declared)
{
    for (int at = node, end = rs_node_behind(tree, node); at < end; at++) {
        const int left = rs_node_inner(tree, rs_node_child(tree, at, 0));
        if (left >= 0 && tree->nodes[left].is == RS_NODE_REFERENCE &&
            tree->nodes[left].declaration == declared &&
            (rs_node_is_binary(tree, at, "=") || rs_node_is_unary(tree, at, "&")))
            return true;
    }
    return false;
}

static reach of_pointer_name(unseen *u, int node, uint64_t *key)
{
    const rs_syntax_declaration *declared = u->walk->tree->nodes[node].declaration;
    const rs_syntax_type *type = rs_declared_type(declared);
    uint64_t own = rs_declared_key(declared);
    bool inside = is_inside(u, declared);
    bool parameter = rs_is_declared(declared, RS_DECLARATION_PARAMETER);
    if (type->kind == RS_TYPE_ARRAY && !parameter)
        return TO_MEMORY;
    if (u->callee >= 0 && is_assigned(u->walk->tree, u->callee, declared))
        return TO_ANYTHING;
    if (u->callee >= 0 && inside && parameter)
        return TO_MEMORY;
    int known = inside ? -1 : rs_walk_find(u->walk, own);
    reach found = TO_ANYTHING;
    if (inside)
        found = of_pointer(u, initializer_of(u, declared), key);
    else if (known >= 0)
        found = of_value(u->walk, known, key);
    else if (parameter)
        found = TO_MEMORY;
    bool changed = rs_changes_count(u->walk, u->all, own) > 0;
    return !changed || (found == TO_MEMORY && stays(u, own)) ? found : TO_ANYTHING;
}

static reach of_pointer(unseen *u, int node, uint64_t *key)
{
    const rs_tree *tree = u->walk->tree;
    node = node < 0 ? -1 : rs_node_inner(tree, node);
    if (node < 0 || ++u->depth > DEPTH_LIMIT)
        return TO_ANYTHING;
    int first = rs_node_child(tree, node, 0), last = rs_node_last(tree, node);
    switch ((int)tree->nodes[node].is) {
    case RS_NODE_REFERENCE:
        return of_pointer_name(u, node, key);
    case RS_NODE_CAST:
    case RS_NODE_IMPLICIT:
        return last < 0 ? TO_ANYTHING : of_pointer(u, last, key);
    case RS_NODE_SUBSCRIPT:
    case RS_NODE_MEMBER:
        return rs_type_of(tree, node)->kind == RS_TYPE_ARRAY ? TO_MEMORY : TO_ANYTHING;
    case RS_NODE_UNARY:
        if (rs_node_is_unary(tree, node, "&"))
            return of_place(u, first, key);
        break;
    case RS_NODE_BINARY:
        if (rs_node_is_binary(tree, node, "+ -")) {
            bool left = rs_node_is_pointer(tree, rs_node_inner(tree, first));
            return of_pointer(u, left ? first : last, key) == TO_MEMORY ? TO_MEMORY : TO_ANYTHING;
        }
        break;
    default:
        break;
    }
    return TO_ANYTHING;
}

static void add_unseen(unseen *u, uint64_t key, int node, int target, bool lasting)
{
    rs_assignment change = {key, node, target, -1, 0, false, true, lasting, true};
    rs_changes_add(u->walk, u->all, &change);
}

static void add_reachable(unseen *u, rs_stored stored, int node, bool others_too)
{
    for (int i = 0; i < u->walk->escaped->count; i++) {
        const rs_escaped *e = &u->walk->escaped->list[i];
        if (rs_stored_may_change(stored, e->type) &&
            (e->lasts || (others_too && rs_walk_has(u->walk, e->key))))
            add_unseen(u, e->key, node, e->node, e->lasts);
    }
}

static void add_target(unseen *u, int node, int target)
{
    uint64_t key = 0, named = 0;
    rs_stored stored = rs_stored_of(rs_type_of(u->walk->tree, target));
    u->depth = 0;
    reach found = of_place(u, target, &key);
    if (found == TO_ANYTHING)
        add_reachable(u, stored, node, true);
    else if (found == TO_MEMORY && rs_type_may_hold_index(rs_type_of(u->walk->tree, target)))
        add_reachable(u, stored, node, false);
    else if (found == TO_VARIABLE) {
        bool seen = u->callee < 0 && rs_variable_key(u->walk, target, &named);
        for (int i = 0; i < u->walk->escaped->count && !seen; i++)
            if (u->walk->escaped->list[i].key == key ||
                rs_walk_is_part(u->walk, key, u->walk->escaped->list[i].key))
                add_unseen(u, key, node, u->walk->escaped->list[i].node,
                           u->walk->escaped->list[i].lasts);
    }
}

static bool takes_address(const rs_tree *tree, int argument)
{
    return argument >= 0 && rs_node_is_pointer(tree, argument);
}

static void add_argument(unseen *u, int node, int argument, bool reference)
{
    uint64_t key = 0;
    u->depth = 0;
    reach found = reference ? of_place(u, argument, &key) : of_pointer(u, argument, &key);
    if (found == TO_ANYTHING)
        add_reachable(u, RS_STORED_ANYTHING, node, true);
    for (int i = 0; i < u->walk->escaped->count && found == TO_VARIABLE; i++)
        if (rs_walk_is_part(u->walk, key, u->walk->escaped->list[i].key))
            add_unseen(u, key, node, u->walk->escaped->list[i].node,
                       u->walk->escaped->list[i].lasts);
}

/* The object of a method may be changed by it. */
static void add_object(unseen *u, int node)
{
    uint64_t key = 0;
    const rs_syntax_declaration *method = u->walk->tree->nodes[node].declaration;
    int object = rs_walk_object(u->walk, node);
    if (object < 0 || u->callee >= 0 || method->is_const)
        return;
    u->depth = 0;
    bool pointer = rs_node_is_pointer(u->walk->tree, object);
    if (!pointer && of_place(u, object, &key) == TO_VARIABLE)
        add_unseen(u, key, node, object, lasts(u->walk->tree, object));
    else if (pointer)
        add_argument(u, node, object, false);
}

static void scan_below(unseen *u, int node);

static void add_call(unseen *u, int node)
{
    const rs_tree *tree = u->walk->tree;
    const rs_syntax_declaration *declared = tree->nodes[node].declaration;
    int which = 0, named = rs_node_operator(tree, node);
    if (rs_walk_only_reads(u->walk, node))
        return;
    if (declared->is_constructor && rs_walk_making_of(u->walk, declared) != RS_MAKING_ANYTHING)
        return;
    add_object(u, node);
    for (int argument = rs_node_argument(tree, node); argument >= 0;
         argument = tree->nodes[argument].next) {
        if (argument == named)
            continue;
        const rs_syntax_declaration *parameter = rs_parameter(declared, which++);
        const rs_syntax_type *type = rs_declared_type(parameter);
        bool reference = type->kind == RS_TYPE_REFERENCE;
        if (reference || takes_address(tree, rs_node_inner(tree, argument)))
            add_argument(u, node, argument, reference);
    }
    int body = rs_walk_is_virtual(u->walk, node) ? -1 : rs_walk_routine(u->walk, node);
    if (body < 0) {
        if (!rs_walk_is_harmless(u->walk, node))
            add_reachable(u, RS_STORED_ANYTHING, node, true);
        return;
    }
    for (int i = 0; i < u->walk->scanned_count; i++)
        if (u->walk->scanned[i] == body)
            return;
    if (u->walk->scanned_count == RS_CALL_DEPTH) {
        add_reachable(u, RS_STORED_ANYTHING, node, true);
        return;
    }
    u->walk->scanned[u->walk->scanned_count++] = body;
    unseen inner = {u->walk, NULL, body, u->all, 0};
    scan_below(&inner, body);
    u->walk->scanned_count--;
}

static void scan(unseen *u, int node)
{
    const rs_tree *tree = u->walk->tree;
    int kind = tree->nodes[node].is;
    int target = rs_node_child(tree, node, 0);
    if (kind == RS_NODE_LAMBDA) {
        if (!rs_lambda_captures_plainly(tree, node))
            add_reachable(u, RS_STORED_ANYTHING, node, true);
        return;
    }
    if (target >= 0 && rs_node_is_assignment(tree, node))
        add_target(u, node, target);
    if (kind == RS_NODE_CALL)
        add_call(u, node);
    size_t begin, end;
    if (kind == RS_NODE_DELETE || rs_switch_hides(tree, node, &begin, &end) ||
        ((kind == RS_NODE_VARIABLE || kind == RS_NODE_PARAMETER || kind == RS_NODE_CALL) &&
         rs_type_has_destructor(tree->nodes[node].type)))
        add_reachable(u, RS_STORED_ANYTHING, node, true);
    scan_below(u, node);
}

static void scan_below(unseen *u, int node)
{
    RS_EACH_CHILD(child, u->walk->tree, node)
        scan(u, child);
}

void rs_changes_collect_unseen(rs_walk *walk, int node, const int parts[3], rs_changes *all)
{
    unseen u = {walk, parts, -1, all, 0};
    bool classes = walk->program->language == RS_LANGUAGE_CUDA; /* whose methods change them */
    if (node >= 0 && (classes || walk->escaped->count > 0))
        scan(&u, node);
}
