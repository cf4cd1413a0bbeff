/*
 * Who asks ld.so for a function of the CUDA driver, of NVRTC or of nvJitLink, by a call or by
 * dlsym(), gets what librestride_layer_cuda.so answers for it. RESTRIDE_CUDA_LAYER has the path of
 * that library, which is loaded into the program's namespace when it is first needed: here is
 * another C library.
 *
 * ld.so asks for the names of calls while it loads a program, when nothing can be loaded yet. They
 * are bound to a function of this file, which asks the layer when it is called.
 *
 * ld.so does not ask about functions whose addresses stand in tables. A file that has such tables
 * calls the driver unseen, so the layer is told to convert nothing.
 */
#include "loader/cuda.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef uintptr_t answering(const char *name, uintptr_t function);
typedef void being_blind(const char *file);

static struct {
    atomic_bool is_tried;
    _Atomic(answering *) answer; /* NULL: there is no layer */
    _Atomic(being_blind *) blind;
    const char *unseen; /* the file that calls the driver unseen, or NULL */
} layer;

/* ---- the layer ---- */

/* Several threads may come here at once. None holds a lock of this file's: ld.so takes its own
 * here, and holds it already where dlsym() asks for a name. */
static void load(void)
{
    const char *path = getenv("RESTRIDE_CUDA_LAYER");
    answering *answer = NULL;
    being_blind *blind = NULL;
    void *library =
        path != NULL ? dlmopen(LM_ID_BASE, path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE) : NULL;
    void *functions[] = {NULL, NULL};
    if (library != NULL) {
        functions[0] = dlsym(library, "restride_cuda_answer");
        functions[1] = dlsym(library, "restride_cuda_blind");
    }
    memcpy(&answer, &functions[0], sizeof answer);
    memcpy(&blind, &functions[1], sizeof blind);
    if (blind != NULL && layer.unseen != NULL)
        blind(layer.unseen);
    atomic_store(&layer.blind, blind);
    atomic_store(&layer.answer, answer);
    atomic_store(&layer.is_tried, true);
}

/* A thread that loads the layer asks for more on its way, and is not answered. */
static uintptr_t ask(const char *name, uintptr_t function)
{
    static _Thread_local bool is_inside;
    if (is_inside)
        return function;
    is_inside = true;
    if (!atomic_load(&layer.is_tried))
        load();
    is_inside = false;
    answering *answer = atomic_load(&layer.answer);
    return answer != NULL ? answer(name, function) : function;
}

/* ---- names that are bound before they can be asked for ---- */

/* All arguments of a driver's function are numbers, pointers, or a structure of 64 bytes: so many
 * words hold those of any. See loader.c. */
typedef uintptr_t word;
#define WORDS                                                                                      \
    word a, word b, word c, word d, word e, word f, word g, word h, word i, word j, word k,        \
        word l, word m, word n, word o, word p
#define VALUES a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p
typedef word any_function(WORDS);

enum { MOST_BOUND = 256 };

static struct {
    const char *name;
    _Atomic uintptr_t function; /* the driver's; 0: a thread is about to write the entry */
    _Atomic uintptr_t answer;   /* 0: not asked for yet */
} bound[MOST_BOUND];
static atomic_int bound_count; /* of entries that were taken, and may be more than there are */

static word call(int number, WORDS)
{
    uintptr_t answer = atomic_load_explicit(&bound[number].answer, memory_order_acquire);
    any_function *function;
    if (answer == 0) {
        answer = ask(bound[number].name, atomic_load(&bound[number].function));
        atomic_store_explicit(&bound[number].answer, answer, memory_order_release);
    }
    memcpy(&function, &answer, sizeof function);
    return function(VALUES);
}

#define FUNCTION(number)                                                                           \
    static word call_##number(WORDS)                                                               \
    {                                                                                              \
        return call(0x##number, VALUES);                                                           \
    }
/* clang-format off */
#define SIXTEEN(M, x)                                                                              \
    M(x##0) M(x##1) M(x##2) M(x##3) M(x##4) M(x##5) M(x##6) M(x##7)                                \
    M(x##8) M(x##9) M(x##a) M(x##b) M(x##c) M(x##d) M(x##e) M(x##f)
#define ALL(M)                                                                                     \
    SIXTEEN(M, 0) SIXTEEN(M, 1) SIXTEEN(M, 2) SIXTEEN(M, 3)                                        \
    SIXTEEN(M, 4) SIXTEEN(M, 5) SIXTEEN(M, 6) SIXTEEN(M, 7)                                        \
    SIXTEEN(M, 8) SIXTEEN(M, 9) SIXTEEN(M, a) SIXTEEN(M, b)                                        \
    SIXTEEN(M, c) SIXTEEN(M, d) SIXTEEN(M, e) SIXTEEN(M, f)
ALL(FUNCTION)
/* clang-format on */

#define NAME(number) call_##number,
static any_function *const functions[MOST_BOUND] = {ALL(NAME)};

/* Threads that call functions for the first time come here at once: ld.so has no lock then. Each
 * takes an entry of its own; two of one function do no harm. */
static uintptr_t bind_later(const char *name, uintptr_t function)
{
    uintptr_t address;
    int number = 0;
    while (number < MOST_BOUND && atomic_load(&bound[number].function) != function)
        number++;
    if (number == MOST_BOUND) {
        number =
            atomic_load(&bound_count) < MOST_BOUND ? atomic_fetch_add(&bound_count, 1) : MOST_BOUND;
        if (number >= MOST_BOUND)
            return ask(name, function);
        bound[number].name = name;
        atomic_store(&bound[number].function, function);
    }
    memcpy(&address, &functions[number], sizeof address);
    return address;
}

uintptr_t rs_loader_cuda_bind(const char *name, uintptr_t function, bool is_asked)
{
    return is_asked ? ask(name, function) : bind_later(name, function);
}

/* ---- files ---- */

static const void *place(const struct link_map *map, const ElfW(Dyn) * entry)
{
    const ElfW(Addr) address = entry->d_un.d_ptr;
    const void *found;
    const ElfW(Addr) absolute = address < map->l_addr ? address + map->l_addr : address;
    memcpy(&found, &absolute, sizeof found);
    return found;
}

typedef struct {
    const char *strings;
    const ElfW(Sym) * symbols;
    const ElfW(Rela) * relocations;
    size_t count, relative; /* of them; those come first */
    bool needs_driver;
} tables;

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

static tables read_tables(const struct link_map *map)
{
    tables t = {.count = 0};
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_STRTAB)
            t.strings = place(map, d);
        if (d->d_tag == DT_SYMTAB)
            t.symbols = place(map, d);
        if (d->d_tag == DT_RELA)
            t.relocations = place(map, d);
        if (d->d_tag == DT_RELASZ)
            t.count = d->d_un.d_val / sizeof(ElfW(Rela));
        if (d->d_tag == DT_RELACOUNT)
            t.relative = d->d_un.d_val;
    }
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL && t.strings != NULL; d++)
        t.needs_driver |= d->d_tag == DT_NEEDED && begins(t.strings + d->d_un.d_val, "libcuda.so");
    return t;
}

static bool is_of_driver(const char *name)
{
    return name[0] == 'c' && name[1] == 'u' && name[2] >= 'A' && name[2] <= 'Z';
}

/* Whether it has addresses of the driver's functions in tables of its own; those of calls are in a
 * table of ld.so's. */
static bool has_tables_of_functions(const struct link_map *map)
{
    const tables t = read_tables(map);
    if (!t.needs_driver || t.symbols == NULL)
        return false;
    for (size_t i = t.relative; i < t.count; i++) {
        const ElfW(Sym) *symbol = &t.symbols[ELF64_R_SYM(t.relocations[i].r_info)];
        if (symbol->st_shndx == SHN_UNDEF && is_of_driver(t.strings + symbol->st_name))
            return true;
    }
    return false;
}

/* Some versions of ld.so ask also about names where only one of the files is of interest. */
enum { OWN_FILE, DRIVER_FILE, PROGRAM_FILE };

bool rs_loader_cuda_is_followed(uintptr_t from, uintptr_t to)
{
    return from == PROGRAM_FILE && to == DRIVER_FILE;
}

unsigned rs_loader_cuda_open(const struct link_map *map, uintptr_t *mark)
{
    const char *slash = strrchr(map->l_name, '/');
    const char *name = slash != NULL ? slash + 1 : map->l_name;
    *mark = OWN_FILE;
    if (getenv("RESTRIDE_CUDA_LAYER") == NULL || begins(name, "librestride_layer") ||
        begins(name, "libnvidia-") || begins(name, "libcudadebugger") || begins(name, "ld-linux"))
        return 0; /* the layer's and the driver's own */
    if (begins(name, "libcuda.so") || begins(name, "libnvrtc.so") ||
        begins(name, "libnvJitLink.so")) {
        *mark = DRIVER_FILE;
        return LA_FLG_BINDTO;
    }
    *mark = PROGRAM_FILE;
    if (layer.unseen == NULL && has_tables_of_functions(map)) {
        layer.unseen = map->l_name[0] != '\0' ? map->l_name : "the program";
        being_blind *blind = atomic_load(&layer.blind);
        if (blind != NULL)
            blind(layer.unseen);
    }
    return LA_FLG_BINDFROM;
}
