/*
 * restride.hpp against the definition of what its calls do, for many shapes; and what it refuses
 * without a change. Built without exceptions and run-time types.
 */
#include "restride/restride.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string_view>
#include <vector>

static int failures;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            std::printf("%s:%d: %s; %s\n", __FILE__, __LINE__, #condition, restride_last_error()); \
            failures++;                                                                            \
        }                                                                                          \
    } while (0)

template <class T> static std::vector<T> counted(std::size_t count)
{
    std::vector<T> numbers(count);
    std::iota(numbers.begin(), numbers.end(), T(0));
    return numbers;
}

template <class T> static void check_transpose(restride::engine &engine)
{
    for (std::size_t rows = 1; rows < 40; rows += 7)
        for (std::size_t cols = 1; cols < 50; cols += 6)
            for (std::size_t batch = 1; batch < 3; batch++) {
                const auto before = counted<T>(rows * cols * batch);
                auto once = before;
                auto kept = before;
                auto planned = before;
                auto plan = restride::plan::transpose(engine, rows, cols, sizeof(T), batch);
                CHECK(restride::transpose(once, rows, cols, batch));
                CHECK(
                    engine.transpose(restride::span(kept.data(), kept.size()), rows, cols, batch));
                CHECK(plan && plan->bytes() == before.size() * sizeof(T) && plan->run(planned));
                for (std::size_t b = 0; b < batch; b++)
                    for (std::size_t i = 0; i < rows; i++)
                        for (std::size_t j = 0; j < cols; j++)
                            CHECK(once[b * rows * cols + j * rows + i] ==
                                  before[b * rows * cols + i * cols + j]);
                CHECK(once == kept && once == planned);
            }
}

static void check_redistribute(restride::engine &engine)
{
    auto group = restride::group::alone();
    CHECK(group && group->rank() == 0 && group->size() == 1);
    group->set_timeout(10);
    auto plan = restride::plan::redistribute(*group, engine, "r:5 c:7 int", "r c", "c r");
    auto a = counted<int>(35);
    CHECK(plan && plan->bytes() == 35 * sizeof(int) && plan->run(a));
    for (std::size_t i = 0; i < 35; i++)
        CHECK(a[i] == static_cast<int>(i % 5 * 7 + i / 5));
    CHECK(!restride::plan::redistribute(*group, engine, "r:5 c:7 int", "@r r%1 c", "c r"));
}

static void check_copy(restride::engine &engine)
{
    auto from = restride::layout::parse("r:5 c:7 int", "r c");
    auto to = restride::layout::parse("r:5 c:7 int", "c r");
    auto plan = restride::plan::convert_copy(engine, *from, *to);
    const auto a = counted<int>(35);
    std::vector<int> b(35);
    CHECK(plan && plan->bytes() == 35 * sizeof(int) && plan->run_copy(a.data(), b.data()));
    for (std::size_t i = 0; i < 35; i++)
        CHECK(b[i] == static_cast<int>(i % 5 * 7 + i / 5));
    auto once = a;
    CHECK(!plan->run(once) && once == a && !plan->run_copy(b.data(), b.data()));
    CHECK(!restride::plan::convert_copy(engine, *from, *restride::layout::parse("r:5", "r")));
}

static void check_permute(restride::engine &engine)
{
    const std::array<std::size_t, 3> dims = {5, 7, 11};
    std::array<int, 3> axes = {0, 1, 2};
    do {
        const auto before = counted<std::uint16_t>(5 * 7 * 11);
        auto once = before;
        auto planned = before;
        auto plan = restride::plan::permute(engine, dims, axes, sizeof(std::uint16_t));
        CHECK(restride::permute(once, dims, axes));
        CHECK(plan && plan->run(planned) && once == planned);
        std::size_t i[3];
        std::size_t at = 0;
        for (i[0] = 0; i[0] < dims[axes[0]]; i[0]++)
            for (i[1] = 0; i[1] < dims[axes[1]]; i[1]++)
                for (i[2] = 0; i[2] < dims[axes[2]]; i[2]++) {
                    std::size_t old[3];
                    for (int k = 0; k < 3; k++)
                        old[axes[k]] = i[k];
                    CHECK(once[at++] == before[(old[0] * 7 + old[1]) * 11 + old[2]]);
                }
    } while (std::next_permutation(axes.begin(), axes.end()));
    auto braces = counted<int>(6);
    CHECK(restride::permute(braces, {2, 3}, {1, 0}) && braces[1] == 3);
}

struct body {
    float x;
    double m;
};

static void check_convert(restride::engine &engine)
{
    const std::string dims = "i:1003 f{ float x; double m; }";
    auto layout = restride::layout::parse(dims, "i/32 f i%32");
    CHECK(layout && layout->bytes() == 1003 * sizeof(body) && layout->rank() == 2 &&
          layout->extent(1) == 3);
    std::vector<body> bodies(1003);
    for (std::size_t i = 0; i < bodies.size(); i++)
        bodies[i] = {float(i), double(2 * i)};
    CHECK(engine.convert(bodies, dims, "i f", "i/32 f i%32"));
    const char *bytes = reinterpret_cast<const char *>(bodies.data());
    for (std::size_t i = 0; i < 1003; i++) {
        double m;
        std::copy_n(bytes + layout->offset({i, 2}), sizeof m, reinterpret_cast<char *>(&m));
        CHECK(m == double(2 * i));
    }
    CHECK(restride::convert(bodies, dims, std::string("i/32 f i%32"), "i f"));
    for (std::size_t i = 0; i < 1003; i++)
        CHECK(bodies[i].x == float(i) && bodies[i].m == double(2 * i));
    CHECK(layout->offset({1}) == SIZE_MAX);
}

static bool says(const char *words)
{
    return std::string_view(restride_last_error()).find(words) != std::string_view::npos;
}

static void check_refusals(restride::engine &engine)
{
    const auto before = counted<int>(12);
    auto a = before;
    CHECK(!restride::transpose(a, 3, 5) && says("48 bytes") && a == before);
    auto wrong = restride::convert(a, "i:3 f:4 int", "i f", "i");
    CHECK(!wrong && wrong.code() == RESTRIDE_SYNTAX && says("unchanged") && a == before);
    CHECK(std::string_view(wrong.name()) == "RESTRIDE_SYNTAX" && wrong.message()[0] != '\0');
    CHECK(!restride::permute(a, {3, 4}, {1}) && says("each axis") && a == before);
    int rows[3][4] = {};
    CHECK(!restride::transpose(rows, 3, 4)); /* its elements are rows */
    auto plan = restride::plan::transpose(engine, 3, 3, sizeof(int));
    CHECK(plan && !plan->run(a) && says("unchanged") && a == before);
    auto none = restride::plan::transpose(engine, 0, 3, sizeof(int));
    CHECK(!none && !none->run(a) && none->bytes() == 0 && none->describe().empty());
    restride::engine moved = std::move(engine);
    CHECK(!engine.transpose(a, 3, 4) && says("no engine") && a == before);
    CHECK(!restride::plan::transpose(engine, 3, 4, 4));
    engine = std::move(moved);
    CHECK(engine.transpose(a, 3, 4));
}

int main()
{
    auto engine = restride::engine::host(2);
    CHECK(engine);
    check_transpose<std::uint8_t>(*engine);
    check_transpose<double>(*engine);
    check_transpose<std::int16_t>(*engine);
    check_redistribute(*engine);
    check_copy(*engine);
    check_permute(*engine);
    check_convert(*engine);
    check_refusals(*engine);
    auto plan = restride::plan::transpose(*engine, 30, 40, 8);
    CHECK(plan && plan->describe().front() == '{' && plan->scratch_bytes() < (64u << 20));
    engine->forget_plans();
    std::printf("%d failures\n", failures);
    return failures != 0;
}
