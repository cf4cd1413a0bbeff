/* Which clang this is, and where its own headers are, for builds of libclang that do not find them
 * by themselves. */
#ifndef RS_SYNTAX_HEADERS_H
#define RS_SYNTAX_HEADERS_H

/* The folder of those for OpenCL C, and on most machines of all others; to be searched last. */
const char *rs_clang_headers(void);

/* Of libclang, the caller's to free; NULL without memory. */
char *rs_clang_version(void);

#endif
