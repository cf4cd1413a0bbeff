/* Requests for companions of CUDA C++ sources: see companion/reply.h. */
#ifndef RS_PROGRAMS_COMPANION_H
#define RS_PROGRAMS_COMPANION_H

#include "companion/reply.h"

/* The judge of companions; NULL where it is not built in. */
rs_companion_judge *rs_companion_own_judge(void);

/*
 * Answers a request that has these members; the judge chooses the arguments. The reply is that of
 * companion/reply.h.
 *   source     string  the text
 *   file       string  its path
 *   companion  object  of
 *     options    array    the compiler's words
 *     tile       integer  of the layout
 *     names      array    name expressions whose instances are wanted as well
 *     folder     string   of the source, which headers in quotes are looked for in: the companion
 *                         is compiled elsewhere
 */
restride_status rs_companion_answer(const json_t *request, json_t **reply);

#endif
