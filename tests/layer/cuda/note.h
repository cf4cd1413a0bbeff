/*
 * A description of kernels, as `restride nvcc` puts one into an object: a section of notes
 * (src/layer/cuda/forms.h). ARGUMENT and KERNEL write its parts, NOTE the whole. OTHER is a kernel
 * without second forms, of which NOTE_AND_OTHERS tells with the witness of their module.
 */
#ifndef NOTE_H
#define NOTE_H

#define GROUPED(index, name, type, extent, group, layout, record)                                  \
    "{\"index\":" #index ",\"name\":\"" name "\",\"type\":\"" type "\",\"status\":\"transformed\"" \
    ",\"layout\":\"" layout "\",\"tile\":32,\"group\":" #group ",\"extent\":" #extent              \
    ",\"record\":" record "}"
#define ARGUMENT(index, name, type, extent, record)                                                \
    GROUPED(index, name, type, extent, 1, "i/32 f i%32", record)
#define KERNEL_OF_FORMS(name, full, ragged, parameters, closed, gain, arguments)                   \
    "{\"symbol\":\"" name "\",\"name\":\"" name "\",\"parameters\":" #parameters                   \
    ",\"closed\":" closed ",\"second\":{\"full\":\"" name "_" full "\",\"ragged\":\"" name         \
    "_" ragged "\",\"full_large\":\"" name "_" full "_large\",\"ragged_large\":\"" name "_" ragged \
    "_large\"},\"arguments\":[" arguments "],\"gain\":" gain ",\"why\":\"by hand\"}"
#define KERNEL(name, parameters, closed, gain, arguments)                                          \
    KERNEL_OF_FORMS(name, "full", "ragged", parameters, closed, gain, arguments)

#define OTHER(name, parameters, closed)                                                            \
    "{\"symbol\":\"" name "\",\"name\":\"" name "\",\"parameters\":" #parameters                   \
    ",\"closed\":" closed ",\"arguments\":[]}"

/* The rest of the compiler's own line is a comment of the assembler. */
#ifdef __x86_64__
#define NOTES "restride_forms,\"a\",@note#"
#else
#define NOTES "restride_forms,\"a\",%note//"
#endif
#define NOTE_OF(source, content)                                                                   \
    __attribute__((section(NOTES), used, aligned(4))) static const struct {                        \
        unsigned name_bytes, text_bytes, type;                                                     \
        char name[(sizeof "Restride" + 3) / 4 * 4];                                                \
        char text[(sizeof(content) + 2) / 4 * 4];                                                  \
    } note_of_##source = {sizeof "Restride", sizeof(content) - 1, 1, "Restride", content}
#define NOTE(kernels) NOTE_OF(own, "{\"version\":1,\"kernels\":[" kernels "]}")
#define NOTE_AND_OTHERS(source, kernels, witness, others)                                          \
    NOTE_OF(source, "{\"version\":1,\"kernels\":[" kernels "],\"witness\":\"" witness              \
                    "\",\"others\":[" others "]}")

#endif
