/*
 * restride-lab patterns: the tables of Jang 2011 (section 5) beside what the analysis says of the
 * same programs in lab/kernels, which are built into this program.
 */
#include "base/folder.h"
#include "base/json.h"
#include "base/text.h"
#include "console/fail.h"
#include "console/options.h"
#include "lab/cli/analyzer.h"
#include "lab/cli/lab.h"

#include <stdio.h>
#include <string.h>

static const char usage[] =
    "usage: restride-lab patterns [--json]\n\n"
    "Tables 2, 3 and 4 of Jang et al., \"Exploiting Memory Access Patterns to Improve Memory\n"
    "Performance in Data-Parallel Architectures\" (2011), beside what restride analyze says of "
    "the\n"
    "same programs.\n\n"
    "  --json       the tables as JSON\n"
    "  -h, --help   this page\n";

extern const char rs_kernels_matmul[], rs_kernels_livermore[], rs_kernels_linpack[],
    rs_kernels_nas[], rs_kernels_mri[], rs_kernels_particles[];

static const struct {
    const char *file, *source;
} sources[] = {{"matmul.c", rs_kernels_matmul},   {"livermore.c", rs_kernels_livermore},
               {"linpack.c", rs_kernels_linpack}, {"nas.c", rs_kernels_nas},
               {"mri.c", rs_kernels_mri},         {"particles.c", rs_kernels_particles}};
enum { SOURCE_COUNT = sizeof sources / sizeof sources[0] };

/* From better to worse, so that the worst loop decides for a program. */
static const char *const verdicts[] = {
    "as it is",     "after transformation", "partly",
    "never: other", "never: random access", "never: loop-carried dependence"};
enum { VERDICT_COUNT = sizeof verdicts / sizeof verdicts[0] };

/* Table 2, with "partly" counted where the paper has its "etc.". */
static const struct {
    const char *name, *file;
    int loops, as_is, transformed, carried, random, other;
} published[] = {{"Linpack", "linpack.c", 7, 5, 0, 0, 2, 0},
                 {"Livermore", "livermore.c", 24, 3, 8, 7, 5, 1},
                 {"NAS kernels", "nas.c", 32, 13, 12, 2, 0, 5}};

/* Why a loop is not what the paper counts, or what the published text leaves open. */
static const struct {
    const char *function, *reason;
} remarks[] = {
    {"kernel19", "the paper calls this loop vectorizable; stb5 of one iteration is used in the "
                 "next, which no change of the data removes"},
    {"kernel02", "x is read and written, but never the same element in one run of the inner loop: "
                 "isl proves it"},
    {"kernel14", "one of its three loops is vectorizable as it is"},
    {"kernel21", "66.7 %, as the paper's own matrix multiplication"},
    {"kernel06", "w is read against the direction in which it is written, for another element of "
                 "the same row: the sum can be split, the store cannot"},
    {"axpy_strided", "a stride that is a parameter is gathered here; the paper's two random loops "
                     "of Linpack are probably such"},
    {"scale_strided", "as axpy_strided"},
    {"index_of_largest", "the largest value so far goes from one iteration to the next"},
    {"matrix_times_vector", "x[j] does not move with i: a scalar for the vector"},
    {"mxm", "c does not move with j, or b with i: a scalar for the vector"},
    {"cholesky_solve_back", "does again what cholesky_solve does"},
    {"cholesky_back", "as cholesky_forward, downwards"},
    {"btrix_decompose_rest", "the rest of btrix_decompose"},
    {"btrix_back", "as btrix_right_side, downwards"},
    {"gmtry_length", "neighbours on a closed wall: their subscripts wrap around"},
    {"gmtry_create", "as gmtry_length"},
    {"gmtry_check", "the least and largest so far go from one iteration to the next"},
    {"gmtry_fill", "x and y do not move with j, nor the others with i: scalars for the vector"},
    {"gmtry_eliminate", "r[i][j] does not move with k: a scalar for the vector"},
    {"emit_pressure", "and the pressure at one point needs that at the point before"},
    {"vpenta_first", "vpenta_forward for the first row"},
    {"vpenta_second", "vpenta_forward for the second row"},
    {"vpenta_last_but_one", "vpenta_forward for the last row but one"},
    {"vpenta_last", "vpenta_forward for the last row"},
    {"vpenta_back_first", "vpenta_back for the last row but one"}};

/* Table 3. */
static const struct {
    const char *name, *file, *function, *rules, *qv;
} transformed[] = {{"Matrix multiply", "matmul.c", "matmul", "dimension switch", "66.6"},
                   {"Livermore 1", "livermore.c", "kernel01", "duplicate, shift", "100"},
                   {"Livermore 19", "livermore.c", "kernel19", "duplicate, shift, reverse", "100"},
                   {"NAS Cholesky", "nas.c", "cholesky_solve", "dimension switch", "100"},
                   {"NAS Vpenta", "nas.c", "vpenta_back", "dimension switch", "100"}};

/* Table 4. */
static const struct {
    const char *name, *file, *function, *spaces;
} placed[] = {{"MRI-Q ComputePhiMag", "mri.c", "compute_phi_magnitude", "global"},
              {"MRI-Q ComputeQ", "mri.c", "compute_q", "global constant"},
              {"MRI-FHD ComputeRhoPhi", "mri.c", "compute_rho_phi", "global"},
              {"MRI-FHD ComputeFH", "mri.c", "compute_fh", "global constant"},
              {"CP cpuenergy", "particles.c", "coulomb", "global constant"},
              {"SAD sad4_cpu", "particles.c", "sad4", "global texture shared"},
              {"SAD larger_sads", "particles.c", "larger_sads", "texture (text: global)"},
              {"PhysBAM ClampParticle", "particles.c", "clamp_particle", "global texture shared"}};

static const char *text_in(const json_t *object, const char *key)
{
    const char *text = rs_json_string_of(object, key);
    return text != NULL ? text : "";
}

/* ---- what the analysis says ---- */

static int analyze(const char *verb, const char *folder, const char *file, const char *source,
                   json_t **reply)
{
    static char json[] = "--json";
    rs_text path = RS_TEXT_EMPTY;
    rs_text_format(&path, "%s/%s", folder, file);
    char *arguments[] = {NULL, json, path.data, NULL};
    restride_status status = path.failed ? rs_fail_memory("a file's name")
                                         : rs_text_write_file(path.data, source, strlen(source));
    int exit_status = status == RESTRIDE_OK ? rs_lab_run_analyzer(verb, arguments, reply)
                                            : rs_cli_fail_last(RS_EXIT_FAILED, verb);
    rs_text_free(&path);
    return exit_status;
}

static int analyze_all(const char *verb, json_t *replies[SOURCE_COUNT])
{
    char *folder = NULL;
    int exit_status = rs_folder_create(&folder) == RESTRIDE_OK
                          ? RS_EXIT_DONE
                          : rs_cli_fail_last(RS_EXIT_FAILED, verb);
    for (int i = 0; i < SOURCE_COUNT && exit_status == RS_EXIT_DONE; i++)
        exit_status = analyze(verb, folder, sources[i].file, sources[i].source, &replies[i]);
    rs_folder_remove(folder);
    return exit_status;
}

static const json_t *find_unit(json_t *const replies[SOURCE_COUNT], const char *file,
                               const char *function)
{
    size_t u;
    json_t *unit;
    for (int i = 0; i < SOURCE_COUNT; i++)
        if (strcmp(sources[i].file, file) == 0)
            json_array_foreach(json_object_get(replies[i], "units"), u,
                               unit) if (strcmp(text_in(unit, "name"), function) == 0) return unit;
    return NULL;
}

static int verdict_of(const json_t *unit, const char **reason)
{
    int worst = 0;
    size_t g;
    json_t *group;
    *reason = "";
    json_array_foreach(json_object_get(unit, "groups"), g,
                       group) for (int v = 0; v < VERDICT_COUNT;
                                   v++) if (strcmp(text_in(group, "verdict"), verdicts[v]) == 0 &&
                                            (v > worst || g == 0))
    {
        worst = v > worst ? v : worst;
        *reason = text_in(group, "reason");
    }
    return worst;
}

static const char *remark_on(const char *function)
{
    for (size_t i = 0; i < sizeof remarks / sizeof remarks[0]; i++)
        if (strcmp(remarks[i].function, function) == 0)
            return remarks[i].reason;
    return "";
}

/* ---- the tables as JSON ---- */

static json_t *count_loops(json_t *const replies[SOURCE_COUNT], size_t row)
{
    int counts[VERDICT_COUNT] = {0};
    json_t *loops = json_array();
    size_t u;
    json_t *unit;
    for (int i = 0; i < SOURCE_COUNT; i++) {
        if (strcmp(sources[i].file, published[row].file) != 0)
            continue;
        json_array_foreach(json_object_get(replies[i], "units"), u, unit)
        {
            const char *reason, *name = text_in(unit, "name");
            int verdict = verdict_of(unit, &reason);
            counts[verdict]++;
            json_array_append_new(loops, json_pack("{s:s, s:s, s:s, s:s}", "name", name, "verdict",
                                                   verdicts[verdict], "reason", reason, "remark",
                                                   remark_on(name)));
        }
    }
    json_t *ours =
        json_pack("{s:I, s:i, s:i, s:i, s:i, s:i}", "loops", (json_int_t)json_array_size(loops),
                  "as_is", counts[0], "transformed", counts[1], "carried", counts[5], "random",
                  counts[4], "other", counts[2] + counts[3]);
    json_t *theirs = json_pack("{s:i, s:i, s:i, s:i, s:i, s:i}", "loops", published[row].loops,
                               "as_is", published[row].as_is, "transformed",
                               published[row].transformed, "carried", published[row].carried,
                               "random", published[row].random, "other", published[row].other);
    return json_pack("{s:s, s:o, s:o, s:o}", "name", published[row].name, "published", theirs,
                     "found", ours, "loops", loops);
}

/* The different rules of a unit, and the smallest Q_V of its loops. */
static json_t *describe_transformed(json_t *const replies[SOURCE_COUNT], size_t row)
{
    const json_t *unit = find_unit(replies, transformed[row].file, transformed[row].function);
    rs_text rules = RS_TEXT_EMPTY;
    double least = 100;
    size_t g, r;
    json_t *group, *rule;
    rs_text_add(&rules, "", 0);
    json_array_foreach(json_object_get(unit, "groups"), g, group)
    {
        double qv = json_real_value(json_object_get(group, "qv"));
        least = qv < least ? qv : least;
        json_array_foreach(json_object_get(group, "rules"), r, rule)
        {
            const char *name = text_in(rule, "rule");
            if (strcmp(name, "none") != 0 && !rules.failed && strstr(rules.data, name) == NULL)
                rs_text_format(&rules, "%s%s", rules.size > 0 ? ", " : "", name);
        }
    }
    json_t *entry = json_pack("{s:s, s:s, s:s, s:s, s:f, s:s}", "name", transformed[row].name,
                              "published_rules", transformed[row].rules, "published_qv",
                              transformed[row].qv, "rules", rules.data != NULL ? rules.data : "",
                              "qv", least, "remark", remark_on(transformed[row].function));
    rs_text_free(&rules);
    return entry;
}

static json_t *describe_placed(json_t *const replies[SOURCE_COUNT], size_t row)
{
    const json_t *unit = find_unit(replies, placed[row].file, placed[row].function);
    static const char *const spaces[] = {"global", "constant", "texture", "shared"};
    rs_text found = RS_TEXT_EMPTY;
    json_t *arrays = json_object();
    size_t a;
    json_t *array;
    rs_text_add(&found, "", 0);
    for (size_t s = 0; s < sizeof spaces / sizeof spaces[0]; s++) {
        bool used = false;
        json_array_foreach(json_object_get(unit, "arrays"), a, array) used =
            used || strcmp(text_in(array, "memory"), spaces[s]) == 0;
        if (used)
            rs_text_format(&found, "%s%s", found.size > 0 ? " " : "", spaces[s]);
    }
    json_array_foreach(json_object_get(unit, "arrays"), a, array)
        json_object_set_new(arrays, text_in(array, "name"), json_string(text_in(array, "memory")));
    json_t *entry =
        json_pack("{s:s, s:s, s:s, s:o}", "name", placed[row].name, "published", placed[row].spaces,
                  "found", found.data != NULL ? found.data : "", "arrays", arrays);
    rs_text_free(&found);
    return entry;
}

static json_t *make_tables(json_t *const replies[SOURCE_COUNT])
{
    json_t *second = json_array(), *third = json_array(), *fourth = json_array();
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++)
        json_array_append_new(second, count_loops(replies, i));
    for (size_t i = 0; i < sizeof transformed / sizeof transformed[0]; i++)
        json_array_append_new(third, describe_transformed(replies, i));
    for (size_t i = 0; i < sizeof placed / sizeof placed[0]; i++)
        json_array_append_new(fourth, describe_placed(replies, i));
    return json_pack("{s:o, s:o, s:o}", "table2", second, "table3", third, "table4", fourth);
}

/* ---- the tables as text ---- */

static void print_counts(const char *name, const char *who, const json_t *counts)
{
    static const char *const keys[] = {"loops",   "as_is",  "transformed",
                                       "carried", "random", "other"};
    printf("%-12s %-6s", name, who);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        printf(" %11lld", rs_json_integer_of(counts, keys[i]));
    printf("\n");
}

static void print_loops(const json_t *loops)
{
    size_t i;
    json_t *loop;
    json_array_foreach(loops, i, loop)
    {
        printf("    %-22s %s", text_in(loop, "name"), text_in(loop, "verdict"));
        if (text_in(loop, "reason")[0] != '\0')
            printf("; %s", text_in(loop, "reason"));
        if (text_in(loop, "remark")[0] != '\0')
            printf(" [%s]", text_in(loop, "remark"));
        printf("\n");
    }
}

static void print_tables(const json_t *tables)
{
    size_t i;
    json_t *row;
    printf("Table 2: loops that are vectors as they are, after a change of the data, or never\n"
           "%-12s %-6s %11s %11s %11s %11s %11s %11s\n",
           "", "", "loops", "as it is", "transformed", "carried", "random", "other");
    json_array_foreach(json_object_get(tables, "table2"), i, row)
    {
        print_counts(text_in(row, "name"), "paper", json_object_get(row, "published"));
        print_counts("", "here", json_object_get(row, "found"));
        print_loops(json_object_get(row, "loops"));
    }
    printf("\nTable 3: transformations and Q_V (the least of a program's loops)\n");
    json_array_foreach(json_object_get(tables, "table3"), i, row)
    {
        printf("%-18s paper: %-28s %5s %%\n%-18s here:  %-28s %5.1f %%\n", text_in(row, "name"),
               text_in(row, "published_rules"), text_in(row, "published_qv"), "",
               text_in(row, "rules"), json_real_value(json_object_get(row, "qv")));
        if (text_in(row, "remark")[0] != '\0')
            printf("%-18s [%s]\n", "", text_in(row, "remark"));
    }
    printf("\nTable 4: memory spaces\n");
    json_array_foreach(json_object_get(tables, "table4"), i, row)
    {
        const char *array;
        json_t *space;
        printf("%-24s paper: %-26s here: %s\n", text_in(row, "name"), text_in(row, "published"),
               text_in(row, "found"));
        printf("%-24s", "");
        json_object_foreach(json_object_get(row, "arrays"), array, space)
            printf(" %s: %s;", array, json_string_value(space));
        printf("\n");
    }
    printf(
        "\nSung's thesis, figures 6.4 and 6.6 to 6.14, need a device:\n"
        "    restride-lab probe --svg FILE         bandwidth against stride\n"
        "    restride-lab grids --out FOLDER  layouts of LBM, Heat and CFD\n"
        "On a Tesla T10 the discovered layouts were, on average, 1.52 times as fast as SoA and 7.2 "
        "times that\nas fast as AoS for LBM, and 2.74 (Heat) and 1.16 times (CFD) as fast as "
        "rows.\n");
}

int rs_lab_patterns(int argc, char **argv)
{
    const char *verb = argv[0];
    struct {
        bool json;
    } options = {false};
    static const rs_cli_option table[] = {{.name = "json", .kind = RS_CLI_IS_FLAG}, {0}};
    if (rs_cli_helps(argc, argv, usage))
        return RS_EXIT_DONE;
    int exit_status = rs_cli_read_only_options(verb, argc, argv, table, &options);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    json_t *replies[SOURCE_COUNT] = {NULL};
    exit_status = analyze_all(verb, replies);
    json_t *tables = exit_status == RS_EXIT_DONE ? make_tables(replies) : NULL;
    if (exit_status == RS_EXIT_DONE && tables == NULL)
        exit_status = rs_cli_fail(RS_EXIT_FAILED, verb, "There is not enough memory.");
    else if (exit_status == RS_EXIT_DONE && options.json)
        exit_status = rs_cli_print_json(verb, json_incref(tables));
    else if (exit_status == RS_EXIT_DONE)
        print_tables(tables);
    json_decref(tables);
    for (int i = 0; i < SOURCE_COUNT; i++)
        json_decref(replies[i]);
    return exit_status;
}
