/*
 * Which layout an array of structures gains from, or none: what the lanes of a warp do with its
 * elements goes in, the times of the kernel in each layout come out, with the reason in a sentence.
 * kernel.h is what the judge is told, traffic.h says what is counted, model.c how that becomes a
 * time.
 */
#ifndef RS_JUDGE_JUDGE_H
#define RS_JUDGE_JUDGE_H

#include "base/text.h"
#include "judge/model.h"

enum { RS_JUDGE_MOST_LAYOUTS = 8 };

/* "i f", "f i", "i/32 f i%32", "i/128 i%4 f i/4%32" or "touched fields apart". */
void rs_judge_layout_print(rs_text *text, const rs_judge_layout *layout);

/* The same in words: "32 elements at a time, field by field". */
void rs_judge_layout_explain(rs_text *text, const rs_judge_layout *layout);

typedef struct {
    rs_judge_layout layout; /* AoS: leave it */
    double gain;            /* time of the kernel as it is, by that with this argument changed */
    const char *reason;     /* one sentence; lives as long as the program */
    int candidates;         /* the layouts that were compared, with their gains */
    rs_judge_layout layouts[RS_JUDGE_MOST_LAYOUTS];
    double gains[RS_JUDGE_MOST_LAYOUTS];
    double requests;                  /* loads or stores of a warp for a visit */
    double sectors_now, sectors_then; /* pieces of 32 bytes that they touch, all together */
} rs_judgement;

/* Judges all arguments together: *gain is that of the kernel with all changes. The layouts of the
 * arguments that are left alone are AoS. */
restride_status rs_judge(const rs_judge_kernel *kernel, const rs_judge_device *device,
                         rs_judgement found[], double *gain);

/*
 * How many times as fast the kernel is with these layouts, for each of its arguments, as with
 * arrays of structures; where no layout but that is good for some of them, no more than it gains
 * without those. The reason is that of the argument with most traffic among those that change.
 */
restride_status rs_judge_compare(const rs_judge_kernel *kernel, const rs_judge_device *device,
                                 const rs_judge_layout layouts[], double *gain,
                                 const char **reason);

/* Bytes of an element that the kernel touches in any way; of an argument that does not continue
 * another one. */
int rs_judge_touched(const rs_judge_kernel *kernel, int argument);

/* "one element a lane" and so on. */
const char *rs_judge_lanes_text(rs_judge_lanes lanes);

#endif
