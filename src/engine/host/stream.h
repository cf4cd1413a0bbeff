/* Stores past the caches, for arrays that are larger than these. */
#ifndef RS_ENGINE_HOST_STREAM_H
#define RS_ENGINE_HOST_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { RS_HOST_STREAM_LINE = 64, RS_HOST_STREAM_BYTES = 4 << 20 };

/* Blocks that stay in a cache are better left there. Only whole lines are streamed: a line written
 * in two parts would go to memory twice. */
static inline void rs_host_stream(unsigned char *target, const unsigned char *source, size_t bytes,
                                  bool beyond)
{
#ifdef __SSE2__
    enum { LINE = RS_HOST_STREAM_LINE };
    size_t head = (LINE - (uintptr_t)target % LINE) % LINE;
    if (beyond && bytes >= head + LINE) {
        memcpy(target, source, head);
        target += head;
        source += head;
        for (bytes -= head; bytes >= LINE; target += LINE, source += LINE, bytes -= LINE)
            for (size_t i = 0; i < LINE; i += sizeof(__m128i))
                _mm_stream_si128((__m128i *)(void *)(target + i),
                                 _mm_loadu_si128((const __m128i *)(const void *)(source + i)));
    }
#endif
    (void)beyond;
    memcpy(target, source, bytes);
}

/* Other threads read what was streamed after the next barrier. */
static inline void rs_host_finish_streams(void)
{
#ifdef __SSE2__
    _mm_sfence();
#endif
}

#endif
