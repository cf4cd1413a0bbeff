/*
 * A description of kernels, as `restride nvcc` puts one into an object: a section of notes
 * (src/layer/cuda/forms.h). ARGUMENT and KERNEL write its parts, NOTE the whole.
 */
#ifndef NOTE_H
#define NOTE_H

#define ARGUMENT(index, name, type, extent, record)                                                \
    "{\"index\":" #index ",\"name\":\"" name "\",\"type\":\"" type "\",\"status\":\"transformed\"" \
    ",\"layout\":\"i/32 f i%32\",\"tile\":32,\"extent\":" #extent ",\"record\":" record "}"
#define KERNEL(name, parameters, closed, gain, arguments)                                          \
    "{\"symbol\":\"" name "\",\"name\":\"" name "\",\"parameters\":" #parameters                   \
    ",\"closed\":" closed ",\"second\":{\"full\":\"" name "_full\",\"ragged\":\"" name             \
    "_ragged\",\"full_large\":\"" name "_full_large\",\"ragged_large\":\"" name                    \
    "_ragged_large\"},\"arguments\":[" arguments "],\"gain\":" gain ",\"why\":\"by hand\"}"

/* The rest of the compiler's own line is a comment of the assembler. */
#ifdef __x86_64__
#define NOTES "restride_forms,\"a\",@note#"
#else
#define NOTES "restride_forms,\"a\",%note//"
#endif
#define NOTE(kernels)                                                                              \
    __attribute__((section(NOTES), used, aligned(4))) static const struct {                        \
        unsigned name_bytes, text_bytes, type;                                                     \
        char name[(sizeof "Restride" + 3) / 4 * 4];                                                \
        char text[(sizeof TEXT(kernels) + 2) / 4 * 4];                                             \
    } note = {sizeof "Restride", sizeof TEXT(kernels) - 1, 1, "Restride", TEXT(kernels)}
#define TEXT(kernels) "{\"version\":1,\"kernels\":[" kernels "]}"

#endif
