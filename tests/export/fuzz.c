/* Calls a library with pointers and counts that are wrong, drawn from a seed: it returns an error for
 * each, and nothing else happens. Memory is allocated exactly, so that AddressSanitizer sees what is read
 * or written beyond it. Compiled with MODEL_INPUT and MODEL_OUTPUT as counts of float. */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long long state;

static unsigned draw(unsigned below) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(state >> 33) % below;
}

static float *exact(size_t count, int misaligned, void **allocated) {
    char *memory = malloc(count * sizeof(float) + (misaligned ? 1 : 0) + !count);
    *allocated = memory;
    return (float *)(memory + (misaligned ? 1 : 0));
}

static int wrong(size_t *count, size_t right) {
    static const size_t factors[] = {0, 1, 2, 1000};
    switch (draw(4)) {
    case 0: *count = right + 1; return 1;
    case 1: *count = right - 1; return 1;
    case 2: *count = (size_t)-1; return 1;
    default: *count = right * factors[draw(4)]; return *count != right;
    }
}

int main(int argc, char **argv) {
    state = strtoull(argv[1], NULL, 10);
    (void)argc;
    model_context *context;
    if (model_create(NULL) != MODEL_ERROR_NULL) return 10;
    if (model_create(&context)) return 11;
    for (int i = 0; i < 20000; i++) {
        int bad = 0;
        void *memories[2];
        size_t counts[2] = {MODEL_INPUT, MODEL_OUTPUT};
        float *data[2];
        for (int side = 0; side < 2; side++) {
            int misaligned = draw(8) == 0;
            data[side] = exact(counts[side], misaligned, &memories[side]);
            bad |= misaligned;
            if (!misaligned) memset(data[side], 0, counts[side] * sizeof(float));
            if (draw(8) == 0) bad |= wrong(&counts[side], counts[side]);
            if (draw(8) == 0) data[side] = NULL, bad = 1;
        }
        model_run_inputs inputs = {{data[0], counts[0]}};
        model_run_outputs outputs = {{data[1], counts[1]}};
        int no_inputs = draw(16) == 0, no_outputs = draw(16) == 0, no_context = draw(16) == 0;
        bad |= no_inputs | no_outputs | no_context;
        int error = model_run(no_context ? NULL : context, no_inputs ? NULL : &inputs,
                              no_outputs ? NULL : &outputs);
        if (!error != !bad) return fprintf(stderr, "call %d: %d\n", i, error), 12;
        if (!strlen(model_error_text(error))) return 13;
        free(memories[0]);
        free(memories[1]);
    }
    for (int error = -5; error < 200; error++) (void)strlen(model_error_text(error));
    size_t size = model_context_size();
    char *memory = aligned_alloc(64, size + 64);
    model_context *second;
    for (size_t less = 1; less < size; less = less * 2 + 1)
        if (model_initialize(memory, size - less, &second) != MODEL_ERROR_CONTEXT_SIZE) return 14;
    for (int offset = 1; offset < 64; offset++) {
        if (model_initialize(memory + offset, size, &second) != MODEL_ERROR_CONTEXT_ALIGNMENT) return 15;
        if (model_destroy((model_context *)(memory + offset)) != MODEL_ERROR_NO_CONTEXT) return 16;
    }
    memset(memory, 0xA5, size);
    if (model_destroy((model_context *)memory) != MODEL_ERROR_NO_CONTEXT) return 17;
    char *tight = aligned_alloc(64, size);
    if (model_initialize(tight, size, &second) || model_destroy(second)) return 18;
    if (model_destroy(second) != MODEL_ERROR_NO_CONTEXT) return 19;
    free(tight);
    free(memory);
    return model_destroy(context);
}
