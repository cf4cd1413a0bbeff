/* See figure_table.h. */
#include "lab/cli/figure_table.h"

const rs_figure_problem rs_figure_problems[RS_FIGURE_PROBLEMS] = {
    {"bcsstk18", 11948, 40},  {"e40r000", 17281, 62},  {"bcsstk31", 35588, 197},
    {"bcsstk32", 44609, 215}, {"s3dkq4m2", 90449, 59}, {"conf6.0", 49152, 39},
};

const size_t rs_figure_shapes[RS_FIGURE_SHAPES][2] = {
    {7200, 1800}, {5100, 2500}, {4000, 3200}, {3300, 3900}, {2500, 5100}, {1800, 7200},
};

/* ---- curves ---- */

#define BASELINE(which, ...)                                                                       \
    {                                                                                              \
        .kind = RS_FIGURE_BASELINE, .baseline = (which), __VA_ARGS__                               \
    }
#define CLAIMS_010(...) BASELINE(RS_BASELINE_CLAIMS_010, __VA_ARGS__)
#define PROBLEM(problem_rows, problem_width) .records = (problem_rows), .width = (problem_width)
#define METHOD(method_name)                                                                        \
    {                                                                                              \
        .kind = RS_FIGURE_METHOD, .method = (method_name)                                          \
    }
#define OFFLOAD(which)                                                                             \
    {                                                                                              \
        .kind = RS_FIGURE_OFFLOAD, .overlap = (which)                                              \
    }

static const rs_figure_curve square_curves[] = {
    {"in place", METHOD("square")},
    {"copy on the device", {.kind = RS_FIGURE_COPY}},
};

static const rs_figure_curve spreading_curves[] = {
    {"bcsstk18 (40)", CLAIMS_010(PROBLEM(11948, 40))},
    {"e40r000 (62)", CLAIMS_010(PROBLEM(17281, 62))},
    {"bcsstk31 (197)", CLAIMS_010(PROBLEM(35588, 197))},
    {"bcsstk32 (215)", CLAIMS_010(PROBLEM(44609, 215))},
};

static const rs_figure_curve padding_curves[] = {
    {"bcsstk18 (40)", CLAIMS_010(PROBLEM(11948, 40))},
    {"e40r000 (62)", CLAIMS_010(PROBLEM(17281, 62))},
    {"bcsstk31 (197)", CLAIMS_010(PROBLEM(35588, 197))},
    {"bcsstk32 (215)", CLAIMS_010(PROBLEM(44609, 215))},
    {"s3dkq4m2 (59)", CLAIMS_010(PROBLEM(90449, 59))},
    {"conf6.0 (39)", CLAIMS_010(PROBLEM(49152, 39))},
    {"bcsstk18, padded", CLAIMS_010(PROBLEM(11948, 40), .padding = true)},
    {"e40r000, padded", CLAIMS_010(PROBLEM(17281, 62), .padding = true)},
    {"bcsstk31, padded", CLAIMS_010(PROBLEM(35588, 197), .padding = true)},
    {"bcsstk32, padded", CLAIMS_010(PROBLEM(44609, 215), .padding = true)},
    {"s3dkq4m2, padded", CLAIMS_010(PROBLEM(90449, 59), .padding = true)},
    {"conf6.0, padded", CLAIMS_010(PROBLEM(49152, 39), .padding = true)},
};

#define ITEMS(number)                                                                              \
    {                                                                                              \
#number " work-items", CLAIMS_010(.items = (number), .spreading = 16, .padding = true)     \
    }
static const rs_figure_curve items_curves[] = {ITEMS(64), ITEMS(128), ITEMS(256), ITEMS(512)};

static const rs_figure_curve widths_curves[] = {
    {"P-IPT", BASELINE(RS_BASELINE_CYCLES_010, .tile = 32)},
    {"PTTWAC", CLAIMS_010(.tile = 32)},
    {"PTTWAC, remapped", CLAIMS_010(.tile = 32, .remapping = true)},
    {"PTTWAC, improved", CLAIMS_010(.tile = 32, .spreading = 16, .padding = true)},
    {"barrier synchronisation", BASELINE(RS_BASELINE_BARRIER_010, .tile = 32)},
};

static const rs_figure_curve versions_curves[] = {
    {"a work-group each", BASELINE(RS_BASELINE_GROUP_100, .tile = 64)},
    {"local memory tiling", BASELINE(RS_BASELINE_LOCAL_100, .tile = 64)},
    {"register tiling", BASELINE(RS_BASELINE_REGISTER_100, .tile = 64)},
    {"P-IPT", BASELINE(RS_BASELINE_CYCLES_100, .tile = 64)},
};

#define LOCAL_TILED(words)                                                                         \
    {                                                                                              \
        "m = " #words, BASELINE(RS_BASELINE_LOCAL_100, .tile = (words))                            \
    }
static const rs_figure_curve local_curves[] = {LOCAL_TILED(8), LOCAL_TILED(16), LOCAL_TILED(32),
                                               LOCAL_TILED(64)};

#define ACROSS(number)                                                                             \
    {                                                                                              \
        "M' = " #number, BASELINE(RS_BASELINE_LOCAL_100, .across = (number))                       \
    }
static const rs_figure_curve across_curves[] = {ACROSS(16), ACROSS(64), ACROSS(128), ACROSS(192),
                                                ACROSS(256)};

static const rs_figure_curve stages_curves[] = {
    {"3-stage", METHOD("3-stage 100! 0010! 0100!")},
    {"4-stage", METHOD("4-stage 0100! 0010! 1000! 0100!")},
    {"4-stage, fused", METHOD("4-stage fused")},
    {"3-stage by PTTWAC", METHOD("3-stage PTTWAC")},
    {"by PTTWAC, flags packed", METHOD("3-stage PTTWAC packed")},
    {"by PTTWAC, flags remapped", METHOD("3-stage PTTWAC remapped")},
    {"3-stage by P-IPT", METHOD("3-stage P-IPT")},
    {"planner's choice", METHOD(NULL)},
};

static const rs_figure_curve tiles_curves[] = {{"3-stage", {.kind = RS_FIGURE_3_STAGE}}};

static const rs_figure_curve marshal_curves[] = {
    {"SoA, out of place", BASELINE(RS_BASELINE_OUT_OF_PLACE, .tile = 16)},
    {"ASTA, BS", BASELINE(RS_BASELINE_BARRIER_010, .tile = 16)},
    {"ASTA, PTTWAC", CLAIMS_010(.tile = 16)},
};

static const rs_figure_curve problems_curves[] = {
    {"PTTWAC, T = 64", CLAIMS_010(.tile = 64)},
    {"PTTWAC, T = 32", CLAIMS_010(.tile = 32)},
    {"PTTWAC, T = 16", CLAIMS_010(.tile = 16)},
    {"BS, T = 64", BASELINE(RS_BASELINE_BARRIER_010, .tile = 64)},
    {"BS, T = 32", BASELINE(RS_BASELINE_BARRIER_010, .tile = 32)},
    {"BS, T = 16", BASELINE(RS_BASELINE_BARRIER_010, .tile = 16)},
};

static const rs_figure_curve host_curves[] = {
    {"host, in place", {.kind = RS_FIGURE_HOST}},
    {"device, in place", METHOD(NULL)},
    {"through the device", OFFLOAD(RESTRIDE_OVERLAP_NONE)},
    {"the way back overlapped", OFFLOAD(RESTRIDE_OVERLAP_BACK)},
    {"both ways overlapped", OFFLOAD(RESTRIDE_OVERLAP_BOTH)},
};

/* ---- figures ---- */

#define CURVES(array) .curves = (array), .curve_count = sizeof(array) / sizeof(array)[0]
#define SPREADINGS .x = RS_X_SPREADING, .x_logarithmic = true, .values = {1, 2, 4, 8, 16, 32}
#define WIDTHS .x = RS_X_WIDTH, .values = {16, 24, 32, 48, 64, 96, 128, 160, 192, 215, 256}

const rs_figure rs_figures[] = {
    {.name = "thesis-4.1",
     .title = "Square matrices in place",
     .x_label = "side N",
     .x = RS_X_SIDE,
     .values = {512, 1024, 2000, 2048, 4000, 4096, 6000, 8192, 10000, 12288, 16384},
     CURVES(square_curves),
     .paper = "Tesla C2050: about half of its 144 GB/s where N is large"},
    {.name = "thesis-4.4",
     .title = "Padding 5000 x 4000 to square in place, a step after the other",
     .x_label = "step",
     .x = RS_X_PADDING,
     .paper = "K20: rate and rows moved at once fall from step to step; the last rows go one by "
              "one"},
    {.name = "thesis-4.11",
     .title = "010! by PTTWAC: spreading the flags",
     .x_label = "spreading factor",
     SPREADINGS,
     CURVES(spreading_curves),
     .tiles = {16, 32, 64},
     .paper = "C2050: bandwidth rises with the spreading factor, divergent branches fall"},
    {.name = "thesis-4.16",
     .alias = "thesis-4.13 sung-6",
     .title = "010! by PTTWAC: spreading and padding the flags",
     .x_label = "spreading factor",
     SPREADINGS,
     CURVES(padding_curves),
     .tiles = {16, 32, 64},
     .paper = "K20: spreading makes 1.77 times the bandwidth on average, padding 12 % more"},
    {.name = "thesis-4.17",
     .title = "010! by PTTWAC: work-items for tiles of m x 64",
     .x_label = "m",
     .x = RS_X_TILE,
     .values = {16, 24, 32, 48, 64, 96, 128, 192, 256},
     CURVES(items_curves),
     .paper = "GTX 580: the best number of work-items grows with the elements of a tile"},
    {.name = "thesis-4.18",
     .title = "010!: P-IPT, PTTWAC and PTTWAC improved, m = 32",
     .x_label = "width n",
     WIDTHS,
     CURVES(widths_curves),
     .paper =
         "GTX 580: improved PTTWAC is 1.78 times as fast as the original; P-IPT depends on the "
         "cycles"},
    {.name = "thesis-4.19",
     .title = "100!: versions of PTTWAC, m = 64",
     .x_label = "N",
     WIDTHS,
     CURVES(versions_curves),
     .paper = "GTX 580 and K20: local memory tiling 3.35 and 3.05 times the original, register "
              "tiling 3.87 and 3.74"},
    {.name = "thesis-4.20",
     .title = "100! with local memory tiling",
     .x_label = "N",
     WIDTHS,
     CURVES(local_curves),
     .paper = "K20: 12.5, 24.5, 47.6 and 69 GB/s on average for m = 8, 16, 32, 64"},
    {.name = "sung-7",
     .title = "100! with local memory tiling, by m and M'",
     .x_label = "m",
     .x = RS_X_TILE,
     .values = {16, 32, 48, 64, 96, 128, 160, 192, 224, 256},
     CURVES(across_curves),
     .paper = "K20: best with m between 64 and 160"},
    {.name = "thesis-table-4.2",
     .alias = "sung-table-2",
     .title = "The papers' six shapes",
     .x_label = "shape",
     .x = RS_X_SHAPE,
     .kind = RS_PLOT_BARS,
     CURVES(stages_curves),
     .paper = "K20: 3-stage 20.59, 18.49, 20.73, 18.80, 17.29, 18.70 GB/s; 4-stage 7.11, 6.87, "
              "7.23, 7.23, 6.86, 7.07; fused 7.67, 7.38, 7.79, 7.79, 7.37, 7.60"},
    {.name = "thesis-4.21",
     .alias = "thesis-4.22 sung-8",
     .title = "Tile sizes of 3-stage transposition, 7200 x 1800",
     .x_label = "m",
     .x = RS_X_TILES,
     .kind = RS_PLOT_POINTS,
     CURVES(tiles_curves),
     .paper = "K20: 20.59 GB/s at best; 80 % of it and more near m = n = 60, m n below 3600"},
    {.name = "sung-9",
     .alias = "sung-table-3",
     .title = "Host and device, ways over the bus included",
     .x_label = "shape",
     .x = RS_X_SHAPE,
     .kind = RS_PLOT_BARS,
     CURVES(host_curves),
     .paper = "Xeon W3690: MKL out of place 12.07 GB/s, Gustavson and Karlsson in place 2.85; K20 "
              "with its ways 2.87, overlapped 3.43"},
    {.name = "thesis-table-5.2",
     .title = "Full and tiled transposition of e40r000",
     .x_label = "problem",
     .x = RS_X_PROBLEM,
     .kind = RS_PLOT_BARS,
     .values = {2},
     CURVES(marshal_curves),
     .paper = "GTX 480: out of place 80.06, BS 82.23, PTTWAC 19.64 GB/s"},
    {.name = "thesis-table-5.3",
     .title = "AoS to ASTA in place",
     .x_label = "problem",
     .x = RS_X_PROBLEM,
     .kind = RS_PLOT_BARS,
     .values = {1, 2, 3, 4, 5, 6},
     CURVES(problems_curves),
     .paper = "GTX 480: PTTWAC 5.0 to 21.3, BS 23.2 to 93.1 GB/s where a tile fits; both fall as T "
              "grows"},
};
const size_t rs_figure_count = sizeof rs_figures / sizeof rs_figures[0];
