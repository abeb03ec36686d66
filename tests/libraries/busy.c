// Two threads use one context. A call that finds it in use is refused and changes nothing; the others get their results.

#include "functions.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { CALLS = 2000, MOST = 1000000 };

static functions_context *context;
static double expected;
static atomic_int refused, wrong;

static void *work(void *unused) {
    // A call takes long enough to meet another one now and then.
    for (int calls = 0, call = 0; call < MOST && (calls < CALLS || atomic_load(&refused) == 0); call++) {
        double r = -1;
        int code = functions_deep(context, 1000, &r);
        if (code == FUNCTIONS_OK && memcmp(&r, &expected, sizeof r) == 0) {
            calls++;
        } else if (code == FUNCTIONS_ERROR_BUSY && r == -1) {
            atomic_fetch_add(&refused, 1);
        } else {
            atomic_fetch_add(&wrong, 1);
        }
    }
    return unused;
}

int main(void) {
    pthread_t threads[2];
    context = functions_context_new(NULL);
    if (!context || functions_deep(context, 1000, &expected) != FUNCTIONS_OK) {
        return 2;
    }
    for (int i = 0; i < 2; i++) {
        if (pthread_create(&threads[i], NULL, work, NULL)) {
            return 2;
        }
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    double r;
    int last = functions_deep(context, 1000, &r);
    functions_context_free(context);
    printf("%s %s %s\n", atomic_load(&refused) ? "some refused" : "none refused", atomic_load(&wrong) ? "some wrong" : "none wrong",
           last == FUNCTIONS_OK && r == expected ? "good afterwards" : "bad afterwards");
    return 0;
}
