/* What locks a function needs, for clang's -Wthread-safety; nothing for other compilers. */
#ifndef RS_BASE_THREAD_SAFETY_H
#define RS_BASE_THREAD_SAFETY_H

#ifdef __clang__
#define RS_THREAD_ATTRIBUTE(attribute) __attribute__((attribute))
#else
#define RS_THREAD_ATTRIBUTE(attribute)
#endif

#define RS_CAPABILITY(kind) RS_THREAD_ATTRIBUTE(capability(kind))
#define RS_REQUIRES(lock) RS_THREAD_ATTRIBUTE(requires_capability(lock)) /* held throughout */
#define RS_EXCLUDES(lock) RS_THREAD_ATTRIBUTE(locks_excluded(lock))      /* not held before */
#define RS_ACQUIRES(lock) RS_THREAD_ATTRIBUTE(acquire_capability(lock))
#define RS_RELEASES(lock) RS_THREAD_ATTRIBUTE(release_capability(lock))
/* The body takes or gives the lock where clang cannot see it. */
#define RS_LOCK_FUNCTION RS_THREAD_ATTRIBUTE(no_thread_safety_analysis)

#endif
