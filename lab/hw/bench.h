// What the three test benches share: random numbers, and words wider than 64 bits as Verilator
// keeps them.
#ifndef HW_BENCH_H
#define HW_BENCH_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <verilated.h>

typedef std::vector<uint8_t> bits; // one bit an entry

static uint64_t random_state = 1;

static inline uint64_t random_below(uint64_t bound)
{
    random_state += 0x9e3779b97f4a7c15;
    uint64_t z = random_state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return (z ^ z >> 31) % bound;
}

// Ports of 8, 16, 32 and 64 bits are integers, wider ones arrays of 32 bits.
template <typename port> static uint32_t port_word(const port &p, unsigned i)
{
    return (uint32_t)(uint64_t(p) >> 32 * i);
}
template <std::size_t n> static uint32_t port_word(const VlWide<n> &p, unsigned i)
{
    return p[i];
}
template <typename port> static void set_word(port &p, unsigned i, uint32_t word)
{
    p = (port)((i == 0 ? 0 : (uint64_t)p) | (uint64_t)word << 32 * i);
}
template <std::size_t n> static void set_word(VlWide<n> &p, unsigned i, uint32_t word)
{
    p[i] = word;
}

template <typename port> static void put(port &p, const bits &value, size_t from, size_t count)
{
    for (size_t word = 0; word * 32 < count; word++) {
        uint32_t packed = 0;
        for (size_t b = 0; b < 32 && word * 32 + b < count; b++)
            packed |= (uint32_t)value[from + word * 32 + b] << b;
        set_word(p, (unsigned)word, packed);
    }
}

template <typename port>
static bool equals(const port &p, const bits &value, size_t from, size_t count)
{
    for (size_t b = 0; b < count; b++)
        if ((port_word(p, (unsigned)(b / 32)) >> b % 32 & 1) != value[from + b])
            return false;
    return true;
}

// Which cycles the neighbours are willing in: always, mostly or rarely.
struct willingness {
    uint64_t seed;
    unsigned percent;
    bool operator()(size_t cycle) const
    {
        uint64_t z = (seed + cycle) * 0x9e3779b97f4a7c15;
        z = (z ^ z >> 29) * 0xbf58476d1ce4e5b9;
        return (z ^ z >> 32) % 100 < percent;
    }
};

static inline willingness random_willingness()
{
    static const unsigned percents[] = {100, 100, 80, 30};
    return willingness{random_below(1u << 30), percents[random_below(4)]};
}

[[noreturn]] static inline void fail(const char *what, size_t trial, size_t at)
{
    std::printf("FAILED: %s, trial %zu, at %zu\n", what, trial, at);
    std::exit(1);
}

#endif
