/*
 * Most launches repeat one before: there is nothing to decide, and each buffer is where it has to
 * be. Under policy auto that holds until the policy looks again, where it has settled for the
 * program's own form.
 *
 * rs_choice_keep() notes such a launch, with the kernel that was launched; rs_choice_repeats() says
 * whether the next one, of `kernel`, `range` and `work_items`, is one that repeats it:
 * kernel->repeat.form is launched then, and rs_choice_note_repeated() counts it.
 *
 * All functions are called with the layer's lock.
 */
#ifndef RS_LAYER_REPEAT_H
#define RS_LAYER_REPEAT_H

#include "layer/core/choice.h"

void rs_choice_keep(const rs_choice *choice, const rs_command *command, void *form) RS_LOCKED;
bool rs_choice_repeats(const rs_choice *choice, rs_stream queue) RS_LOCKED;
void rs_choice_note_repeated(const rs_choice *choice) RS_LOCKED;

#endif
