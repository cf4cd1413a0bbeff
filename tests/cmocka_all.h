/* cmocka with the headers it needs, in the order it needs them. */
#ifndef RS_TESTS_CMOCKA_ALL_H
#define RS_TESTS_CMOCKA_ALL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
