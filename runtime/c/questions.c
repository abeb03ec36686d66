
// What programs ask the system: nobody watches their searches, limits their time or keeps their state. See
// runtime/src/question.rs of vlad.
RUNTIME double vlad_ask(double what, double x) {
    static double searches;
    static struct timespec begun;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (begun.tv_sec == 0) begun = now;
    switch ((int)what) {
    case 5: return ++searches;
    case 9: return (double)(now.tv_sec - begun.tv_sec) + 1e-9 * (double)(now.tv_nsec - begun.tv_nsec);
    case 12: return NAN;
    default: return 0;
    }
}

// One process computes all shards. See runtime/src/shards.rs of vlad.
static inline uint64_t vlad_exchange(uint64_t is_pointer, uint64_t value) { return value; }
