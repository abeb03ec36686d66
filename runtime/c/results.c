
// Results that are remembered: lists of questions with their answers. See runtime/src/results.rs of vlad.

struct remembered {
    struct remembered *next;
    uint64_t count;
    uint64_t words[];
};

static struct remembered *remembered[1 << 14];
static uint64_t remembered_count;

// A question: the number of the function; how many pointers it is given, how many other words, how many pointers and
// how many other words are its results; all these.
static uint64_t question_hash(const uint64_t *question) {
    uint64_t hash = question[0];
    for (uint64_t at = 5; at < 5 + question[1] + question[2]; at++) {
        hash = ((hash << 5 | hash >> 59) ^ question[at]) * UINT64_C(0x9e3779b97f4a7c15);
    }
    return (hash ^ hash >> 32) & ((1 << 14) - 1);
}

RUNTIME void vlad_recall(uint64_t *question, word *heap) {
    uint64_t asked = 5 + question[1] + question[2], all = asked + question[3] + question[4];
    for (struct remembered *known = remembered[question_hash(question)]; known; known = known->next) {
        if (memcmp(known->words, question, asked * 8)) continue;
        memcpy(question, known->words, all * 8);
        for (uint64_t at = asked; at < asked + question[3]; at++) retain((box)question[at]);
        question[0] = 1;
        return;
    }
    memset(question + asked, 0, (all - asked) * 8);
    question[0] = 0;
}

RUNTIME void vlad_remember(uint64_t *question, word *heap) {
    uint64_t asked = 5 + question[1] + question[2], all = asked + question[3] + question[4];
    struct remembered **chain = &remembered[question_hash(question)], *new = malloc(sizeof *new + all * 8);
    if (!new) heap_exhausted();
    new->next = *chain;
    new->count = all;
    memcpy(new->words, question, all * 8);
    for (uint64_t at = 5; at < 5 + question[1]; at++) retain((box)question[at]);
    for (uint64_t at = asked; at < asked + question[3]; at++) retain((box)question[at]);
    *chain = new;
    heap[HEAP_REMEMBERED] = ++remembered_count;
}

RUNTIME void vlad_forget(uint64_t table, word *heap) {
    heap[HEAP_REMEMBERED] = remembered_count = 0;
    for (uint64_t at = 0; at < 1 << 14; at++) {
        struct remembered *known = remembered[at];
        remembered[at] = 0;
        while (known) {
            struct remembered *next = known->next;
            uint64_t *words = known->words, asked = 5 + words[1] + words[2];
            for (uint64_t at = 5; at < 5 + words[1]; at++) release((box)words[at]);
            for (uint64_t at = asked; at < asked + words[3]; at++) release((box)words[at]);
            free(known);
            known = next;
        }
    }
}
