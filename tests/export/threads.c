/* Runs a function of a library without and with threads: the results are the same, bit for bit.
 * Prints how many threads worked, and how many tasks the largest call had. */
#include "model.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORKERS 3

typedef struct {
    model_task task;
    void *argument;
    int64_t count, next, done;
    int tasks, worked;
} pool;

static void *work(void *data) {
    pool *p = data;
    for (;;) {
        int64_t i = __atomic_fetch_add(&p->next, 1, __ATOMIC_SEQ_CST);
        if (i >= p->count) return 0;
        p->task(p->argument, i);
        __atomic_fetch_add(&p->done, 1, __ATOMIC_SEQ_CST);
    }
}

static void run(void *threads, model_task task, void *argument, int64_t count) {
    pool *p = threads;
    pthread_t workers[WORKERS];
    p->task = task, p->argument = argument, p->count = count, p->next = p->done = 0;
    for (int i = 0; i < WORKERS; i++)
        if (pthread_create(&workers[i], 0, work, p)) exit(3);
    for (int i = 0; i < WORKERS; i++) pthread_join(workers[i], 0);
    if (p->done != count) exit(4);
    if (count > p->tasks) p->tasks = (int)count;
    p->worked++;
}

static float input[MODEL_INPUT], output[2][MODEL_OUTPUT];

int main(void) {
    model_context *context;
    if (model_create(&context)) return 1;
    for (int i = 0; i < MODEL_INPUT; i++) input[i] = (float)((i * 7919) % 1000) / 1000 - 0.5f;
    pool p = {0};
    model_run_inputs inputs = {{input, MODEL_INPUT}};
    for (int i = 0; i < 4; i++) { /* without, with, without, with */
        if (model_set_parallel_for(context, i % 2 ? run : 0, &p)) return 1;
        model_run_outputs outputs = {{output[i % 2], MODEL_OUTPUT}};
        int error = model_run(context, &inputs, &outputs);
        if (error) return fprintf(stderr, "%s\n", model_error_text(error)), 1;
        if (i == 0 && p.worked) return 5;
        if (i && memcmp(output[0], output[1], sizeof output[0])) return 6;
    }
    if (model_set_parallel_for(0, run, &p) != MODEL_ERROR_NULL) return 7;
    printf("%d %d\n", p.worked, p.tasks);
    fwrite(output[1], sizeof(float), 8, stderr);
    return model_destroy(context);
}
