/* restride-lab dlt: the data layout transformer's cycles (Tseng 2014, table 1). */
#include "lab/cli/dlt.h"
#include "console/fail.h"
#include "console/options.h"
#include "lab/sim/transformer.h"

#include <stdio.h>
#include <stdlib.h>

static const char usage[] =
    "usage: restride-lab dlt [OPTIONS]...\n"
    "\n"
    "The data layout transformer is hardware between a bus and the memory of a device: it turns "
    "an\n"
    "array of structures into tiles (ASTA) while it passes, and back. Four buffers work at once: "
    "A\n"
    "collects a chunk of W structures from the bus, B holds it while some bits of one element of "
    "each\n"
    "structure go to C in each cycle, and D gives C's tiles to the memory. This prints the cycles "
    "of\n"
    "each stage and of a whole array, from a model that the hardware in lab/hw/ is compared with.\n"
    "\n"
    "  --tile W         structures of a chunk, elements of a tile (default: 32)\n"
    "  --fields K       elements of a structure (default: 20)\n"
    "  --element BITS   of an element (default: 32)\n"
    "  --bus BITS       that the bus moves in a cycle (default: 128)\n"
    "  --step BITS      of an element that go from B to C in a cycle (default: balanced, bus / W)\n"
    "  --structures N   of the whole array (default: 100000)\n"
    "  --figures        figures 6, 7 and 9 of the paper instead: kernels in AoS, in ASTA, and in "
    "AoS "
    "behind\n"
    "                   the transformer, on a model of a GTX 480\n"
    "  --out FOLDER     writes them there as SVG and JSON\n"
    "  --json           prints JSON\n";

typedef struct {
    rs_transformer shape;
    size_t structures;
    const char *folder; /* of the figures */
    bool figures;
    bool json;
} dlt_options;

static int read_options(int argc, char **argv, dlt_options *options)
{
    enum { MOST = 1 << 28 };
    static const rs_cli_option table[] = {
        {RS_CLI_COUNT("tile", dlt_options, shape.tile, 1, MOST)},
        {RS_CLI_COUNT("fields", dlt_options, shape.fields, 1, MOST)},
        {RS_CLI_COUNT("element", dlt_options, shape.element_bits, 1, MOST)},
        {RS_CLI_COUNT("bus", dlt_options, shape.bus_bits, 1, MOST)},
        {RS_CLI_COUNT("step", dlt_options, shape.bits_per_cycle, 1, MOST)},
        {RS_CLI_COUNT("structures", dlt_options, structures, 1, MOST)},
        {RS_CLI_FLAG("json", dlt_options, json)},
        {RS_CLI_FLAG("figures", dlt_options, figures)},
        {RS_CLI_TEXT("out", dlt_options, folder)},
        {0},
    };
    *options = (dlt_options){.shape = {32, 20, 32, 128, 0}, .structures = 100000};
    int exit_status = rs_cli_read_only_options("dlt", argc, argv, table, options);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    options->figures = options->figures || options->folder != NULL;
    if (options->figures)
        return RS_EXIT_DONE;
    if (options->shape.bits_per_cycle == 0)
        options->shape.bits_per_cycle = rs_transformer_balanced_bits(&options->shape);
    if (options->shape.bits_per_cycle == 0)
        return rs_cli_fail(RS_EXIT_USAGE, "dlt",
                           "The bus of %zu bits cannot be balanced with tiles of %zu elements of "
                           "%zu bits; give --step.",
                           options->shape.bus_bits, options->shape.tile,
                           options->shape.element_bits);
    return RS_EXIT_DONE;
}

static void print_text(const dlt_options *options, size_t cycles, size_t words)
{
    const rs_transformer *t = &options->shape;
    printf("a chunk: %zu structures of %zu elements of %zu bits\n", t->tile, t->fields,
           t->element_bits);
    printf("  bus to A     %8zu cycles   K x W x Size x 8 / bandwidth\n",
           rs_transformer_bus_cycles(t));
    printf("  B to C       %8zu cycles   K x Size x 8 / %zu bits a cycle\n",
           rs_transformer_gather_cycles(t), t->bits_per_cycle);
    printf("  D to memory  %8zu cycles\n", rs_transformer_memory_cycles(t));
    size_t balanced = rs_transformer_balanced_bits(t);
    if (balanced == 0)
        puts("  no whole number of bits a cycle balances them");
    else
        printf("  balanced with %zu bits a cycle, bandwidth / W\n", balanced);
    printf("%zu structures: %zu cycles for %zu bus words, %.3f of the bus\n", options->structures,
           cycles, words, (double)words / (double)cycles);
}

static int print_json(const dlt_options *options, size_t cycles, size_t words)
{
    const rs_transformer *t = &options->shape;
    json_t *report = json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:{s:I, s:I, s:I}, s:I, s:I, s:I, s:I}", "tile",
        (json_int_t)t->tile, "fields", (json_int_t)t->fields, "element_bits",
        (json_int_t)t->element_bits, "bus_bits", (json_int_t)t->bus_bits, "bits_per_cycle",
        (json_int_t)t->bits_per_cycle, "chunk_cycles", "bus_to_a",
        (json_int_t)rs_transformer_bus_cycles(t), "b_to_c",
        (json_int_t)rs_transformer_gather_cycles(t), "d_to_memory",
        (json_int_t)rs_transformer_memory_cycles(t), "balanced_bits_per_cycle",
        (json_int_t)rs_transformer_balanced_bits(t), "structures", (json_int_t)options->structures,
        "bus_words", (json_int_t)words, "cycles", (json_int_t)cycles);
    return rs_cli_print_json("dlt", report);
}

int rs_lab_dlt(int argc, char **argv)
{
    if (rs_cli_helps(argc, argv, usage))
        return RS_EXIT_DONE;
    dlt_options options;
    int exit_status = read_options(argc, argv, &options);
    if (exit_status != RS_EXIT_DONE)
        return exit_status;
    if (options.figures)
        return rs_lab_dlt_figures(options.folder, options.json);
    if (rs_transformer_check(&options.shape) != RESTRIDE_OK)
        return rs_cli_fail_last(RS_EXIT_USAGE, "dlt");
    size_t cycles = rs_transformer_forward(&options.shape, options.structures, NULL, NULL);
    size_t words = rs_transformer_array_words(&options.shape, options.structures);
    if (options.json)
        return print_json(&options, cycles, words);
    print_text(&options, cycles, words);
    return RS_EXIT_DONE;
}
