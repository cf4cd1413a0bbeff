/* What every source may use without declaring it: types and thread indices that headers would
 * declare, which are not read. */
#ifndef RS_ANALYZE_PRELUDE_H
#define RS_ANALYZE_PRELUDE_H

extern const char rs_prelude_c[], rs_prelude_opencl[], rs_prelude_cuda[];

#endif
