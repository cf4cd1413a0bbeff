/* Restride itself, through its public interface. */
#include "restride/restride.h"
#include "peer.h"

static bool prepare(void *matrix)
{
    peer_matrix *m = matrix;
    restride_engine *engine = NULL;
    restride_plan *plan = NULL;
    bool made = restride_engine_create_host(&engine, PEER_THREADS) == RESTRIDE_OK &&
                restride_plan_transpose(&plan, engine, m->rows, m->cols, m->unit, 1) == RESTRIDE_OK;
    m->engine = engine;
    m->plan = plan;
    return made;
}

static bool run(void *matrix)
{
    peer_matrix *m = matrix;
    return restride_execute(m->plan, m->elements) == RESTRIDE_OK;
}

static void close(void *matrix)
{
    peer_matrix *m = matrix;
    restride_plan_destroy(m->plan);
    restride_engine_destroy(m->engine);
    peer_matrix_close(m);
}

const peer peer_restride = {"Restride", peer_matrix_open, prepare, run, peer_matrix_data, close};
