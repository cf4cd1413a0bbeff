/*
 * The analysis of access patterns: a source in, a JSON description out.
 *
 * Request
 *   source    string   the only member that must be there
 *   file      string   its name; the ending says the language (.cl, .cu; else C)
 *   options   string   for the compiler: -I, -D, -U, -cl-std
 *   threads   array    names of loops whose iterations are threads (C only); absent: the outermost
 *                      one or two loops of a nest that carry nothing
 *   warp, burst, constant  integers  threads together, bytes a transaction, bytes of constant
 * memory
 *   device    string   that layouts are judged for, one of restride sim (h200)
 *   group     array    threads of a work-group along x, y, z (128; for transactions any)
 *   active, steering  integers  work-groups that run at once (32), steering bits of the address (8)
 *
 * Reply
 *   language  "C" | "OpenCL C" | "CUDA C"
 *   notes     array of {file, line, sentence}: what was missing or is not followed
 *   units     array, one for each kernel or function with references: {
 *     name, line, kernel,
 *     loops     [{name, line, parent, step, thread, carried: "nothing"|"reduction"|"value", what,
 *                 lines, certain, early}]
 *     arrays    [{name, type, element, dimensions, extents, space, argument, read_only, reused,
 *                 chunkable, same_address, coalesced, bytes, memory, candidates,
 *                 advice: {layout, dims, record, now, then}, parallel: {layout, dims} | {reason}}]
 *     references [{array, text, line, read, write, atomic, member, loop, columns: [{name, between,
 *                 auxiliary}], matrix: [[text]], offset: [text], classes, divided, approximated,
 *                 guarded, transactions, exact, stride}]
 *     judgement {device, gain, arguments: [{array, element, touched, class, lanes, group, record,
 *                 layout, meaning, gain, reason, requests, sectors_now, sectors_then,
 *                 candidates: [{layout, gain}]}]} of kernels: judge/judge.h
 *     groups    [{loop, line, target, verdict, reason, instances, vectorizable, qv,
 *                 rules: [{reference, rule, matrix, shift}], left_out: [reference]}]
 *   }
 */
#ifndef RS_ANALYZE_ANALYZE_H
#define RS_ANALYZE_ANALYZE_H

#include "analyze/discover.h"
#include "analyze/translation_unit.h"
#include "analyze/vector.h"
#include "base/status.h"

#include <jansson.h>

/* On success *reply is the caller's. RESTRIDE_INVALID_ARGUMENT for a wrong request. */
restride_status rs_analyze(const json_t *request, json_t **reply);

/* What all requests say of their source; its notes for the reply. */
restride_status rs_analyze_read_source(const json_t *request, rs_program_request *wanted);
json_t *rs_analyze_notes(const rs_model_set *set);

/* Adds a rule's `matrix` and `shift`. */
void rs_rule_describe(const rs_rule *rule, json_t *entry);

/* What a request says of launches and bursts. */
restride_status rs_analyze_read_launch(const json_t *request, rs_memory_parallelism *launch);

#endif
