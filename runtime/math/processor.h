// Whether the processor has fused multiply-add, and what compilers use together with it.

// Nothing is known at first.
enum { UNKNOWN, PLAIN, FUSED_TOO };

extern int vlad_processor __attribute__((visibility("hidden")));
int vlad_ask_processor(void) __attribute__((visibility("hidden")));

static inline int has_fused(void) {
    int known = __atomic_load_n(&vlad_processor, __ATOMIC_RELAXED);
    return (known == UNKNOWN ? vlad_ask_processor() : known) == FUSED_TOO;
}
