/* The vectorization test, Q_V and the transformation rules. */
#include "analyze/vector.h"

#include <stdlib.h>
#include <string.h>

/* ---- the instances of a loop ---- */

static bool is_innermost(const rs_unit *unit, int loop)
{
    for (int i = 0; i < unit->loop_count; i++)
        if (unit->loops[i].parent == loop)
            return false;
    return true;
}

/* Whether an access takes part: once for each different address, arrays in memory only. */
static bool is_instance(const rs_accesses *accesses, int index, int loop)
{
    const rs_access *access = &accesses->accesses[index];
    const rs_array *array = &accesses->unit->arrays[access->reference->array];
    if (access->reference->loop != loop || array->space == RS_SPACE_PRIVATE ||
        access->classes == RS_CLASS_SINGLE)
        return false;
    for (int i = 0; i < index; i++)
        if (accesses->accesses[i].reference->loop == loop &&
            rs_access_same(&accesses->accesses[i], access))
            return false;
    return true;
}

/* How far a row moves with a symbol: of a thread's local and its global index, with both. */
static rs_polynomial step_of(const rs_access *access, const rs_unit *unit, int row, int symbol)
{
    rs_polynomial step = rs_polynomial_constant(0);
    for (int i = 0; i < access->columns; i++)
        if (rs_symbols_step_together(&unit->symbols, access->symbols[i], symbol))
            step = rs_polynomial_add(&step, &access->matrix[row][i]);
    return step;
}

int rs_access_row(const rs_access *access, const rs_unit *unit, int symbol)
{
    if (rs_access_is_random(access) || access->reference->atomic)
        return -1;
    for (int row = access->rows - 1; row >= 0; row--) {
        rs_polynomial entry = step_of(access, unit, row, symbol);
        if (!rs_polynomial_is_zero(&entry))
            return row;
    }
    return -1;
}

static int count_group(const rs_accesses *accesses, int loop, int symbol)
{
    int count = 0;
    for (int i = 0; i < accesses->unit->reference_count; i++)
        count += is_instance(accesses, i, loop) &&
                 rs_access_row(&accesses->accesses[i], accesses->unit, symbol) >= 0;
    return count;
}

/* ---- the rules ---- */

static void print_entry(rs_text *text, const rs_polynomial *p, const rs_symbols *symbols)
{
    rs_polynomial_print(text, p, symbols);
}

static char *print_ratio(const rs_polynomial *numerator, const rs_polynomial *denominator,
                         const rs_symbols *symbols)
{
    rs_text text = RS_TEXT_EMPTY;
    int64_t below;
    if (rs_polynomial_is_constant(denominator, &below) && below != 0) {
        rs_polynomial whole = rs_polynomial_divide(numerator, below);
        if (whole.known) {
            print_entry(&text, &whole, symbols);
            return rs_text_take(&text);
        }
        if (below < 0) {
            rs_polynomial above = rs_polynomial_scale(numerator, -1);
            rs_polynomial positive = rs_polynomial_constant(-below);
            return print_ratio(&above, &positive, symbols);
        }
    }
    rs_text_add_string(&text, numerator->count > 1 ? "(" : "");
    print_entry(&text, numerator, symbols);
    rs_text_add_string(&text, numerator->count > 1 ? ")/" : "/");
    rs_text_add_string(&text, denominator->count > 1 ? "(" : "");
    print_entry(&text, denominator, symbols);
    rs_text_add_string(&text, denominator->count > 1 ? ")" : "");
    return rs_text_take(&text);
}

/* Row `rule->row` of T before the switch: skewed, then divided by its stride. */
bool rs_rule_make(rs_rule *rule, const rs_access *access, const rs_unit *unit, int symbol)
{
    const rs_symbols *symbols = &unit->symbols;
    rs_polynomial one = rs_polynomial_constant(1), zero = rs_polynomial_constant(0);
    rs_polynomial stride = step_of(access, unit, rule->row, symbol);
    rs_polynomial weights[RS_SUBSCRIPT_LIMIT], moved = access->offset[rule->row];
    int64_t constant = 0;
    bool fixed = rs_polynomial_is_constant(&stride, &constant);
    for (int i = 0; i < access->rows; i++)
        weights[i] = i == rule->row ? one : zero;
    for (int i = 0; i < access->columns; i++) {
        const rs_polynomial *entry = &access->matrix[rule->row][i];
        if (rs_symbols_step_together(symbols, access->symbols[i], symbol) ||
            rs_polynomial_is_zero(entry))
            continue;
        int other = rs_access_single_row(access, rule->row, access->symbols[i]);
        rule->kinds |= other >= 0 ? RS_RULE_SKEW : RS_RULE_DUPLICATE;
        if (other >= 0) {
            rs_polynomial taken = rs_polynomial_multiply(entry, &access->offset[other]);
            weights[other] = rs_polynomial_subtract(&weights[other], entry);
            moved = rs_polynomial_subtract(&moved, &taken);
        }
    }
    if (!fixed || (constant != 1 && constant != -1))
        rule->kinds |= RS_RULE_GATHER;
    if (fixed && constant < 0)
        rule->kinds |= RS_RULE_REVERSE;
    if (!rs_polynomial_is_zero(&access->offset[rule->row]))
        rule->kinds |= RS_RULE_SHIFT;
    if (rule->row != access->rows - 1)
        rule->kinds |= RS_RULE_SWITCH;
    int last = access->rows - 1;
    bool ok = true;
    for (int row = 0; row < access->rows; row++) {
        int source = row == last ? rule->row : row == rule->row ? last : row;
        for (int column = 0; column < access->rows; column++)
            rule->matrix[row][column] = row == last
                                            ? print_ratio(&weights[column], &stride, symbols)
                                            : strdup(column == source ? "1" : "0");
        rs_polynomial negative = rs_polynomial_scale(&moved, -1);
        rule->shift[row] = row == last ? print_ratio(&negative, &stride, symbols) : strdup("0");
        for (int column = 0; column < access->rows; column++)
            ok = ok && rule->matrix[row][column] != NULL;
        ok = ok && rule->shift[row] != NULL;
    }
    rule->size = access->rows;
    return ok;
}

/* Whether one copy serves both. */
static bool is_same_rule(const rs_rule *a, const rs_rule *b)
{
    bool same = a->size == b->size;
    for (int row = 0; row < a->size && same; row++) {
        same = strcmp(a->shift[row], b->shift[row]) == 0;
        for (int column = 0; column < a->size && same; column++)
            same = strcmp(a->matrix[row][column], b->matrix[row][column]) == 0;
    }
    return same;
}

void rs_rule_print(rs_text *text, unsigned kinds)
{
    static const struct {
        unsigned bit;
        const char *name;
    } names[] = {{RS_RULE_DUPLICATE, "duplicate"},  {RS_RULE_SWITCH, "dimension switch"},
                 {RS_RULE_SHIFT, "shift"},          {RS_RULE_REVERSE, "reverse"},
                 {RS_RULE_GATHER, "gather stride"}, {RS_RULE_SKEW, "skew"}};
    bool first = true;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if ((kinds & names[i].bit) != 0) {
            rs_text_format(text, "%s%s", first ? "" : " + ", names[i].name);
            first = false;
        }
    if (first)
        rs_text_add_string(text, "none");
}

/* ---- the verdict ---- */

const char *rs_vector_verdict_text(rs_vector_verdict verdict)
{
    static const char *const texts[] = {"as it is",
                                        "after transformation",
                                        "partly",
                                        "never: loop-carried dependence",
                                        "never: random access",
                                        "never: other"};
    return texts[verdict];
}

/* Whether the group's accesses run through their last dimensions side by side. */
static bool is_aligned(const rs_vector_group *group, const rs_accesses *accesses)
{
    for (int i = 0; i < group->rule_count; i++) {
        if ((group->rules[i].kinds & ~(unsigned)(RS_RULE_SHIFT | RS_RULE_DUPLICATE)) != 0)
            return false;
        const rs_access *a = &accesses->accesses[group->rules[0].access];
        const rs_access *b = &accesses->accesses[group->rules[i].access];
        if (!rs_polynomial_equal(&a->offset[a->rows - 1], &b->offset[b->rows - 1]))
            return false;
        if (b->approximated)
            return false;
    }
    return true;
}

static bool set_reason(rs_vector_group *group, rs_vector_verdict verdict, rs_text *reason)
{
    group->verdict = verdict;
    group->reason = rs_text_take(reason);
    return group->reason != NULL;
}

/* Whether a dependence may only seem to be one because a subscript comes from loaded values. */
static bool has_random(const rs_vector_group *group, const rs_accesses *accesses)
{
    for (int i = 0; i < group->left_out_count; i++)
        if ((accesses->accesses[group->left_out[i]].classes & RS_CLASS_RANDOM) != 0)
            return true;
    return false;
}

static bool judge(rs_vector_group *group, const rs_accesses *accesses,
                  const rs_dependence *dependences)
{
    const rs_unit *unit = accesses->unit;
    rs_text reason = RS_TEXT_EMPTY;
    if (group->loop >= 0 && unit->loops[group->loop].leaves_early) {
        rs_text_format(&reason, "the loop in line %d can be left early",
                       unit->loops[group->loop].line);
        return set_reason(group, RS_VECTOR_OTHER, &reason);
    }
    const rs_dependence *d = group->loop >= 0 ? &dependences[group->loop] : NULL;
    bool perhaps = d != NULL && d->kind == RS_CARRIED_VALUE && !d->certain;
    if (group->symbol < 0 && d != NULL && d->kind == RS_CARRIED_VALUE &&
        !(perhaps && has_random(group, accesses))) {
        if (d->first > 0)
            rs_text_format(&reason, "%s carries values from one iteration to the next (%s%d, %d)",
                           d->what, d->certain ? "lines " : "perhaps: lines ", d->first, d->last);
        else
            rs_text_format(&reason, "%s carries its value from one iteration to the next%s",
                           d->what, d->certain ? "" : ", perhaps");
        return set_reason(group, RS_VECTOR_CARRIED, &reason);
    }
    for (int i = 0; i < group->left_out_count; i++) {
        const rs_access *access = &accesses->accesses[group->left_out[i]];
        bool unknown = (access->classes & RS_CLASS_UNKNOWN) != 0;
        if (!rs_access_is_random(access) && !access->reference->atomic)
            continue;
        rs_text_format(&reason, "%s in line %d %s", access->reference->text,
                       access->reference->line,
                       unknown ? "is handed to code that is not followed" : "is a random access");
        return set_reason(group, unknown ? RS_VECTOR_OTHER : RS_VECTOR_RANDOM, &reason);
    }
    if (group->left_out_count > 0 || group->symbol < 0) {
        group->verdict = group->rule_count > 0 ? RS_VECTOR_PARTLY : RS_VECTOR_OTHER;
        return true;
    }
    group->verdict = is_aligned(group, accesses) ? RS_VECTOR_AS_IS : RS_VECTOR_TRANSFORMED;
    for (int i = 0; i < group->rule_count && group->verdict == RS_VECTOR_TRANSFORMED; i++) {
        const rs_reference *r = accesses->accesses[group->rules[i].access].reference;
        if ((group->rules[i].kinds & RS_RULE_DUPLICATE) == 0 || !r->written)
            continue;
        rs_text_format(&reason, "%s is written: its copies have to be kept equal",
                       unit->arrays[r->array].name);
        return set_reason(group, RS_VECTOR_TRANSFORMED, &reason);
    }
    return true;
}

/* ---- the search ---- */

/* Whether a symbol moves an access itself, and not only together with another one. */
static bool is_met(const rs_accesses *accesses, int loop, int symbol)
{
    bool met = false;
    for (int i = 0; i < accesses->unit->reference_count && !met; i++) {
        const rs_access *access = &accesses->accesses[i];
        for (int row = 0; row < access->rows && is_instance(accesses, i, loop); row++) {
            rs_polynomial entry = rs_access_entry(access, row, symbol);
            met = met || !rs_polynomial_is_zero(&entry);
        }
    }
    return met;
}

/* Tries a symbol as the target; innermost ones come first and win ties. */
static void try_symbol(const rs_accesses *accesses, rs_vector_group *group, int symbol, int *best)
{
    int count = count_group(accesses, group->loop, symbol);
    if (count > *best && is_met(accesses, group->loop, symbol)) {
        *best = count;
        group->symbol = symbol;
    }
}

static void choose_symbol(const rs_accesses *accesses, const rs_dependence *dependences,
                          rs_vector_group *group)
{
    const rs_unit *unit = accesses->unit;
    int best = 0;
    group->symbol = -1;
    for (int loop = group->loop; loop >= 0; loop = unit->loops[loop].parent)
        if (dependences[loop].kind != RS_CARRIED_VALUE)
            try_symbol(accesses, group, unit->loops[loop].symbol, &best);
    for (int i = 0; i < unit->symbols.column_count && unit->kernel; i++) {
        const rs_symbol *s = &unit->symbols.symbols[unit->symbols.columns[i]];
        if (s->kind == RS_SYMBOL_GLOBAL || (s->kind == RS_SYMBOL_LOCAL && s->used))
            try_symbol(accesses, group, unit->symbols.columns[i], &best);
    }
}

static bool fill_group(const rs_accesses *accesses, const rs_dependence *dependences,
                       rs_vector_group *group)
{
    const rs_unit *unit = accesses->unit;
    choose_symbol(accesses, dependences, group);
    group->rules = calloc((size_t)unit->reference_count + 1, sizeof *group->rules);
    group->left_out = calloc((size_t)unit->reference_count + 1, sizeof *group->left_out);
    bool ok = group->rules != NULL && group->left_out != NULL;
    for (int i = 0; i < unit->reference_count && ok; i++) {
        if (!is_instance(accesses, i, group->loop))
            continue;
        const rs_access *access = &accesses->accesses[i];
        int row = group->symbol < 0 ? -1 : rs_access_row(access, unit, group->symbol);
        group->instances++;
        if (row < 0) {
            group->left_out[group->left_out_count++] = i;
            continue;
        }
        rs_rule *rule = &group->rules[group->rule_count++];
        rule->access = i;
        rule->row = row;
        ok = rs_rule_make(rule, access, unit, group->symbol);
    }
    if (ok) {
        /* Several accesses of one array with different rules need a copy of it each. */
        for (int i = 0; i < group->rule_count; i++)
            for (int j = 0; j < group->rule_count; j++) {
                rs_rule *a = &group->rules[i];
                const rs_rule *b = &group->rules[j];
                if (accesses->accesses[a->access].reference->array ==
                        accesses->accesses[b->access].reference->array &&
                    (a->kinds & ~(unsigned)RS_RULE_DUPLICATE) != 0 && !is_same_rule(a, b))
                    a->kinds |= RS_RULE_DUPLICATE;
            }
    }
    return ok && judge(group, accesses, dependences);
}

restride_status rs_vector_groups_find(const rs_accesses *accesses, const rs_dependence *dependences,
                                      rs_vector_group **groups, int *count)
{
    const rs_unit *unit = accesses->unit;
    *count = 0;
    *groups = calloc((size_t)unit->loop_count + 1, sizeof **groups);
    bool ok = *groups != NULL;
    for (int loop = unit->kernel ? -1 : 0; loop < unit->loop_count && ok; loop++) {
        if (loop >= 0 && !is_innermost(unit, loop))
            continue;
        bool used = false;
        for (int i = 0; i < unit->reference_count && !used; i++)
            used = is_instance(accesses, i, loop);
        if (!used)
            continue;
        rs_vector_group *group = &(*groups)[(*count)++];
        group->loop = loop;
        ok = fill_group(accesses, dependences, group);
    }
    return ok ? RESTRIDE_OK : rs_fail_memory("the vector groups");
}

void rs_rule_free(rs_rule *rule)
{
    for (int row = 0; row < RS_SUBSCRIPT_LIMIT; row++) {
        free(rule->shift[row]);
        for (int column = 0; column < RS_SUBSCRIPT_LIMIT; column++)
            free(rule->matrix[row][column]);
    }
}

void rs_vector_groups_free(rs_vector_group *groups, int count)
{
    for (int i = 0; groups != NULL && i < count; i++) {
        for (int r = 0; r < groups[i].rule_count; r++)
            rs_rule_free(&groups[i].rules[r]);
        free(groups[i].rules);
        free(groups[i].left_out);
        free(groups[i].reason);
    }
    free(groups);
}
