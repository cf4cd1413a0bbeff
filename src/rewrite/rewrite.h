/*
 * The kernel rewriter: OpenCL C in, OpenCL C out, in which the arrays of structures that are fully
 * understood are read and written in another layout. Sound or silent: an argument with one use that
 * is not understood stays as it is, and the reply says which line is the reason.
 *
 * Request and reply are JSON, because the OpenCL layer asks from another process (libclang never
 * runs inside the user's program, where it could meet the driver's own LLVM).
 *
 * Request
 *   source        string   the program's source; the only member that must be there
 *   file          string   its name for messages ("kernel.cl")
 *   options       string   the build options exactly as the program passed them
 *   address_bits  32 | 64  of the device
 *   tile          integer  T: every argument that is an array of structures becomes "i/T f i%T";
 *                          absent: none
 *   defaults      object   kernel name, or "*", to the layout expression of all its arguments that
 *                          are arrays of structures; goes before `tile`
 *   layouts       object   argument name, or "kernel.argument", to layout expression; goes before
 *                          `defaults`
 *   records       object   argument name, or "kernel.argument", to the length of the records of a
 *                          flat array, as an expression ("20", "N + 1"), or as "SoA: [20][n]" when
 *                          each member of all records lies together; see annotations.h
 *   references    object   argument name, or "kernel.argument", to the name of the index array
 *                          through which it is read, A[P[i]]: the kernels get them reordered
 *                          (reorder.h), and `layouts`, `defaults`, `tile` and
 *                          `config` do not matter
 *   soa           bool     arrays that are told to be SoA may be transformed too
 *   full          bool     kernels may get a copy that is faster and holds only where the number of
 *                          records of every transformed argument is a multiple of its tile, and
 *                          the buffer has no bytes behind them; in OpenCL C
 *   config        object   {layouts, records, places} from a configuration file (config/config.h):
 *                          like the two members above, which go before it; names that this source
 *                          does not have are told in the reply's `unused`
 *   macros        object   what the device's compiler predefines: name to value, null for "not
 *                          defined there", or true for "defined there", as whatever
 *   header        bool     write a header for the host program too
 *   comments      bool     keep the comments in the new source
 *   beside        bool     `file` has a folder: headers in quotes are looked for there first
 *   errors        bool     tell a compiler's errors even where the source declares no structure
 *   assume_undefined bool  every macro that is tested, unknown and not in `macros` counts as not
 *                          defined
 *
 * Reply
 *   error           string nothing could be done, and why; only bad_request comes with it
 *   bad_request     bool   the request is at fault: a layout that cannot be parsed, an argument
 *                          that does not exist
 *   unknown_macros  array  names that the source tests and nobody defined: ask the device's
 *                          compiler and call again; each answer can uncover further names
 *   unknown_values  array  those names, and others that are only known to be defined, whose values
 *                          are needed: an #if reads it, or the new source would, and it may be more
 *                          than a floating constant of OpenCL
 *   reason, file, line     why the whole source stays as it is: cpp or libclang refused it, or a
 *                          build option
 *   includes        object what else the source was read from: see includes.h; absent when that
 *                          cannot be told
 *   source          string the new source: preprocessed, one text; absent when no argument was
 *                          transformed
 *   header          string C for the host program: see header.h
 *   options         string the build options for the new source (without -D, -U and -I)
 *   unused          array  names in the request's `config` that no kernel's argument has
 *   kernels         array  of {name, arguments: [{
 *       index, name, type, status: "transformed" | "kept", layout,
 *       reason, file, line               when kept
 *       record: {name, size, alignment, leaves: [{name, type, offset, size}]},    without padding
 *       tile,                            0 for "f i"
 *       source_layout: "f i"             when that is how the program keeps the array, instead of
 *                                        "i f"
 *       access: {bytes_used, record_bytes, fields_used, reads, writes, pattern, members: "rwb-",
 *                accesses: {unit, uniform, strided, other}},   how the kernel uses the array, see
 *                                        pattern.h; `pattern` is the one of most accesses
 *       count_argument                   when transformed: the index of the added kernel argument,
 *                                        a ulong that holds the number of records in the buffer
 *   }], full_kernel                      the name of that copy, with the same arguments, if any
 *    parameters: [{
 *       name, space: "__global" | "__constant" | "" | "__local" | "value" | "other",
 *       type, bytes                      of the value or of what is pointed to; "" for a structure
 *       record                           where the elements are structures; as above
 *   }]}; only the arguments that are pointers to global or constant memory are listed, but all
 *   parameters
 */
#ifndef RS_REWRITE_REWRITE_H
#define RS_REWRITE_REWRITE_H

#include "base/status.h"

#include <jansson.h>

/* On success *reply is the caller's. A failure means that not even a reply could be made. */
restride_status rs_rewrite(const json_t *request, json_t **reply);

#endif
