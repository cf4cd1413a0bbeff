/*
 * Applying what the analysis found (Jang 2011, sections 4.1 and 4.2): loop nests become OpenCL C
 * kernels whose innermost memory accesses are short vectors, over data that was rearranged for it,
 * or whose arrays lie in the memory space that suits them.
 *
 * Request: what analyze.h takes, and
 *   apply     "vector" | "memory"
 *   width     elements of a vector: 2, 4, 8 or 16 (4)
 *   set, elements  objects of integers: parameters, and elements of arrays that are read at random
 *   size, memory   the largest value of another parameter (1048576), MiB of all arrays (8192)
 *   along     the loop whose iterations make up a vector (absent: the one with the largest Q_V)
 *
 * Reply
 *   file, language, apply, width
 *   notes     as analyze.h has them
 *   source    the kernels, as one OpenCL C text
 *   nests     array, one for each loop nest: {
 *     function, line, applied: bool, reason, reason_line   (of a refusal)
 *     along, reduction: bool     the order of a sum was changed
 *     kernels {original, threads, changed}    names in the source: one work-item that runs the nest
 *               as it was written, the nest with its independent loops as threads, and the result
 *     threads   array of {loop, dimension}: loops that are spread over work-items
 *     trips     array of quantities: iterations of each loop, at most
 *     items     array of quantities: work-items along x, y, z of "threads"; `changed` needs no more
 *     parameters  array, in the order of every kernel's arguments: {name, kind: "scalar" | "array",
 *               type, bytes, written, sizes: [quantity]}; an array has as many elements as the
 *               largest of its sizes says; null when that is not known
 *     copies    (vector) array, further arguments of `changed`: {name, array, type, bytes,
 * elements: [quantity] to be multiplied, pack, unpack, rule, matrix, shift, dims, layout,
 *               references}: `pack` has to run before, `unpack` (null: the copy is only read) after
 *     references  array of {text, line, access}
 *     arrays    (memory) array of {name, memory, wanted, reason, tile: [extents]}: where it lies in
 *               `changed`, and where algorithm 3 wants it; "texture" is an image1d_buffer_t
 *     group     (memory) [x, y, z]: the work-group of `changed`
 *     predicted {threads, changed: seconds on an H100, threads_bound, changed_bound: what takes
 *               them}; absent where no values of the parameters fit
 *     constraints array of quantities that are not negative where the nest stays inside its arrays
 *   }
 * A quantity is {terms: [[number, name, ...], ...], divisor}: a sum of products, divided and
 * rounded down.
 */
#ifndef RS_APPLY_APPLY_H
#define RS_APPLY_APPLY_H

#include "base/status.h"

#include <jansson.h>

/* On success *reply is the caller's. RESTRIDE_INVALID_ARGUMENT for a wrong request. */
restride_status rs_apply(const json_t *request, json_t **reply);

#endif
