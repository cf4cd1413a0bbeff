/*
 * Two of the three passes of C2R and R2C for sides without a common divisor (Catanzaro, Keller and
 * Garland 2014, section 3); the third is COLUMNS of positions.cl.
 *
 * The host defines ITEMS, the work-items of a group, VALUES, the words of a row that each keeps in
 * registers, PANEL, the columns that rotate together, and STEP, the rows that a group writes at
 * once.
 */

/*
 * Row i: the element at e moves to (i * row_factor + e * factor) mod cols. A row longer than local
 * memory waits in registers and goes through local memory in parts of `part` words; `step` is
 * LOCAL_SIZE * factor mod cols.
 */
KERNEL_FOR(ITEMS)
shuffle_rows(GLOBAL WORD *data, ulong first, ulong matrix_words, uint cols, ulong row_factor,
             uint factor, uint step, uint part, LOCAL_ARRAY(WORD, cells))
{
    LOCAL_BEGIN(WORD, cells)
    GLOBAL WORD *row = data + first + GROUP_ID_2 * matrix_words + GROUP_ID * cols;
    uint start = (uint)((GROUP_ID * row_factor + (ulong)LOCAL_ID * factor) % cols);
    WORD values[VALUES];
    UNROLL
    for (uint k = 0; k < VALUES; k++)
        if (LOCAL_ID + k * LOCAL_SIZE < cols)
            values[k] = row[LOCAL_ID + k * LOCAL_SIZE];
    for (uint base = 0; base < cols; base += part) {
        uint width = cols - base < part ? cols - base : part;
        uint target = start;
        BARRIER_ALL; /* the whole row is read before any of it is written */
        UNROLL
        for (uint k = 0; k < VALUES; k++) {
            if (LOCAL_ID + k * LOCAL_SIZE < cols && target - base < width)
                cells[target - base] = values[k];
            target += step;
            target -= target >= cols ? cols : 0;
        }
        BARRIER;
        UNROLL_4
        for (uint place = LOCAL_ID; place < width; place += LOCAL_SIZE)
            row[base + place] = cells[place];
    }
}

/*
 * Column t of each panel of PANEL columns rotates by t: row x receives row (x + t) mod rows, or,
 * when `backward`, (x - t) mod rows, which is the same with rows counted from the last one.
 *
 * A group has a strip of rows of one panel and goes through it from its first row on, always
 * reading PANEL rows ahead of what it writes. What it needs of the next strip was saved before: of
 * row r behind the strip, the columns beyond r.
 */
enum {
    WINDOW = PANEL + STEP,
    WINDOW_PITCH = PANEL + 1,
    LINES = ITEMS / PANEL, /* rows that a group reads at once */
    KEPT = PANEL * (PANEL - 1) / 2
};

#define ROTATE_PARAMETERS                                                                          \
    ulong first, ulong matrix_words, ulong rows, ulong cols, ulong first_panel, uint panels,       \
        uint strips, uint backward
#define ROW_PLACE(row) ((backward ? rows - 1 - (row) : (row)) * cols)
#define STRIP_START(strip) (rows * (strip) / strips)
#define KEPT_PLACE(row, lane) ((row) * (2 * PANEL - 1 - (row)) / 2 + (lane) - (row)-1)

KERNEL_FOR(ITEMS) save_strips(GLOBAL const WORD *data, GLOBAL WORD *saved, ROTATE_PARAMETERS)
{
    uint lane = LOCAL_ID % PANEL;
    ulong panel = GROUP_ID / strips;
    ulong strip = GROUP_ID - panel * strips;
    ulong col = (first_panel + panel) * PANEL + lane;
    GLOBAL const WORD *column = data + first + GROUP_ID_2 * matrix_words + col;
    GLOBAL WORD *kept = saved + (GROUP_ID_2 * panels * strips + GROUP_ID) * KEPT;
    for (uint row = LOCAL_ID / PANEL; row < lane; row += LINES)
        if (col < cols)
            kept[KEPT_PLACE(row, lane)] = column[ROW_PLACE(STRIP_START(strip) + row)];
}

/* This work-item's lines of the STEP rows that come next; `unread` rows of the strip are left for
 * it, and of those behind the strip `kept` has what is needed. */
#define READ_AHEAD                                                                                 \
    UNROLL                                                                                         \
    for (int k = 0; k < STEP / LINES; k++)                                                         \
        if (busy && k * LINES < unread)                                                            \
            values[k] = source[k * LINES * stride];                                                \
        else if (busy && k * LINES - unread < lane)                                                \
            values[k] = kept[KEPT_PLACE(k * LINES - unread, lane)];                                \
    source += STEP * stride;                                                                       \
    unread -= STEP;
#define WINDOW_CELL(place)                                                                         \
    cells[((place) >= WINDOW ? (place)-WINDOW : (place)) * WINDOW_PITCH + lane]

KERNEL_FOR(ITEMS)
rotate_columns(GLOBAL WORD *data, GLOBAL const WORD *saved, ROTATE_PARAMETERS,
               LOCAL_ARRAY(WORD, cells))
{
    LOCAL_BEGIN(WORD, cells)
    int lane = LOCAL_ID % PANEL;
    int line = LOCAL_ID / PANEL;
    ulong panel = GROUP_ID / strips;
    ulong strip = GROUP_ID - panel * strips;
    ulong next = strip + 1 < strips ? strip + 1 : 0;
    ulong col = (first_panel + panel) * PANEL + lane;
    bool busy = col < cols;
    long stride = backward ? -(long)cols : (long)cols;
    GLOBAL WORD *target = data + first + GROUP_ID_2 * matrix_words + col +
                          ROW_PLACE(STRIP_START(strip)) + line * stride;
    GLOBAL const WORD *source = target;
    GLOBAL const WORD *kept = saved + (GROUP_ID_2 * panels * strips + panel * strips + next) * KEPT;
    WORD values[STEP / LINES];
    int height = (int)(STRIP_START(strip + 1) - STRIP_START(strip));
    int unread = height - line;    /* rows of the strip from this work-item's next line on */
    int unwritten = height - line; /* the same where it writes */
    int ahead = 0;                 /* rows in the window */
    int base = 0;                  /* where the next row to write is in the window */
    READ_AHEAD
    while (height > 0) {
        BARRIER;
        UNROLL
        for (int k = 0; k < STEP / LINES; k++)
            WINDOW_CELL(base + ahead + line + k * LINES) = values[k];
        ahead += STEP;
        READ_AHEAD
        if (ahead < WINDOW) /* until the window is full nothing is written */
            continue;
        BARRIER;
        UNROLL
        for (int k = 0; k < STEP / LINES; k++)
            if (busy && k * LINES < unwritten)
                target[k * LINES * stride] = WINDOW_CELL(base + line + k * LINES + lane);
        target += STEP * stride;
        unwritten -= STEP;
        height -= STEP;
        ahead -= STEP;
        base = base + STEP >= WINDOW ? base + STEP - WINDOW : base + STEP;
    }
}
