/* See copy_runs.h. */
#include "engine/copy_runs.h"

static size_t step_of(const rs_copy_digit *digit, bool is_even)
{
    return is_even ? digit->step.even : digit->step.uneven;
}

static void append(rs_copy_digits *to, const rs_copy_digit *digit)
{
    to->digits[to->count++] = *digit;
}

static void make_chain(rs_copy_runs *runs, const rs_copy_digits *all, bool taken[], bool is_even,
                       size_t enough)
{
    bool ends = false;
    for (size_t i = 0; i < all->count && !ends; i++) {
        const rs_copy_digit *digit = &all->digits[i];
        if (taken[i] || step_of(digit, is_even) != runs->run)
            continue;
        taken[i] = true;
        append(&runs->chain, digit);
        runs->lower = runs->run;
        runs->run *= digit->count;
        ends = digit->partial >= 0 || runs->run >= enough;
        i = (size_t)-1; /* from the beginning */
    }
}

bool rs_copy_runs_of(rs_copy_runs *runs, const rs_copy_digits *all, bool is_even, size_t enough)
{
    bool taken[RS_COPY_MOST_AXES + 1] = {false};
    const rs_copy_digit *last = NULL;
    *runs = (rs_copy_runs){.lower = 1, .run = 1, .row_count = 1, .rows_by = 2};
    make_chain(runs, all, taken, is_even, enough);
    for (size_t i = 0; i < all->count; i++) {
        const rs_copy_digit *digit = &all->digits[i];
        if (taken[i])
            continue;
        if (digit->partial >= 0 && last != NULL)
            return false;
        if (digit->partial >= 0) {
            last = digit;
            continue;
        }
        append(&runs->rows, digit);
        runs->row_count *= digit->count;
    }
    if (last != NULL) {
        append(&runs->rows, last);
        runs->rows_by = last->partial;
    }
    return true;
}

static void place(const rs_copy_digits *of, size_t *cells, rs_copy_digits *all)
{
    for (size_t i = 0; i < of->count; i++) {
        for (size_t k = 0; k < all->count; k++)
            if (all->digits[k].axis == of->digits[i].axis)
                all->digits[k].step.cell = *cells;
        *cells *= of->digits[i].count;
    }
}

void rs_copy_runs_place(const rs_copy_runs *even, rs_copy_digits *all)
{
    size_t cells = 1;
    place(&even->chain, &cells, all);
    place(&even->rows, &cells, all);
}

size_t rs_copy_runs_lasts(const rs_copy_runs *runs)
{
    return runs->rows_by == 2 ? 1 : runs->rows.digits[runs->rows.count - 1].count;
}

static void go(rs_copy_place *at, const rs_copy_digit *digit, size_t times)
{
    at->even += times * digit->step.even;
    at->uneven += times * digit->step.uneven;
    at->cell += times * digit->step.cell;
}

rs_copy_place rs_copy_runs_row(const rs_copy_runs *runs, size_t row, size_t last)
{
    rs_copy_place at = runs->first;
    size_t usual = runs->rows.count - (runs->rows_by != 2);
    for (size_t i = 0; i < usual; i++) {
        go(&at, &runs->rows.digits[i], row % runs->rows.digits[i].count);
        row /= runs->rows.digits[i].count;
    }
    if (runs->rows_by != 2)
        go(&at, &runs->rows.digits[usual], last);
    return at;
}

uint64_t rs_copy_runs_low(const rs_copy_runs *runs, size_t word)
{
    uint64_t cell = 0;
    for (size_t i = 0; i + 1 < runs->chain.count; i++) {
        const rs_copy_digit *digit = &runs->chain.digits[i];
        cell += word % digit->count * digit->step.cell;
        word /= digit->count;
    }
    return cell;
}

rs_copy_digit rs_copy_runs_high(const rs_copy_runs *runs)
{
    if (runs->chain.count > 0)
        return runs->chain.digits[runs->chain.count - 1];
    return (rs_copy_digit){.axis = RS_COPY_NO_AXIS, .count = 1, .partial = -1};
}
