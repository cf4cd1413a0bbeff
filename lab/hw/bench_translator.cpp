// The address translator in Verilog against equations 1 and 2: every address, and the cycles
// between.
#include "bench.h"
#include "Vtranslator.h"

extern "C" {
#include "lab/sim/transformer.h"
}

int main()
{
    enum { TRIALS = 200, LENGTH = 200, LATENCY = ADDRESS + 3 };
    Vtranslator module;
    for (size_t number = 0; number < TRIALS; number++) {
        size_t fields = 1 + random_below(number % 2 == 0 ? 20 : 255);
        uint64_t limit = (uint64_t)1 << ADDRESS;
        uint64_t begin = random_below(limit / 4);
        willingness gives = random_willingness();
        std::vector<uint64_t> addresses;
        for (size_t i = 0; i < LENGTH; i++)
            addresses.push_back(begin + random_below(limit / 2));
        module.reset = 1;
        module.in_valid = 0;
        for (int edge = 0; edge < 2; edge++) {
            module.clock = edge;
            module.eval();
        }
        module.reset = 0;
        module.begin_address = (uint32_t)begin;
        module.fields = (uint8_t)fields;
        for (size_t cycle = 0; cycle < LENGTH + LATENCY; cycle++) {
            module.in_valid = cycle < LENGTH && gives(cycle);
            module.in_address = (uint32_t)addresses[cycle < LENGTH ? cycle : 0];
            module.clock = 0;
            module.eval();
            bool expected = cycle >= LATENCY && gives(cycle - LATENCY);
            if ((module.out_valid != 0) != expected)
                fail("an address leaves in a wrong cycle", number, cycle);
            size_t translated = expected ? rs_translate_address(addresses[cycle - LATENCY], begin,
                                                                (size_t)1 << SIZE_LOG2, fields,
                                                                (size_t)1 << TILE_LOG2)
                                         : 0;
            if (expected && (uint32_t)translated != module.out_address)
                fail("an address is wrong", number, cycle);
            module.clock = 1;
            module.eval();
        }
    }
    std::printf(
        "translator: elements of %d bytes, tiles of %d: %d addresses equal, %d cycles each\n",
        1 << SIZE_LOG2, 1 << TILE_LOG2, TRIALS * LENGTH, LATENCY);
    return 0;
}
