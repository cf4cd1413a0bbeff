/* A description of a kernel as an object of `restride nvcc` has it. */
#ifndef TESTS_LAYER_FORMS_NOTE_H
#define TESTS_LAYER_FORMS_NOTE_H

/* __asm__ of a note with one kernel; quotes of its texts are written \\\". */
#define FORMS_NOTE(text)                                                                           \
    __asm__(".pushsection restride_forms,\"a\",@note\n"                                            \
            ".balign 4\n"                                                                          \
            ".long 9, 2f - 1f, 1\n"                                                                \
            ".asciz \"Restride\"\n"                                                                \
            ".balign 4\n"                                                                          \
            "1: .ascii \"" text "\"\n"                                                             \
            "2: .balign 4\n"                                                                       \
            ".popsection")

#endif
