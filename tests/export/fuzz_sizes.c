/* Calls a library with sizes, counts and pointers that are wrong, drawn from a seed: it returns an error for
 * each, and nothing else happens. Memory is allocated exactly for the shapes that the sizes say, so that
 * AddressSanitizer sees what is read or written beyond it. The function is joined(x[n, m], y[m, 3]). */
#include "model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long long state;

static unsigned draw(unsigned below) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (unsigned)(state >> 33) % below;
}

static float *exact(size_t count) {
    float *memory = malloc(count * sizeof(float) + !count);
    for (size_t i = 0; i < count; i++) memory[i] = (float)i;
    return memory;
}

static int is_size(size_t n, size_t m) {
    return (n == 0 || n == 1 || n == 4 || n == 9) && m >= 2 && m <= 5;
}

static size_t any(void) {
    static const size_t numbers[] = {0, 1, 4, 9, 2, 3, 5, 6, 10, 1000, (size_t)1 << 31, (size_t)-1};
    return numbers[draw(12)];
}

int main(int argc, char **argv) {
    static const size_t ns[] = {0, 1, 4, 9};
    state = strtoull(argv[1], NULL, 10);
    (void)argc;
    model_context *context;
    if (model_create(&context)) return 11;
    for (int i = 0; i < 20000; i++) {
        size_t n = ns[draw(4)], m = 2 + draw(4);
        float *x = exact(n * m), *y = exact(m * 3), *z = exact((n + 3) * m);
        model_run_inputs inputs = {n, m, {x, n * m}, {y, m * 3}};
        model_run_outputs outputs = {{z, (n + 3) * m}};
        int bad = 0;
        if (draw(4) == 0) {
            inputs.n = any();
            if (draw(2)) inputs.m = any();
            bad |= inputs.n != n || inputs.m != m;
        }
        if (draw(8) == 0) inputs.x.count = any(), bad |= inputs.x.count != n * m;
        if (draw(8) == 0) outputs.output.count = any(), bad |= outputs.output.count != (n + 3) * m;
        if (draw(8) == 0) inputs.y.data = NULL, bad = 1;
        if (draw(8) == 0) inputs.x.data = NULL, bad |= n != 0;
        if (draw(8) == 0) outputs.output.data = NULL, bad = 1;
        if (draw(8) == 0 && m) outputs.output.data = (float *)((char *)z + 1), bad = 1;
        model_run_shapes shapes;
        int error = model_run_get_shapes(&inputs, &shapes);
        if (!error != is_size(inputs.n, inputs.m)) return 12;
        if (!error && (shapes.output[0] != inputs.n + 3 || shapes.output[1] != inputs.m)) return 13;
        error = model_run(context, &inputs, &outputs);
        if (!error != !bad) return fprintf(stderr, "call %d: %d\n", i, error), 14;
        if (!strlen(model_error_text(error))) return 15;
        for (size_t j = 0; !error && j < n * m; j++)
            if (z[j] != 2.0f * (float)j) return 16;
        for (size_t j = 0; !error && j < 3 * m; j++)
            if (z[n * m + j] != 2.0f * (float)(j % m * 3 + j / m)) return 17;
        free(x);
        free(y);
        free(z);
    }
    if (model_run_get_shapes(NULL, NULL) != MODEL_ERROR_NULL) return 18;
    return model_destroy(context);
}
