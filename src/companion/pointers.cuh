/* Behind prelude.cuh: pointers to elements. */
#ifndef RESTRIDE_POINTERS
#define RESTRIDE_POINTERS

/* What -> is applied to. */
template <class T, class F> struct restride_arrow : restride_lvalue<T, F> {
    RESTRIDE_INLINE explicit restride_arrow(const restride_place_for<T, F> &p)
        : restride_lvalue<T, F>(p)
    {
    }
    RESTRIDE_INLINE const restride_lvalue<T, F> *operator->() const
    {
        return this;
    }
};

/* An array and a number. */
template <class T, class F = restride_full> class restride_pointer
{
    typedef restride_place_for<T, F> place;
    typedef restride_layout_for<T> layout;
    static_assert(sizeof(T) == layout::size, "the size that the layout was made for");
    place p;

    static RESTRIDE_INLINE long long skipped(restride_extent extent)
    {
        return layout::tile == 1 || (layout::tile > 1 && F::is_full) ? 0 : extent.first;
    }
    /* The address that the element has in AoS: what pointers are compared by. */
    RESTRIDE_INLINE restride_like<T, char> *address() const
    {
        return p.base + (long long)p.number * (long long)sizeof(T);
    }

    template <class, class> friend class restride_pointer;

  public:
    typedef T restride_target;
    typedef F restride_form_type;

    RESTRIDE_INLINE restride_pointer() : p(nullptr, 0, 0)
    {
    }
    RESTRIDE_INLINE restride_pointer(decltype(nullptr)) : p(nullptr, 0, 0)
    {
    }
    RESTRIDE_INLINE explicit restride_pointer(const place &at) : p(at)
    {
    }
    /* From a kernel's argument; it points to element number extent.first as if in AoS. Where that
     * begins a tile, numbers count from there, so that unrolled loops know more of them. */
    RESTRIDE_INLINE restride_pointer(T *raw, restride_extent extent)
        : p(reinterpret_cast<restride_like<T, char> *>(raw) - skipped(extent) * (long long)sizeof(T),
            typename F::number(skipped(extent)), extent.count)
    {
    }
    template <class U, class = restride_if_same<U, restride_plain<T>>>
    RESTRIDE_INLINE restride_pointer(const restride_pointer<U, F> &o)
        : p(o.p, o.p.base, o.p.number)
    {
    }
    restride_pointer(const restride_pointer &) = default;
    restride_pointer &operator=(const restride_pointer &) = default;

    RESTRIDE_INLINE restride_lvalue<T, F> operator[](long long i) const
    {
        return restride_lvalue<T, F>(p.next(i));
    }
    RESTRIDE_INLINE restride_lvalue<T, F> operator*() const
    {
        return restride_lvalue<T, F>(p);
    }
    RESTRIDE_INLINE restride_arrow<T, F> operator->() const
    {
        return restride_arrow<T, F>(p);
    }
    RESTRIDE_INLINE explicit operator bool() const
    {
        return p.base != nullptr;
    }
    RESTRIDE_INLINE restride_pointer &operator+=(long long n)
    {
        p.number = typename F::number(p.number + typename F::number(n));
        return *this;
    }
    RESTRIDE_INLINE restride_pointer &operator-=(long long n)
    {
        return *this += -n;
    }
    RESTRIDE_INLINE restride_pointer &operator++()
    {
        return *this += 1;
    }
    RESTRIDE_INLINE restride_pointer &operator--()
    {
        return *this += -1;
    }
    RESTRIDE_INLINE restride_pointer operator++(int)
    {
        const restride_pointer before = *this;
        *this += 1;
        return before;
    }
    RESTRIDE_INLINE restride_pointer operator--(int)
    {
        const restride_pointer before = *this;
        *this += -1;
        return before;
    }
    friend RESTRIDE_INLINE restride_pointer operator+(const restride_pointer &a, long long n)
    {
        return restride_pointer(a.p.next(n));
    }
    friend RESTRIDE_INLINE restride_pointer operator+(long long n, const restride_pointer &a)
    {
        return restride_pointer(a.p.next(n));
    }
    friend RESTRIDE_INLINE restride_pointer operator-(const restride_pointer &a, long long n)
    {
        return restride_pointer(a.p.next(-n));
    }
    friend RESTRIDE_INLINE long long operator-(const restride_pointer &a, const restride_pointer &b)
    {
        return (a.p.base - b.p.base) / (long long)sizeof(T) +
               ((long long)a.p.number - (long long)b.p.number);
    }
#define RESTRIDE_COMPARE(compare)                                                                  \
    friend RESTRIDE_INLINE bool operator compare(const restride_pointer &a,                        \
                                                 const restride_pointer &b)                        \
    {                                                                                              \
        return a.address() compare b.address();                                                      \
    }
    RESTRIDE_COMPARE(<)
    RESTRIDE_COMPARE(>)
    RESTRIDE_COMPARE(<=)
    RESTRIDE_COMPARE(>=)
    RESTRIDE_COMPARE(==)
    RESTRIDE_COMPARE(!=)
#undef RESTRIDE_COMPARE
};

template <class T, class F>
RESTRIDE_INLINE restride_pointer<T, F> restride_lvalue<T, F>::operator&() const
{
    return restride_pointer<T, F>(this->restride_p);
}

#endif
