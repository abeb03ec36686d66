
// Boxes: small ones lie in pages of one class, each with a list of its free boxes. See runtime/src/heap.rs of vlad.

struct page {
    word *free;
    struct page *next;
    uint64_t class;
};

static struct page *queues[CLASSES];
static unsigned char *chunk, *chunk_end;
static uint64_t memory_taken, memory_limit = UINT64_MAX;

static _Noreturn void exhausted(const char *message) {
    write_all(2, message, strlen(message));
    message = "help: a recursion without end looks like this; a loop that calls itself last needs no memory\n";
    write_all(2, message, strlen(message));
    _exit(3);
}

static _Noreturn void heap_exhausted(void) {
    flush_output();
    const char *complaint = (const char *)vlad_heap[HEAP_COMPLAINT];
    exhausted(complaint ? complaint : "error[V0311]: out of memory: too much data\n");
}

static uint64_t class_words(uint64_t class) {
    if (class <= EXACT) return class;
    uint64_t doublings = (class - EXACT) / 4, quarters = (class - EXACT) % 4;
    return ((uint64_t)EXACT << doublings) + ((uint64_t)EXACT << doublings) / 4 * quarters;
}

static uint64_t class_of(uint64_t words) {
    if (words <= EXACT) return words < SMALLEST ? SMALLEST : words;
    uint64_t last = words - 1, doublings = 0;
    while (last / EXACT >> (doublings + 1)) doublings++;
    return EXACT + 4 * doublings + (last >> doublings) / (EXACT / 4) % 4 + 1;
}

static void demand(uint64_t wanted) {
    if ((uint64_t)(chunk_end - chunk) >= wanted) return;
    uint64_t size = (uint64_t)1 << 20;
    while (size < wanted || (size < memory_taken && size < (uint64_t)64 << 20)) size *= 2;
    if (memory_taken + size > memory_limit) size = (wanted + PAGE - 1) & -(uint64_t)PAGE;
    if (memory_taken + size > memory_limit) heap_exhausted();
    void *new = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (new == MAP_FAILED) heap_exhausted();
    memory_taken += size;
    vlad_heap[HEAP_TAKEN] = memory_taken;
    chunk = new;
    chunk_end = chunk + size;
}

// A list of boxes that were never used.
static uint64_t fresh_boxes(uint64_t class) {
    uint64_t size = class_words(class) * 8;
    if (class >= CLASSES_IN_PAGES) {
        // The elements of a vector begin a line of the cache; the next box begins at another place of a page.
        demand(size + 6 * 64);
        uint64_t end = (((uintptr_t)chunk_end + VECTOR_HEADER_WORDS * 8) & -(uint64_t)64) - VECTOR_HEADER_WORDS * 8;
        chunk_end = (unsigned char *)(end - size - (size < PAGE ? 64 : 5 * 64));
        WORD(chunk_end, 0) = 0;
        return (uintptr_t)chunk_end;
    }
    demand(PAGE);
    struct page *page = (struct page *)chunk;
    chunk += PAGE;
    *page = (struct page){0, 0, class};
    uint64_t next = 0;
    for (uint64_t at = (PAGE - sizeof *page) / size; at-- > 0;) {
        uint64_t new = (uintptr_t)page + sizeof *page + at * size;
        *(word *)new = next;
        next = new;
    }
    return next;
}

RUNTIME void vlad_refill(uint64_t class, word *heap) {
    struct page *page = queues[class];
    if (!page) {
        heap[class] = fresh_boxes(class);
        return;
    }
    queues[class] = page->next;
    heap[class] = (uintptr_t)page->free;
    page->free = 0;
}

static word *take_box(uint64_t class, word *heap) {
    if (!heap[class]) vlad_refill(class, heap);
    word *box = (word *)heap[class];
    heap[class] = *box;
    return box;
}

RUNTIME void vlad_queue_page(word *page, word *heap) {
    struct page *queued = (struct page *)page;
    queued->next = queues[queued->class];
    queues[queued->class] = queued;
}

static void take_back_any(word *dead, uint64_t class) {
    if (class == VIEW) {
        box base = (box)WORD((box)dead, BASE_OFFSET);
        take_back((box)dead, VIEW_WORDS);
        if (!base || --COUNT(base) > 0) return;
        dead = (word *)base;
        class = KIND(base) >> 8;
    }
    take_back((box)dead, class);
}

// Boxes that die because another one does wait in a list that goes through their own headers.
RUNTIME void vlad_free(word *dead, word *heap) {
    for (uint64_t waiting = 0;; waiting = *dead >> 16) {
        uint64_t kind = KIND((box)dead), pointers = kind & 0xff;
        word *field = dead + 1;
        if (pointers == MANY_POINTERS) pointers = *field++;
        for (uint64_t at = 0; at < pointers; at++) {
            box child = (box)field[at];
            if (is_immediate(child) || --COUNT(child) > 0) continue;
            WORD(child, 0) = KIND(child) | waiting << 16;
            waiting = (uintptr_t)child;
        }
        take_back_any(dead, kind >> 8);
        if (!waiting) return;
        dead = (word *)waiting;
    }
}

RUNTIME void vlad_release(word *value, word *heap) { release((box)value); }

RUNTIME void vlad_exhausted(uint64_t cause, word *heap) { heap_exhausted(); }

// Vectors. See runtime/src/vector.rs of vlad.

RUNTIME void vlad_new_vector(uint64_t *wanted, word *heap) {
    uint64_t length = wanted[0], pointers = wanted[1], others = wanted[2], width = pointers + others;
    if (width && length > (MAX_WORDS - VECTOR_HEADER_WORDS) / width) heap_exhausted();
    uint64_t class = class_of(VECTOR_HEADER_WORDS + length * width);
    word *new = take_box(class, heap);
    wanted[0] = (uintptr_t)new;
    new[0] = PLAIN_HEADER | class << 8;
    new[1] = (uintptr_t)(new + VECTOR_HEADER_WORDS);
    if (pointers) {
        new[0] |= MANY_POINTERS;
        new[1] = length * pointers;
        memset(new + VECTOR_HEADER_WORDS, 0, length * pointers * 8);
    }
}

RUNTIME void vlad_new_rows(uint64_t *wanted, word *heap) {
    uint64_t length, room, far = VECTOR_HEADER_WORDS + 64 / 8, first = ROWS_FIRST / 8;
    bool fits = !__builtin_mul_overflow(wanted[0], wanted[1], &length)
        && !__builtin_mul_overflow(length, wanted[2], &room) && room <= MAX_WORDS - far;
    if (!fits) room = 0;
    if (class_of(first + room) >= CLASSES_IN_PAGES) first = far;
    uint64_t class = class_of(first + room);
    word *new = take_box(class, heap);
    new[0] = PLAIN_HEADER | class << 8;
    new[1] = (uintptr_t)(new + first);
    new[ROWS_ROOM / 8] = room;
    wanted[0] = (uintptr_t)new;
}

RUNTIME void vlad_copy_vector(uint64_t *request, word *heap) {
    word *old = (word *)request[0];
    uint64_t words = request[1], kind = KIND((box)old), pointers = kind & 0xff, class = kind >> 8;
    if (class == VIEW) class = class_of(words);
    word *new = take_box(class, heap);
    new[0] = PLAIN_HEADER | class << 8 | pointers;
    word *from = pointers ? old + VECTOR_HEADER_WORDS : (word *)old[1];
    new[1] = pointers ? old[1] : (uintptr_t)(new + VECTOR_HEADER_WORDS);
    memcpy(new + VECTOR_HEADER_WORDS, from, (words - VECTOR_HEADER_WORDS) * 8);
    if (pointers == MANY_POINTERS) {
        for (uint64_t at = 0; at < new[1]; at++) retain((box)new[VECTOR_HEADER_WORDS + at]);
    }
    release((box)old);
    request[0] = (uintptr_t)new;
}

// The box that the elements of a vector lie in. From now on others see them, too.
static box shared_base(box vector) {
    if (KIND(vector) >> 8 != VIEW) return vector;
    TAG(vector) = SHARED;
    return (box)WORD(vector, BASE_OFFSET);
}

static uint64_t view_of(uint64_t start, box base, word *heap) {
    word *view = take_box(VIEW_WORDS, heap);
    view[0] = PLAIN_HEADER | VIEW << 8 | SHARED << 16;
    view[1] = start;
    view[2] = (uintptr_t)base;
    if (base) COUNT(base) += 1;
    return (uintptr_t)view;
}

// Nothing is copied where the numbers of two vectors stand one behind the other, or can.
RUNTIME void vlad_joined(uint64_t *request, word *heap) {
    box first = (box)request[0], second = (box)request[2];
    uint64_t count = request[1], more = request[3], wanted = (uint64_t)to_int(from_bits(request[4]));
    uint64_t from = WORD(first, ELEMENTS_OFFSET), next = WORD(second, ELEMENTS_OFFSET), length = count + more;
    if (!count || !more) {
        request[0] = more ? view_of(next, shared_base(second), heap) : view_of(from, shared_base(first), heap);
        return;
    }
    box base = shared_base(first);
    if (base == shared_base(second) && from + 8 * count == next) {
        request[0] = view_of(from, base, heap);
        return;
    }
    if (base && TAG(base) == JOINED && WORD(base, ELEMENTS_OFFSET) == from && WORD(base, 24) == count
        && length <= WORD(base, 16)) {
        memcpy((void *)(from + 8 * count), (void *)next, 8 * more);
        WORD(base, 24) = length;
        request[0] = view_of(from, base, heap);
        return;
    }
    uint64_t room = length < wanted ? wanted : length;
    if (room > MAX_WORDS - 4) heap_exhausted();
    uint64_t class = class_of(4 + room);
    word *new = take_box(class, heap);
    new[0] = PLAIN_HEADER | class << 8 | JOINED << 16;
    new[1] = (uintptr_t)(new + 4);
    new[2] = room;
    new[3] = length;
    memcpy(new + 4, (void *)from, 8 * count);
    memcpy(new + 4 + count, (void *)next, 8 * more);
    request[0] = view_of((uintptr_t)(new + 4), (box)new, heap);
    // The view is its only owner.
    COUNT((box)new) -= 1;
}
