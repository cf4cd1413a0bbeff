/*
 * Restride in C++17, header only: arrays know their sizes, handles free themselves, and nothing
 * throws.
 *
 *     std::vector<float> a = {1, 2, 3, 4, 5, 6};
 *     if (auto done = restride::transpose(a, 2, 3); !done)          // 3 x 2: 1 4 2 5 3 6
 *         std::puts(done.message());
 *     auto engine = restride::engine::host(2);                      // at most two threads
 *     auto from = restride::layout::parse("i:2 f:3 float", "f i");
 *     auto to = restride::layout::parse("i:2 f:3 float", "i f");
 *     auto plan = restride::plan::convert(*engine, *from, *to);
 *     assert(plan && plan->run(a) && a[1] == 2);                    // and back
 *
 * Functions that change an array take anything with std::data() and std::size(), std::vector,
 * std::array and std::span among them, or restride::span(pointer, count), of elements that can be
 * copied as bytes. The array must have exactly the size that the other arguments say; else nothing
 * is changed. A status is true on success; a result holds a value or says why there is none.
 */
#ifndef RESTRIDE_RESTRIDE_HPP
#define RESTRIDE_RESTRIDE_HPP

#if !defined(__cplusplus) || __cplusplus < 201703L
#error "restride/restride.hpp needs C++17: compile with -std=c++17 or newer."
#endif

#include "restride/restride.h"

#include <cstddef>
#include <cstdlib>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace restride
{

/* What a call came to. */
class [[nodiscard]] status
{
  public:
    status(restride_status code) noexcept : code_(code)
    {
    }
    explicit operator bool() const noexcept
    {
        return code_ == RESTRIDE_OK;
    }
    restride_status code() const noexcept
    {
        return code_;
    }
    const char *name() const noexcept
    {
        return restride_status_name(code_);
    }
    /* One sentence; valid until the calling thread's next call. "" on success. */
    const char *message() const noexcept
    {
        return code_ == RESTRIDE_OK ? "" : restride_last_error();
    }

  private:
    restride_status code_;
};

/* A value, or why there is none. */
template <class T> class [[nodiscard]] result
{
  public:
    result(T &&value) noexcept : value_(std::move(value))
    {
    }
    result(status why) noexcept : status_(why)
    {
    }
    explicit operator bool() const noexcept
    {
        return static_cast<bool>(status_);
    }
    status error() const noexcept
    {
        return status_;
    }
    const char *message() const noexcept
    {
        return status_.message();
    }
    /* The value; an empty one after an error, which every function refuses with a sentence. */
    T &operator*() noexcept
    {
        return value_;
    }
    const T &operator*() const noexcept
    {
        return value_;
    }
    T *operator->() noexcept
    {
        return &value_;
    }
    const T *operator->() const noexcept
    {
        return &value_;
    }

  private:
    T value_;
    status status_ = RESTRIDE_OK;
};

/* `count` elements from `pointer` on. */
template <class T> class span
{
  public:
    span(T *pointer, std::size_t count) noexcept : pointer_(pointer), count_(count)
    {
    }
    T *data() const noexcept
    {
        return pointer_;
    }
    std::size_t size() const noexcept
    {
        return count_;
    }

  private:
    T *pointer_;
    std::size_t count_;
};

namespace detail
{

/* A text of C or C++. */
class text
{
  public:
    text(const char *c) noexcept : c_(c)
    {
    }
    text(const std::string &string) noexcept : c_(string.c_str())
    {
    }
    const char *c_str() const noexcept
    {
        return c_;
    }

  private:
    const char *c_;
};

/* Numbers in braces or in any array of them, for the time of a call. */
template <class T> class list
{
  public:
    list(std::initializer_list<T> numbers) noexcept
    {
        data_ = numbers.begin();
        size_ = numbers.size();
    }
    template <class Array, class = decltype(std::data(std::declval<const Array &>()))>
    list(const Array &numbers) noexcept : data_(std::data(numbers)), size_(std::size(numbers))
    {
    }
    const T *data() const noexcept
    {
        return data_;
    }
    std::size_t size() const noexcept
    {
        return size_;
    }

  private:
    const T *data_ = nullptr;
    std::size_t size_ = 0;
};

/* The bytes of an array that may be changed. */
struct memory {
    template <class Array>
    explicit memory(Array &array) noexcept
        : data(std::data(array)), bytes(std::size(array) * sizeof(*std::data(array))),
          element(sizeof(*std::data(array)))
    {
        using type = std::remove_pointer_t<decltype(std::data(array))>;
        static_assert(!std::is_const_v<type>, "the array is const; it would be changed in place");
        static_assert(std::is_trivially_copyable_v<type>,
                      "elements that cannot be copied as bytes cannot change their layout");
    }
    void *data;
    std::size_t bytes;
    std::size_t element;
};

template <class T, void (*destroy)(T *)> struct deleter {
    void operator()(T *object) const noexcept
    {
        destroy(object);
    }
};
template <class T, void (*destroy)(T *)> using handle = std::unique_ptr<T, deleter<T, destroy>>;

inline status transpose(restride_engine *engine, const memory &m, std::size_t rows,
                        std::size_t cols, std::size_t batch) noexcept
{
    return restride_transpose_with(engine, m.data, m.bytes, rows, cols, m.element, batch);
}

inline status permute(restride_engine *engine, const memory &m, list<std::size_t> dims,
                      list<int> axes) noexcept
{
    if (dims.size() != axes.size() || dims.size() > 16)
        return restride_set_error(RESTRIDE_INVALID_ARGUMENT,
                                  "restride::permute needs a size and a place for each axis, of 1 "
                                  "to 16 axes. The tensor is unchanged.");
    return restride_permute_with(engine, m.data, m.bytes, static_cast<int>(dims.size()),
                                 dims.data(), axes.data(), m.element);
}

inline status convert(restride_engine *engine, const memory &m, text dimensions, text from,
                      text to) noexcept
{
    return restride_convert_with(engine, m.data, m.bytes, dimensions.c_str(), from.c_str(),
                                 to.c_str());
}

inline status fail_empty(const char *sentence) noexcept
{
    return restride_set_error(RESTRIDE_INVALID_ARGUMENT, sentence);
}

} // namespace detail

/* ---- one call, on all processors ---- */

/* rows x cols row-major becomes cols x rows, `batch` times one after the other. */
template <class Array>
status transpose(Array &&array, std::size_t rows, std::size_t cols, std::size_t batch = 1) noexcept
{
    return detail::transpose(nullptr, detail::memory(array), rows, cols, batch);
}

/* Axis k of the result is axis axes[k] of `dims`: permute(a, {2, 3, 4}, {1, 0, 2}). */
template <class Array>
status permute(Array &&array, detail::list<std::size_t> dims, detail::list<int> axes) noexcept
{
    return detail::permute(nullptr, detail::memory(array), dims, axes);
}

/* convert(bodies, "i:1003 f{ float x; double m; }", "i f", "i/32 f i%32") */
template <class Array>
status convert(Array &&array, detail::text dimensions, detail::text from, detail::text to) noexcept
{
    return detail::convert(nullptr, detail::memory(array), dimensions, from, to);
}

/* ---- an engine, which keeps its plans ---- */

class engine
{
  public:
    engine() noexcept = default;
    /* Takes an engine over, such as one of restride_engine_create_opencl() or _cuda(). */
    explicit engine(restride_engine *taken) noexcept : engine_(taken)
    {
    }
    /* Up to `threads` threads; 0: all processors. */
    static result<engine> host(int threads = 0) noexcept
    {
        restride_engine *made = nullptr;
        const status done = restride_engine_create_host(&made, threads);
        return done ? result<engine>(engine(made)) : done;
    }
    template <class Array>
    status transpose(Array &&array, std::size_t rows, std::size_t cols,
                     std::size_t batch = 1) noexcept
    {
        return engine_ ? detail::transpose(get(), detail::memory(array), rows, cols, batch)
                       : missing();
    }
    template <class Array>
    status permute(Array &&array, detail::list<std::size_t> dims, detail::list<int> axes) noexcept
    {
        return engine_ ? detail::permute(get(), detail::memory(array), dims, axes) : missing();
    }
    template <class Array>
    status convert(Array &&array, detail::text dimensions, detail::text from,
                   detail::text to) noexcept
    {
        return engine_ ? detail::convert(get(), detail::memory(array), dimensions, from, to)
                       : missing();
    }
    void forget_plans() noexcept
    {
        restride_engine_forget_plans(get());
    }
    restride_engine *get() const noexcept
    {
        return engine_.get();
    }

  private:
    static status missing() noexcept
    {
        return detail::fail_empty("There is no engine: it could not be made, or was moved away.");
    }
    detail::handle<restride_engine, restride_engine_destroy> engine_;
};

/* ---- layouts ---- */

class layout
{
  public:
    layout() noexcept = default;
    static result<layout> parse(detail::text dimensions, detail::text expression) noexcept
    {
        restride_layout *made = nullptr;
        const status done = restride_layout_parse(&made, dimensions.c_str(), expression.c_str());
        return done ? result<layout>(layout(made)) : done;
    }
    /* Where an element lies, in elements or, with a record, in bytes; one index a dimension, each
     * below its extent. SIZE_MAX where they are not as many. */
    std::size_t offset(detail::list<std::size_t> index) const noexcept
    {
        if (!layout_ || index.size() != static_cast<std::size_t>(restride_layout_rank(get())))
            return static_cast<std::size_t>(-1);
        return restride_layout_offset(get(), index.data());
    }
    std::size_t size() const noexcept
    {
        return restride_layout_size(get());
    }
    std::size_t bytes() const noexcept
    {
        return restride_layout_bytes(get());
    }
    int rank() const noexcept
    {
        return restride_layout_rank(get());
    }
    std::size_t extent(int dimension) const noexcept
    {
        return restride_layout_extent(get(), dimension);
    }
    const restride_layout *get() const noexcept
    {
        return layout_.get();
    }

  private:
    explicit layout(restride_layout *made) noexcept : layout_(made)
    {
    }
    detail::handle<restride_layout, restride_layout_destroy> layout_;
};

/* ---- processes, for arrays that are spread over them (restride/distributed.h) ---- */

class group
{
  public:
    group() noexcept = default;
    /* Takes a group over, such as one of restride_group_create_mpi() or _nccl(). */
    explicit group(restride_group *taken) noexcept : group_(taken)
    {
    }
    /* This process alone. */
    static result<group> alone() noexcept
    {
        restride_group *made = nullptr;
        const status done = restride_group_create(&made, nullptr, nullptr, 0, 1);
        return done ? result<group>(group(made)) : done;
    }
    int rank() const noexcept
    {
        return restride_group_rank(get());
    }
    int size() const noexcept
    {
        return restride_group_size(get());
    }
    void set_timeout(double seconds) noexcept
    {
        restride_group_set_timeout(get(), seconds);
    }
    restride_group *get() const noexcept
    {
        return group_.get();
    }

  private:
    detail::handle<restride_group, restride_group_destroy> group_;
};

/* ---- plans: made once, run often; destroyed before their engine ---- */

class plan
{
  public:
    plan() noexcept = default;
    /* `element_bytes`: of an element whose size the dimensions do not say. */
    static result<plan> convert(engine &by, const layout &from, const layout &to,
                                std::size_t element_bytes = 0,
                                const restride_plan_options *options = nullptr) noexcept
    {
        restride_plan *made = nullptr;
        const status done = restride_plan_convert_with(&made, by.get(), from.get(), to.get(),
                                                       element_bytes, options);
        return done ? result<plan>(plan(made)) : done;
    }
    /* From one buffer to another, with run_copy(). */
    static result<plan> convert_copy(engine &by, const layout &from, const layout &to,
                                     std::size_t element_bytes = 0) noexcept
    {
        restride_plan *made = nullptr;
        const status done =
            restride_plan_convert_copy(&made, by.get(), from.get(), to.get(), element_bytes);
        return done ? result<plan>(plan(made)) : done;
    }
    static result<plan> transpose(engine &by, std::size_t rows, std::size_t cols,
                                  std::size_t element_bytes, std::size_t batch = 1,
                                  const restride_plan_options *options = nullptr) noexcept
    {
        restride_plan *made = nullptr;
        const status done = restride_plan_transpose_with(&made, by.get(), rows, cols, element_bytes,
                                                         batch, options);
        return done ? result<plan>(plan(made)) : done;
    }
    static result<plan> permute(engine &by, detail::list<std::size_t> dims, detail::list<int> axes,
                                std::size_t element_bytes,
                                const restride_plan_options *options = nullptr) noexcept
    {
        restride_plan *made = nullptr;
        if (dims.size() != axes.size() || dims.size() > 16)
            return detail::fail_empty("A permutation needs a size and a place for each axis, of 1 "
                                      "to 16 axes.");
        const status done =
            restride_plan_permute_with(&made, by.get(), static_cast<int>(dims.size()), dims.data(),
                                       axes.data(), element_bytes, options);
        return done ? result<plan>(plan(made)) : done;
    }
    /* Of an array over the processes of a group, which must outlive the plan; collective, as run()
     * is then. bytes() is what the array of this process needs. */
    static result<plan> redistribute(group &among, engine &by, detail::text dimensions,
                                     detail::text from, detail::text to,
                                     std::size_t element_bytes = 0,
                                     const restride_plan_options *options = nullptr) noexcept
    {
        restride_plan *made = nullptr;
        const status done =
            restride_plan_redistribute(&made, among.get(), by.get(), dimensions.c_str(),
                                       from.c_str(), to.c_str(), element_bytes, options);
        return done ? result<plan>(plan(made)) : done;
    }
    /* An array of bytes() bytes in host memory. */
    template <class Array> status run(Array &&array) noexcept
    {
        const detail::memory m(array);
        if (plan_ && m.bytes != bytes())
            return detail::fail_empty(
                "The array has not as many bytes as its plan is for. The array is unchanged.");
        return restride_execute(get(), m.data);
    }
    /* What the engine of a device takes: a cl_mem, or a CUdeviceptr as a pointer. */
    status run_buffer(void *buffer) noexcept
    {
        return restride_execute(get(), buffer);
    }
    /* Of convert_copy(); each buffer has the bytes of its layout. */
    status run_copy(const void *from, void *to) noexcept
    {
        return restride_execute_copy(get(), from, to);
    }
    std::size_t bytes() const noexcept
    {
        return restride_plan_bytes(get());
    }
    std::size_t scratch_bytes() const noexcept
    {
        return restride_plan_scratch_bytes(get());
    }
    /* As JSON; "" where there is no plan, or memory is short. */
    std::string describe() const
    {
        struct freed {
            void operator()(char *text) const noexcept
            {
                std::free(text);
            }
        };
        const std::unique_ptr<char, freed> text(restride_plan_describe(get()));
        return text ? std::string(text.get()) : std::string();
    }
    restride_plan *get() const noexcept
    {
        return plan_.get();
    }

  private:
    explicit plan(restride_plan *made) noexcept : plan_(made)
    {
    }
    detail::handle<restride_plan, restride_plan_destroy> plan_;
};

} // namespace restride
#endif
