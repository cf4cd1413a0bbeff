// The transformer in Verilog against the cycle model: every word and the cycle that it leaves in.
// MODULE is the class that Verilator made, BACKWARD its direction; TILE, MOST_FIELDS, BITS, BUS and
// STEP are its parameters.
#include MODULE_HEADER
#include "bench.h"

extern "C" {
#include "lab/sim/transformer.h"
}

struct trial {
    rs_transformer shape;
    size_t structures, chunks;
    bits in, out;
    willingness gives, takes;
};

static bool gives(void *context, size_t cycle)
{
    return static_cast<trial *>(context)->gives(cycle);
}
static bool takes(void *context, size_t cycle)
{
    return static_cast<trial *>(context)->takes(cycle);
}

// The arrays by their definitions: element f of structure s.
static trial make_trial()
{
    trial t;
    t.shape = rs_transformer{TILE, 1 + random_below(MOST_FIELDS), BITS, BUS, STEP};
    t.chunks = 1 + random_below(4);
    t.structures = BACKWARD ? t.chunks * TILE : (t.chunks - 1) * TILE + 1 + random_below(TILE);
    t.gives = random_willingness();
    t.takes = random_willingness();
    size_t fields = t.shape.fields;
    size_t all = t.chunks * TILE * fields * BITS;
    bits aos(all, 0), asta(all, 0);
    for (size_t s = 0; s < t.structures; s++)
        for (size_t f = 0; f < fields; f++)
            for (size_t b = 0; b < BITS; b++) {
                uint8_t bit = (uint8_t)random_below(2);
                aos[(s * fields + f) * BITS + b] = bit;
                asta[((s / TILE * fields + f) * TILE + s % TILE) * BITS + b] = bit;
            }
    t.in = BACKWARD ? asta : aos;
    t.out = BACKWARD ? aos : asta;
    return t;
}

static void tick(MODULE &module)
{
    module.clock = 0;
    module.eval();
    module.clock = 1;
    module.eval();
}

static size_t run(MODULE &module, trial &t, size_t number)
{
    size_t words = t.chunks * rs_transformer_words(&t.shape);
    std::vector<size_t> left_at(words);
    const rs_transformer_neighbours neighbours = {gives, takes, &t};
    size_t cycles =
        BACKWARD ? rs_transformer_backward(&t.shape, t.chunks, &neighbours, left_at.data())
                 : rs_transformer_forward(&t.shape, t.structures, &neighbours, left_at.data());
    size_t words_in = rs_transformer_array_words(&t.shape, t.structures);
    size_t in = 0, out = 0;
    module.fields = (uint8_t)t.shape.fields;
    for (size_t cycle = 0; out < words; cycle++) {
        if (cycle >= cycles)
            fail("it takes longer than the model", number, cycle);
        module.in_valid = in < words_in && t.gives(cycle);
        module.out_ready = t.takes(cycle);
        put(module.in_data, t.in, (in < words_in ? in : 0) * BUS, BUS);
#if !BACKWARD
        module.in_last = in + 1 == words_in;
#endif
        module.clock = 0;
        module.eval();
        bool entered = module.in_valid && module.in_ready;
        if (module.out_valid && module.out_ready) {
            if (left_at[out] != cycle)
                fail("a word leaves in another cycle than the model's", number, out);
            if (!equals(module.out_data, t.out, out * BUS, BUS))
                fail("a word is wrong", number, out);
            out++;
        }
        in += entered ? 1 : 0;
        module.clock = 1;
        module.eval();
    }
    return cycles;
}

// With willing neighbours and many chunks, the cycles a chunk must be those of the slowest stage of
// table 1.
static void compare_with_table(MODULE &module)
{
    for (size_t fields = 1; fields <= MOST_FIELDS; fields++) {
        trial t = make_trial();
        t.shape.fields = fields;
        t.chunks = 12;
        t.structures = t.chunks * TILE;
        t.gives = t.takes = willingness{0, 100};
        t.in.assign(t.chunks * TILE * fields * BITS, 0);
        t.out = t.in;
        size_t cycles = run(module, t, fields);
        t.chunks = 11;
        t.structures = t.chunks * TILE;
        size_t fewer = run(module, t, fields);
        size_t bus = rs_transformer_bus_cycles(&t.shape);
        size_t gather = rs_transformer_gather_cycles(&t.shape);
        if (bus != fields * TILE * BITS / BUS || gather != fields * BITS / STEP)
            fail("the model's stages are not those of table 1", fields, bus);
        if (cycles - fewer != (bus > gather ? bus : gather))
            fail("a chunk does not take as long as the slowest stage of table 1", fields,
                 cycles - fewer);
    }
}

int main()
{
    MODULE module;
    module.reset = 1;
    module.in_valid = 0;
    module.out_ready = 0;
    tick(module);
    module.reset = 0;
    enum { TRIALS = 300 };
    for (size_t number = 0; number < TRIALS; number++) {
        trial t = make_trial();
        run(module, t, number);
    }
    compare_with_table(module);
    std::printf("%s: tile %d, up to %d fields of %d bits, bus %d, step %d: %d arrays equal, cycles "
                "as in table 1\n",
                BACKWARD ? "backward" : "forward", TILE, MOST_FIELDS, BITS, BUS, STEP, TRIALS);
    return 0;
}
