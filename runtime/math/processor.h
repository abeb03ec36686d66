// Whether the processor has fused multiply-add and what compilers use together with it, and registers of 512 bits, too.

// Nothing is known at first.
enum { UNKNOWN, PLAIN, FUSED_TOO, WIDE_TOO };

extern int vlad_processor __attribute__((visibility("hidden")));
int vlad_ask_processor(void) __attribute__((visibility("hidden")));

static inline int known_of_processor(void) {
    int known = __atomic_load_n(&vlad_processor, __ATOMIC_RELAXED);
    return known == UNKNOWN ? vlad_ask_processor() : known;
}

static inline int has_fused(void) { return known_of_processor() >= FUSED_TOO; }

static inline int has_wide(void) { return known_of_processor() == WIDE_TOO; }
