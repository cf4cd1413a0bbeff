/* Where clang's own headers are, for builds of libclang that do not find them by themselves. */
#ifndef RS_SYNTAX_HEADERS_H
#define RS_SYNTAX_HEADERS_H

/* The folder of those for OpenCL C, and on most machines of all others; to be searched last. */
const char *rs_clang_headers(void);

#endif
