/* What a source is written in. */
#ifndef RS_SYNTAX_LANGUAGE_H
#define RS_SYNTAX_LANGUAGE_H

typedef enum {
    RS_SYNTAX_BY_NAME, /* .cl: OpenCL C; .c: C; all else CUDA C++; in requests only */
    RS_SYNTAX_OPENCL,
    RS_SYNTAX_CUDA,
    RS_SYNTAX_C
} rs_syntax_language;

#endif
