/*
 * The words that the methods share.
 *
 * A method looks at one reference and makes an arrangement. All of them place objects so that the
 * objects of a warp are neighbours: d neighbours that begin at a segment's border touch
 * rs_segments(d) segments, the fewest possible, and one more at most if they begin elsewhere.
 */
#ifndef RS_IRREGULAR_IRREGULAR_H
#define RS_IRREGULAR_IRREGULAR_H

#include "base/status.h"
#include "restride/irregular.h"

#include <stdint.h>

enum { RS_MOST_WARP = 1024, RS_MOST_REFERENCES = 8, RS_MOST_PROCESSORS = 256 };

/* One reference of a launch, checked. */
typedef struct {
    const size_t *object; /* that each thread reads */
    size_t threads;
    size_t objects;
    size_t object_bytes;
    size_t warp;
    size_t segment_bytes;
    size_t processors;
} rs_reads;

#define RS_EMPTY_SLOT ((size_t)-1)

/* Where the objects go and who reads them. The arrays are the arrangement's own. */
typedef struct {
    size_t *order;  /* old thread of each new one; NULL: they stay */
    size_t *index;  /* slot of each new thread */
    size_t *source; /* object of each slot, or RS_EMPTY_SLOT */
    size_t slots;
    size_t empty; /* of them */
    size_t extra; /* slots more than objects */
    size_t read;  /* objects that are read; unknown where the threads stay */
    size_t bound; /* on the transactions */
} rs_arrangement;

void rs_arrangement_free(rs_arrangement *arrangement);

/* Segments that hold `objects` neighbours that begin at a border. */
size_t rs_segments(const rs_reads *reads, size_t objects);

/* Segments touched by `objects` > 0 neighbours from `slot` on. */
size_t rs_segments_from(const rs_reads *reads, size_t slot, size_t objects);

/* The smallest slot from `slot` on that begins at a segment's border. */
size_t rs_next_border(const rs_reads *reads, size_t slot);

size_t rs_warps(const rs_reads *reads);

/* The different objects that the threads [begin, end), at most RS_MOST_WARP, read, in ascending
 * order; `order` as in an arrangement. Returns their count. */
size_t rs_warp_objects(const rs_reads *reads, const size_t *order, size_t begin, size_t end,
                       size_t found[]);

/* The segments touched by one warp, whose slots are sorted and different. */
size_t rs_touched(const rs_reads *reads, const size_t *slots, size_t count);

/* Transactions of all warps if thread t reads slot index[t]. */
size_t rs_count_transactions(const rs_reads *reads, const size_t *index);

/* Below these no arrangement can go: with the threads in their order, and in any order. */
size_t rs_best_in_order(const rs_reads *reads);
size_t rs_least_in_any_order(const rs_reads *reads, size_t different /* objects that are read */);

/* Calls work(context, begin, end) for parts of [0, items) on up to that many host threads. */
void rs_share_items(size_t processors, size_t items,
                    void (*work)(void *context, size_t begin, size_t end), void *context);

/* order[]: 0 to count - 1 sorted by keys[], each at most `most_key`; equal keys stay in order.
 * sorted[] (NULL: not wanted) receives the keys in that order. */
restride_status rs_order_by_key(size_t order[], size_t sorted[], const size_t keys[], size_t count,
                                size_t most_key, size_t processors);

/* The threads of each object that is read, the most popular object first. */
typedef struct {
    size_t object;
    size_t first; /* of its threads in rs_popularity.thread */
    size_t count;
} rs_run;
typedef struct {
    size_t *thread;
    rs_run *run;
    size_t runs;
} rs_popularity;

restride_status rs_popularity_create(rs_popularity *popularity, const rs_reads *reads);
void rs_popularity_free(rs_popularity *popularity);

/* The methods. `budget` counts slots beyond the objects; when it does not suffice the status is
 * RESTRIDE_UNSUPPORTED. On failure nothing needs to be freed. */
restride_status rs_duplicate(rs_arrangement *arrangement, const rs_reads *reads, size_t budget);
restride_status rs_duplicate_part(rs_arrangement *arrangement, const rs_reads *reads,
                                  size_t budget);
restride_status rs_pad(rs_arrangement *arrangement, const rs_reads *reads, size_t budget);
restride_status rs_approximate(rs_arrangement *arrangement, const rs_reads *reads, size_t budget);

/* The bounds on the transactions of full duplication, and of an approximation by the warps of its
 * first two groups and the threads of the third. */
size_t rs_duplication_bound(const rs_reads *reads);
size_t rs_approximation_bound(const rs_reads *reads, size_t popular_warps, size_t alone_warps,
                              size_t rest);

/* Launches that repay the reads of `filled` objects and the writes of `slots`, and a new index
 * array; SIZE_MAX: never. */
size_t rs_break_even(const restride_irregular_facts *facts, const rs_reads *reads, size_t filled,
                     size_t slots, size_t index_bytes);

/* Whether what was asked is possible at all. */
restride_status rs_check_launch(const restride_launch *launch, size_t count);
restride_status rs_check_reference(const restride_launch *launch,
                                   const restride_reference *reference, size_t number);
restride_status rs_check_options(const restride_irregular_options *options);

/* Objects in the order in which threads in a given order first read them: for a reference whose
 * threads are ordered for another one. */
restride_status rs_follow(rs_arrangement *arrangement, const rs_reads *reads, const size_t *order);

/* Number `t` of an index array whose integers have 4 or 8 bytes. */
static inline size_t rs_index_read(const void *index, size_t bytes, size_t t)
{
    return bytes == 4 ? ((const uint32_t *)index)[t] : (size_t)((const uint64_t *)index)[t];
}

#endif
