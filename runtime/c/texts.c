
// Texts that the program makes. Equal texts have one number: that of the program's own, or the address of
// what is made once. See runtime/src/text.rs of vlad.

struct made_text {
    word length;
    struct made_text *next;
    char bytes[];
};

static struct made_text *made_texts[4096];
static char *kept;
static size_t kept_used, kept_room, kept_start;

static bool keep(const char *bytes, size_t length) {
    if (kept_start == 0) return false;
    if (kept_used + length > kept_room) {
        kept_room = 2 * (kept_used + length) + 256;
        kept = realloc(kept, kept_room);
        if (!kept) heap_exhausted();
    }
    memcpy(kept + kept_used, bytes, length);
    kept_used += length;
    return true;
}

RUNTIME void vlad_begin_text(void) {
    size_t around = kept_start;
    keep_text = keep;
    kept_start = 1;
    keep((const char *)&around, sizeof around);
    kept_start = kept_used;
}

RUNTIME uint64_t vlad_end_text(const char *texts, const uint64_t *offsets, size_t count) {
    const char *bytes = kept + kept_start;
    size_t length = kept_used - kept_start;
    kept_used = kept_start - sizeof kept_start;
    memcpy(&kept_start, kept + kept_used, sizeof kept_start);
    for (size_t at = 0; at < count; at++) {
        if (offsets[at + 1] - offsets[at] == length && !memcmp(texts + offsets[at], bytes, length)) return at;
    }
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t at = 0; at < length; at++) hash = (hash ^ (unsigned char)bytes[at]) * UINT64_C(0x100000001b3);
    struct made_text **chain = &made_texts[(hash ^ hash >> 32) & 4095];
    for (struct made_text *text = *chain; text; text = text->next) {
        if (text->length == length && !memcmp(text->bytes, bytes, length)) return (uintptr_t)text;
    }
    struct made_text *text = malloc(sizeof *text + length);
    if (!text) heap_exhausted();
    text->length = length;
    text->next = *chain;
    memcpy(text->bytes, bytes, length);
    *chain = text;
    return (uintptr_t)text;
}
