/*
 * Whether the conditions of a source that is written again without them have one answer for every
 * compiler of its language: those of OpenCL C and of CUDA are not here to be asked, as the one for
 * C is (source/host.h).
 */
#ifndef RS_ANALYZE_CONDITIONS_H
#define RS_ANALYZE_CONDITIONS_H

#include "analyze/translation_unit.h"

/* The first line that asks for a name, preferably in a directive, among the texts that were read;
 * 0: none does. */
size_t rs_conditions_find(const rs_flat *flat, const rs_program_request *request, const char *name,
                          const char **file);

/* Adds -DNAME=... for the names that what nvcc always includes defines. */
restride_status rs_conditions_define(const rs_flat *flat, rs_text *words, size_t *count);

/* A name whose definition is not certain and chooses what is read, or NULL; the caller frees it. */
restride_status rs_conditions_check(const rs_flat *flat, const rs_flat_request *asked,
                                    const rs_program_request *request, char **name);

#endif
