/*
 * The plans that an engine keeps: a table of eight, looked up by the words of the call. A plan that
 * is running is never destroyed: it has users. What is new takes an empty place, else that of the
 * plan without users whose last use is longest ago; where all have users it is not kept.
 */
#include "transpose/kept.h"
#include "engine/stage.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    char *key; /* NULL: nobody finds the plan any more */
    restride_plan *plan;
    size_t users;
    uint64_t last_use;
} kept_plan;

typedef struct {
    rs_attachment base;
    kept_plan plans[RS_KEPT_PLANS];
    uint64_t uses;
} kept_plans;

static kept_plan empty(kept_plan *place)
{
    kept_plan taken = *place;
    *place = (kept_plan){.plan = NULL};
    return taken;
}

/* Outside the lock: a plan of a device waits for its runs. */
static void discard(kept_plan taken)
{
    free(taken.key);
    restride_plan_destroy(taken.plan);
}

static void destroy(rs_attachment *base)
{
    kept_plans *kept = (kept_plans *)base;
    for (size_t i = 0; i < RS_KEPT_PLANS; i++)
        discard(empty(&kept->plans[i]));
    free(kept);
}

static restride_plan *find(kept_plans *kept, const char *key)
{
    restride_plan *found = NULL;
    pthread_mutex_lock(&kept->base.lock);
    for (size_t i = 0; i < RS_KEPT_PLANS && found == NULL; i++) {
        kept_plan *place = &kept->plans[i];
        if (place->key == NULL || strcmp(place->key, key) != 0)
            continue;
        place->users++;
        place->last_use = ++kept->uses;
        found = place->plan;
    }
    pthread_mutex_unlock(&kept->base.lock);
    return found;
}

/* Takes over `key` and the plan with one user; where there is no place, the caller has the plan. */
static void keep(kept_plans *kept, char *key, restride_plan *plan)
{
    kept_plan replaced = {.plan = NULL};
    pthread_mutex_lock(&kept->base.lock);
    kept_plan *oldest = NULL;
    for (size_t i = 0; i < RS_KEPT_PLANS; i++) {
        kept_plan *place = &kept->plans[i];
        if (place->users == 0 && (oldest == NULL || place->last_use < oldest->last_use))
            oldest = place;
    }
    if (oldest != NULL) {
        replaced = empty(oldest);
        *oldest = (kept_plan){key, plan, 1, ++kept->uses};
        key = NULL;
    }
    pthread_mutex_unlock(&kept->base.lock);
    free(key);
    discard(replaced);
}

restride_status rs_kept_acquire(restride_plan **plan, restride_engine *engine, const char *key,
                                rs_plan_maker *make, const void *problem)
{
    kept_plans *kept = (kept_plans *)rs_engine_attach(&engine->kept, sizeof(kept_plans), destroy);
    *plan = kept == NULL ? NULL : find(kept, key);
    if (*plan != NULL)
        return RESTRIDE_OK;
    restride_status status = make(plan, engine, problem);
    char *copy = status == RESTRIDE_OK && kept != NULL ? strdup(key) : NULL;
    if (copy != NULL)
        keep(kept, copy, *plan);
    return status;
}

void rs_kept_release(restride_engine *engine, restride_plan *plan)
{
    kept_plans *kept = (kept_plans *)atomic_load(&engine->kept);
    kept_plan unwanted = {.plan = plan};
    if (kept != NULL) {
        pthread_mutex_lock(&kept->base.lock);
        for (size_t i = 0; i < RS_KEPT_PLANS; i++) {
            kept_plan *place = &kept->plans[i];
            if (place->plan != plan)
                continue;
            unwanted.plan = NULL;
            if (--place->users == 0 && place->key == NULL)
                unwanted = empty(place);
        }
        pthread_mutex_unlock(&kept->base.lock);
    }
    discard(unwanted);
}

void restride_engine_forget_plans(restride_engine *engine)
{
    kept_plans *kept = engine == NULL ? NULL : (kept_plans *)atomic_load(&engine->kept);
    if (kept == NULL)
        return;
    kept_plan forgotten[RS_KEPT_PLANS] = {{.plan = NULL}};
    pthread_mutex_lock(&kept->base.lock);
    for (size_t i = 0; i < RS_KEPT_PLANS; i++) {
        if (kept->plans[i].users == 0) {
            forgotten[i] = empty(&kept->plans[i]);
        } else {
            free(kept->plans[i].key);
            kept->plans[i].key = NULL;
        }
    }
    pthread_mutex_unlock(&kept->base.lock);
    for (size_t i = 0; i < RS_KEPT_PLANS; i++)
        discard(forgotten[i]);
}
