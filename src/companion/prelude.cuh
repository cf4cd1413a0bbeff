/*
 * What second forms of kernels are written with, for C++14 and newer, on the device and the host.
 *
 *   restride_pointer<T, F>    a pointer to elements of an array in another layout
 *   restride_lvalue<T, F>     an element: its members by their names; get() copies it out, = stores;
 *                             restride_copy().lvalue() is a copy where a reference was asked for
 *
 * T is the record, perhaps const or volatile. F says how elements are numbered: the form of a
 * launch. Neither class converts to a raw pointer or reference. What a record consists of, and its
 * layout, is told by restride_fields_of() and restride_layout_of(), which stand behind it.
 *
 * Members are C++ references that are made when an element is named; the compiler drops those that
 * are not used. Padding is neither read nor written: only copies of bytes could see it.
 */
#ifndef RESTRIDE_PRELUDE
#define RESTRIDE_PRELUDE

#if defined(__CUDACC__) || defined(__CUDA__) || defined(__CUDACC_RTC__)
#define RESTRIDE_INLINE __host__ __device__ __forceinline__
#define RESTRIDE_TYPE __host__ __device__ __attribute__((unused))
#else
#define RESTRIDE_INLINE inline __attribute__((always_inline))
#define RESTRIDE_TYPE __attribute__((unused))
#endif
#if defined(__CUDA_ARCH__) || defined(__clang__)
#define RESTRIDE_UNROLL _Pragma("unroll")
#define RESTRIDE_ROUNDS _Pragma("unroll 8")
#else
#define RESTRIDE_UNROLL
#define RESTRIDE_ROUNDS
#endif
/* In place of conditional text that names elements, and did not hold when the second form was made. A
 * host's compiler makes no code of it, and may have other macros. */
#if defined(__CUDA_ARCH__) || !defined(__CUDACC__)
#define RESTRIDE_NOT_READ                                                                          \
    static_assert(false, "this text did not hold when the second form was made: make it again");
#else
#define RESTRIDE_NOT_READ
#endif

typedef unsigned long long restride_size;

/* Which elements a kernel's argument points to: `count` of them in the array, of which it names the
 * one numbered `first`. */
struct restride_extent {
    long long count, first;
};

/* Elements are numbered by `I`: int where (count + tile * group) * size of an element < 2^31. `full`:
 * `count` is a multiple of tile * group, or the array has the memory of one, and so is `first`. */
template <class I, bool full> struct restride_form {
    typedef I number;
    static constexpr bool is_full = full;
};
typedef restride_form<int, true> restride_full;
typedef restride_form<int, false> restride_ragged;
typedef restride_form<long long, true> restride_full_large;
typedef restride_form<long long, false> restride_ragged_large;

/* Elements of S bytes, T neighbours a tile (1: AoS, 0: SoA), each of them G records. */
template <restride_size S, restride_size T, restride_size G> struct restride_tiling {
    static constexpr restride_size size = S, tile = T, group = G;
};

/* ---- types ---- */

template <class T> struct restride_plain_ {
    typedef T type;
};
template <class T> struct restride_plain_<const T> {
    typedef T type;
};
template <class T> struct restride_plain_<volatile T> {
    typedef T type;
};
template <class T> struct restride_plain_<const volatile T> {
    typedef T type;
};
template <class T> using restride_plain = typename restride_plain_<T>::type;

/* T with the qualifiers of Q. */
template <class Q, class T> struct restride_like_ {
    typedef T type;
};
template <class Q, class T> struct restride_like_<const Q, T> {
    typedef const T type;
};
template <class Q, class T> struct restride_like_<volatile Q, T> {
    typedef volatile T type;
};
template <class Q, class T> struct restride_like_<const volatile Q, T> {
    typedef const volatile T type;
};
template <class Q, class T> using restride_like = typename restride_like_<Q, T>::type;

template <class T, class U> struct restride_if_same_;
template <class T> struct restride_if_same_<T, T> {
    typedef T type;
};
template <class T, class U> using restride_if_same = typename restride_if_same_<T, U>::type;

/* What an array, also of arrays, consists of. */
template <class T> struct restride_entry_ {
    typedef T type;
};
template <class T, decltype(sizeof(0)) n> struct restride_entry_<T[n]> {
    typedef typename restride_entry_<T>::type type;
};
template <class T> using restride_entry = typename restride_entry_<T>::type;

/* T in a template on P, where nvcc writes no name of its own for a type without one. */
template <class P, class T> struct restride_given {
    typedef T type;
};

/* Bytes that move together. */
template <restride_size size, restride_size align> struct alignas(align) restride_unit {
    unsigned char bytes[size];
};

/* Memory for a T without calling its constructor. */
template <class T> union restride_storage {
    T value;
    unsigned char bytes[sizeof(T)];
    RESTRIDE_INLINE restride_storage()
    {
    }
    RESTRIDE_INLINE ~restride_storage()
    {
    }
};

/* ---- places ---- */

/* The number of elements matters only where tiles are shorter at the end. */
template <bool is_kept> struct restride_count {
    RESTRIDE_INLINE explicit restride_count(long long)
    {
    }
    RESTRIDE_INLINE static long long get()
    {
        return 0;
    }
};
template <> struct restride_count<true> {
    long long count;
    RESTRIDE_INLINE explicit restride_count(long long n) : count(n)
    {
    }
    RESTRIDE_INLINE long long get() const
    {
        return count;
    }
};

/* The shift that divides by a power of two, downwards also where a number is below that of the
 * argument. */
RESTRIDE_INLINE constexpr int restride_shift(restride_size divisor)
{
    return divisor <= 1 ? 0 : 1 + restride_shift(divisor / 2);
}

/* The index of an element's first byte, in units of w bytes, if it had no members before it. A tile's
 * elements lie w bytes apart from where the tile begins. With j & -T the first number of a tile,
 * that is (j & -T) S/w + j % T, written with one multiplication. */
template <class I, restride_size S, restride_size T, restride_size G> struct restride_steps {
    static RESTRIDE_INLINE I in_units(I j, I w)
    {
        return ((j & -I(T * G)) + (j & I(G - 1)) * I(T)) * (I(S) / w) + ((j >> restride_shift(G)) & I(T - 1));
    }
    static RESTRIDE_INLINE I in_bytes(I j, I w)
    {
        return ((j & -I(T * G)) + (j & I(G - 1)) * I(T)) * I(S) + ((j >> restride_shift(G)) & I(T - 1)) * w;
    }
};
template <class I, restride_size S> struct restride_steps<I, S, 0, 1> {
    static RESTRIDE_INLINE I in_units(I j, I)
    {
        return j;
    }
    static RESTRIDE_INLINE I in_bytes(I j, I w)
    {
        return j * w;
    }
};
template <class I, restride_size S, restride_size T> struct restride_steps<I, S, T, 1> {
    static RESTRIDE_INLINE I in_units(I j, I w)
    {
        return j + (j & -I(T)) * (I(S) / w - 1);
    }
    static RESTRIDE_INLINE I in_bytes(I j, I w)
    {
        return j * w + (j & -I(T)) * (I(S) - w);
    }
};

/* Where an element is: an array in the layout L with numbers as in F, and its number. Q is char with
 * the qualifiers of the elements. */
template <class L, class F, class Q>
struct restride_place : restride_count<L::tile == 0 || (L::tile > 1 && !F::is_full)> {
    typedef Q byte;
    typedef typename F::number number_type;
    typedef restride_count<L::tile == 0 || (L::tile > 1 && !F::is_full)> count_type;
    static_assert(F::is_full || L::group == 1 || L::tile == 1, "groups are in full tiles");

    Q *base;
    number_type number;

    RESTRIDE_INLINE restride_place(Q *b, number_type j, long long n)
        : count_type(n), base(b), number(j)
    {
    }
    RESTRIDE_INLINE restride_place(const count_type &n, Q *b, number_type j)
        : count_type(n), base(b), number(j)
    {
    }

    /* How many elements lie side by side in this one's tile. */
    RESTRIDE_INLINE number_type span() const
    {
        if (L::tile == 0)
            return number_type(this->get());
        if (L::tile == 1 || F::is_full)
            return number_type(L::tile);
        const number_type rest = number_type(this->get()) - (number & -number_type(L::tile));
        return rest < number_type(L::tile) ? rest : number_type(L::tile);
    }

    /* How far entries `bytes` apart in an element lie from each other. */
    RESTRIDE_INLINE long long apart(long long bytes) const
    {
        return bytes * (long long)span();
    }

    /* The same element `bytes` further on. */
    RESTRIDE_INLINE restride_place moved(long long bytes) const
    {
        return restride_place(*this, base + apart(bytes), number);
    }

    /* The element so many numbers on. */
    RESTRIDE_INLINE restride_place next(long long n) const
    {
        return restride_place(*this, base, number_type(number + number_type(n)));
    }

    /* The T at the byte O of an element that moves with the W bytes from there on. In full tiles O
     * is a constant distance from where the element begins; else it takes part in the index. */
    template <class T, restride_size O, restride_size W> RESTRIDE_INLINE restride_like<Q, T> &at() const
    {
        typedef restride_like<Q, restride_unit<W, 1>> unit;
        typedef number_type I;
        typedef restride_steps<I, L::size, L::tile, L::group> steps;
        constexpr bool is_constant = L::tile == 1 || (L::tile > 1 && F::is_full);
        constexpr bool is_index = !is_constant && O % W == 0;
        Q *const begin = is_index ? base : base + apart(O);
        const I more = is_index ? I(O / W) * span() : I(0);
        return *reinterpret_cast<restride_like<Q, T> *>(
            L::size % W == 0
                ? reinterpret_cast<Q *>(reinterpret_cast<unit *>(begin) +
                                        (steps::in_units(number, I(W)) + more))
                : begin + (steps::in_bytes(number, I(W)) + more * I(W)));
    }
};

/* ---- kinds of members: what the name of one is, and how it is copied from and to a record ---- */

/* It moves as a whole, as W bytes, so its name is a reference to it. */
template <class T, restride_size W = sizeof(T)> struct restride_whole {
    template <class P, restride_size O> struct in {
        typedef restride_like<typename P::byte, T> &type;
        static RESTRIDE_INLINE type make(const P &p)
        {
            return p.template at<T, O, W>();
        }
        static RESTRIDE_INLINE void load(const P &p, unsigned char *to)
        {
            static_assert(__is_trivially_copyable(T), "copied as its bytes are");
            *reinterpret_cast<restride_plain<T> *>(to) = make(p);
        }
        static RESTRIDE_INLINE void store(const P &p, const unsigned char *from)
        {
            static_assert(__is_trivially_copyable(T), "copied as its bytes are");
            make(p) = *reinterpret_cast<const T *>(from);
        }
    };
};

/* The same of a toolkit's class, whose copies are its bytes even where they have code of their own. */
template <class T> struct restride_toolkit {
    template <class P, restride_size O> struct in : restride_whole<T>::template in<P, O> {
        typedef typename restride_whole<restride_unit<sizeof(T), alignof(T)>>::template in<P, O> bytes;
        static RESTRIDE_INLINE void load(const P &p, unsigned char *to)
        {
            bytes::load(p, to);
        }
        static RESTRIDE_INLINE void store(const P &p, const unsigned char *from)
        {
            bytes::store(p, from);
        }
    };
};

/* A record, taken apart. */
template <template <class, restride_size> class R> struct restride_nested {
    template <class P, restride_size O> struct in {
        typedef R<P, O> type;
        static RESTRIDE_INLINE type make(const P &p)
        {
            return type(p);
        }
        static RESTRIDE_INLINE void load(const P &p, unsigned char *to)
        {
            type::restride_parts::template load<O>(p, to);
        }
        static RESTRIDE_INLINE void store(const P &p, const unsigned char *from)
        {
            type::restride_parts::template store<O>(p, from);
        }
    };
};

template <class K, class P, restride_size O, restride_size stride> struct restride_entries {
    P restride_p;
    RESTRIDE_INLINE explicit restride_entries(const P &p) : restride_p(p)
    {
    }
    RESTRIDE_INLINE typename K::template in<P, O>::type operator[](long long k) const
    {
        return K::template in<P, O>::make(restride_p.moved(k * (long long)stride));
    }
    restride_entries *operator&() const = delete;
};

/* An array of n times the kind K. */
template <class K, restride_size n, restride_size stride> struct restride_array {
    template <class P, restride_size O> struct in {
        typedef restride_entries<K, P, O, stride> type;
        static RESTRIDE_INLINE type make(const P &p)
        {
            return type(p);
        }
        static RESTRIDE_INLINE void load(const P &p, unsigned char *to)
        {
            RESTRIDE_UNROLL
            for (int k = 0; k < int(n); k++)
                K::template in<P, O>::load(p.moved(k * (long long)stride), to + k * stride);
        }
        static RESTRIDE_INLINE void store(const P &p, const unsigned char *from)
        {
            RESTRIDE_UNROLL
            for (int k = 0; k < int(n); k++)
                K::template in<P, O>::store(p.moved(k * (long long)stride), from + k * stride);
        }
    };
};

/* A bit-field: B::get() and B::set() do it in a record whose unit of bytes at `at` is copied. */
template <class B, class U, restride_size at, class P, restride_size O> struct restride_bits_reference {
    typedef typename B::value value;
    P restride_p;
    RESTRIDE_INLINE explicit restride_bits_reference(const P &p) : restride_p(p)
    {
    }
    RESTRIDE_INLINE value get() const
    {
        restride_storage<typename B::record> s;
        *reinterpret_cast<U *>(s.bytes + at) = restride_p.template at<U, O, sizeof(U)>();
        return B::get(s.value);
    }
    RESTRIDE_INLINE operator value() const
    {
        return get();
    }
    RESTRIDE_INLINE const restride_bits_reference &operator=(value v) const
    {
        restride_storage<typename B::record> s;
        *reinterpret_cast<U *>(s.bytes + at) = restride_p.template at<U, O, sizeof(U)>();
        B::set(s.value, v);
        restride_p.template at<U, O, sizeof(U)>() = *reinterpret_cast<U *>(s.bytes + at);
        return *this;
    }
    RESTRIDE_INLINE const restride_bits_reference &operator=(const restride_bits_reference &o) const
    {
        return *this = o.get();
    }
    restride_bits_reference(const restride_bits_reference &) = default;
    restride_bits_reference *operator&() const = delete;
#define RESTRIDE_CHANGE(change)                                                                    \
    template <class T> RESTRIDE_INLINE const restride_bits_reference &operator change##=(T v) const \
    {                                                                                              \
        return *this = value(get() change v);                                                      \
    }
    RESTRIDE_CHANGE(+)
    RESTRIDE_CHANGE(-)
    RESTRIDE_CHANGE(*)
    RESTRIDE_CHANGE(/)
    RESTRIDE_CHANGE(%)
    RESTRIDE_CHANGE(&)
    RESTRIDE_CHANGE(|)
    RESTRIDE_CHANGE(^)
    RESTRIDE_CHANGE(<<)
    RESTRIDE_CHANGE(>>)
#undef RESTRIDE_CHANGE
    RESTRIDE_INLINE const restride_bits_reference &operator++() const
    {
        return *this += 1;
    }
    RESTRIDE_INLINE const restride_bits_reference &operator--() const
    {
        return *this -= 1;
    }
    RESTRIDE_INLINE value operator++(int) const
    {
        const value v = get();
        *this += 1;
        return v;
    }
    RESTRIDE_INLINE value operator--(int) const
    {
        const value v = get();
        *this -= 1;
        return v;
    }
};

template <class B, class U, restride_size at> struct restride_bits {
    template <class P, restride_size O> struct in {
        typedef restride_bits_reference<B, U, at, P, O> type;
        static RESTRIDE_INLINE type make(const P &p)
        {
            return type(p);
        }
    };
};

/* ---- records ---- */

/* The kind K at the byte `at` of a record. */
template <class K, restride_size at> struct restride_part {
    typedef K kind;
    static constexpr restride_size offset = at;
};

/* All that a copy of a record moves. */
template <class... parts> struct restride_parts_of;
template <> struct restride_parts_of<> {
    template <restride_size O, class P> static RESTRIDE_INLINE void load(const P &, unsigned char *)
    {
    }
    template <restride_size O, class P>
    static RESTRIDE_INLINE void store(const P &, const unsigned char *)
    {
    }
};
template <class part, class... rest> struct restride_parts_of<part, rest...> {
    template <restride_size O, class P> static RESTRIDE_INLINE void load(const P &p, unsigned char *to)
    {
        part::kind::template in<P, O + part::offset>::load(p, to + part::offset);
        restride_parts_of<rest...>::template load<O>(p, to);
    }
    template <restride_size O, class P>
    static RESTRIDE_INLINE void store(const P &p, const unsigned char *from)
    {
        part::kind::template in<P, O + part::offset>::store(p, from + part::offset);
        restride_parts_of<rest...>::template store<O>(p, from);
    }
};

/* The copy of an element for one expression. Functions are chosen for it as for the element: by an
 * lvalue, const where the element is. */
template <class T> struct restride_held {
    T value;
    RESTRIDE_INLINE T &lvalue()
    {
        return value;
    }
};

/* What all classes of members have; `fields` is the class itself, T the record. */
template <class fields, class T, class P, restride_size O> struct restride_element {
    typedef T restride_record;
    P restride_p;

    RESTRIDE_INLINE explicit restride_element(const P &p) : restride_p(p)
    {
    }
    RESTRIDE_INLINE T get() const
    {
        static_assert(fields::restride_copies, "copied member by member");
        restride_storage<T> s;
        fields::restride_parts::template load<O>(restride_p, s.bytes);
        return s.value;
    }
    RESTRIDE_INLINE restride_held<restride_like<typename P::byte, T>> restride_copy() const
    {
        return {get()};
    }
    RESTRIDE_INLINE void restride_set(const T &value) const
    {
        static_assert(fields::restride_copies, "copied member by member");
        fields::restride_parts::template store<O>(restride_p,
                                                  reinterpret_cast<const unsigned char *>(&value));
    }
    restride_element *operator&() const = delete;
};

/* Assignments to a nested record. */
#define RESTRIDE_ASSIGNMENTS(fields)                                                               \
    fields(const fields &) = default;                                                              \
    RESTRIDE_INLINE const fields &operator=(const restride_record &value) const                    \
    {                                                                                              \
        this->restride_set(value);                                                                 \
        return *this;                                                                              \
    }                                                                                              \
    RESTRIDE_INLINE const fields &operator=(const fields &o) const                                 \
    {                                                                                              \
        return *this = o.get();                                                                    \
    }                                                                                              \
    template <class restride_other, class = typename restride_other::restride_parts>               \
    RESTRIDE_INLINE const fields &operator=(const restride_other &o) const                         \
    {                                                                                              \
        return *this = o.get();                                                                    \
    }

template <class T>
using restride_layout_for = decltype(restride_layout_of((const restride_plain<T> *)nullptr));
template <class T, class F>
using restride_place_for = restride_place<restride_layout_for<T>, F, restride_like<T, char>>;
template <class T, class F>
using restride_fields_for =
    decltype(restride_fields_of((const restride_plain<T> *)nullptr, (restride_place_for<T, F> *)nullptr));

template <class T, class F> class restride_pointer;

template <class T, class F = restride_full>
struct restride_lvalue : restride_fields_for<T, F> {
    typedef restride_fields_for<T, F> restride_fields;
    typedef restride_place_for<T, F> restride_place_type;

    RESTRIDE_INLINE explicit restride_lvalue(const restride_place_type &p) : restride_fields(p)
    {
    }
    restride_lvalue(const restride_lvalue &) = default;
    /* Of a const element, from one that is not. */
    template <class U, class = restride_if_same<U, restride_plain<T>>>
    RESTRIDE_INLINE restride_lvalue(const restride_lvalue<U, F> &o)
        : restride_fields(restride_place_type(o.restride_p, o.restride_p.base, o.restride_p.number))
    {
    }
    RESTRIDE_INLINE const restride_lvalue &operator=(const restride_plain<T> &value) const
    {
        this->restride_set(value);
        return *this;
    }
    RESTRIDE_INLINE const restride_lvalue &operator=(const restride_lvalue &o) const
    {
        return *this = o.get();
    }
    template <class U>
    RESTRIDE_INLINE const restride_lvalue &operator=(const restride_lvalue<U, F> &o) const
    {
        return *this = o.get();
    }
    RESTRIDE_INLINE restride_pointer<T, F> operator&() const;
};

#endif
