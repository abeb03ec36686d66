// Values. A box is the address of one, or the tag of an alternative without fields, which is less than IMMEDIATES.
// Lanes are two rounds of a loop in one register.
typedef unsigned char *box;
typedef double lanes __attribute__((vector_size(16)));
typedef int64_t truths __attribute__((vector_size(16)));

// Elements are aligned as reals are. Headers and links of free boxes are read and written in pieces of any size.
typedef double loose_lanes __attribute__((vector_size(16), aligned(8)));
typedef uint64_t word __attribute__((may_alias));
typedef uint32_t half __attribute__((may_alias));
typedef uint16_t quarter __attribute__((may_alias));

#define COLD __attribute__((cold, noinline))
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)

// What stands so many bytes behind an address.
#define REAL(address, offset) (*(double *)((address) + (offset)))
#define INT(address, offset) (*(int64_t *)((address) + (offset)))
#define BOOL(address, offset) (*(bool *)((address) + (offset)))
#define BOX(address, offset) (*(box *)((address) + (offset)))
#define LANES(address, offset) (*(loose_lanes *)((address) + (offset)))
#define WORD(address, offset) (*(word *)((address) + (offset)))
#define COUNT(address) (*(half *)((address) + COUNT_OFFSET))
#define TAG(address) (*(quarter *)((address) + TAG_OFFSET))

// The number of pointer fields, and the class times 256.
#define KIND(address) (*(quarter *)(address))

HEAP word vlad_heap[HEAP_WORDS];
RUNTIME void vlad_refill(uint64_t class, word *heap);
RUNTIME void vlad_queue_page(word *page, word *heap);
RUNTIME void vlad_free(word *dead, word *heap);
RUNTIME void vlad_release(word *value, word *heap);
RUNTIME void vlad_new_vector(uint64_t *wanted, word *heap);
RUNTIME void vlad_new_rows(uint64_t *wanted, word *heap);
RUNTIME void vlad_copy_vector(uint64_t *request, word *heap);
RUNTIME void vlad_joined(uint64_t *request, word *heap);
RUNTIME void vlad_exhausted(uint64_t cause, word *heap);

// Numbers.

static inline double from_bits(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint64_t to_bits(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

// Integers are those modulo 2^64.
static inline int64_t add(int64_t x, int64_t y) { return (int64_t)((uint64_t)x + (uint64_t)y); }
static inline int64_t subtract(int64_t x, int64_t y) { return (int64_t)((uint64_t)x - (uint64_t)y); }
static inline int64_t multiply(int64_t x, int64_t y) { return (int64_t)((uint64_t)x * (uint64_t)y); }

// Without the fraction; the nearest integer of what is too large, 0 of what is not a number.
static inline int64_t to_int(double x) {
    if (x != x) return 0;
    if (x >= 0x1p63) return INT64_MAX;
    return x < -0x1p63 ? INT64_MIN : (int64_t)x;
}

// The same number, about which the C compiler knows nothing.
static inline double opaque_real(double x) {
    volatile double place = x;
    return place;
}

static inline int64_t opaque_int(int64_t x) {
    volatile int64_t place = x;
    return place;
}

static inline box opaque_box(box x) {
    box volatile place = x;
    return place;
}

static inline bool opaque_bool(bool x) {
    volatile bool place = x;
    return place;
}

static inline lanes splat(double x) { return (lanes){x, x}; }
static inline lanes choose(truths which, lanes x, lanes y) {
    return (lanes)((which & (truths)x) | (~which & (truths)y));
}
static inline truths have_bits(lanes x, uint64_t bits) {
    return (truths)x == (truths){(int64_t)bits, (int64_t)bits};
}

// Boxes.

static inline bool is_immediate(box value) { return (uintptr_t)value < IMMEDIATES; }

COLD static uint64_t refill(uint64_t class, const char *complaint) {
    vlad_heap[HEAP_COMPLAINT] = (uintptr_t)complaint;
    vlad_refill(class, vlad_heap);
    vlad_heap[HEAP_COMPLAINT] = 0;
    return vlad_heap[class];
}

static inline box allocate(uint64_t class, const char *complaint) {
    uint64_t first = vlad_heap[class];
    if (UNLIKELY(!first)) first = refill(class, complaint);
    vlad_heap[class] = *(word *)first;
    return (box)first;
}

COLD static void queue(box page) { vlad_queue_page((word *)page, vlad_heap); }
COLD static void release_fields(box dead) { vlad_free((word *)dead, vlad_heap); }

static inline void join_page(box dead) {
    box page = (box)((uintptr_t)dead & -(uintptr_t)PAGE);
    uint64_t first = WORD(page, PAGE_FREE_OFFSET);
    WORD(dead, 0) = first;
    WORD(page, PAGE_FREE_OFFSET) = (uintptr_t)dead;
    if (UNLIKELY(!first)) queue(page);
}

// A box of this class that nobody owns any more, and whose fields have been seen to.
static inline void take_back(box dead, uint64_t class) {
    if (class < CLASSES_IN_PAGES) {
        join_page(dead);
    } else {
        WORD(dead, 0) = vlad_heap[class];
        vlad_heap[class] = (uintptr_t)dead;
    }
}

// Any box that nobody owns any more.
__attribute__((noinline)) static void die(box dead) {
    uint64_t kind = KIND(dead);
    if ((kind & 0xff) == 0 && kind < CLASSES_IN_PAGES << 8) {
        join_page(dead);
    } else if (kind >> 8 == VIEW) {
        box base = (box)WORD(dead, BASE_OFFSET);
        join_page(dead);
        if (base && --COUNT(base) == 0) release_fields(base);
    } else {
        release_fields(dead);
    }
}

static inline void retain(box value) {
    if (!is_immediate(value)) COUNT(value) += 1;
}

static inline void release(box value) {
    if (is_immediate(value)) return;
    if (COUNT(value) == 1) {
        die(value);
    } else {
        COUNT(value) -= 1;
    }
}

static inline int64_t tag_of(box value) { return is_immediate(value) ? (int64_t)(uintptr_t)value : TAG(value); }
static inline bool has_tag(box value, uint32_t tag) { return !is_immediate(value) && TAG(value) == tag; }
static inline bool may_be_shared(box value) { return is_immediate(value) || COUNT(value) > 1; }

// Vectors: the second word of those without pointer fields is the address of the first element.

static box ask_heap(void (*function)(uint64_t *, word *), uint64_t *request, const char *complaint) {
    vlad_heap[HEAP_COMPLAINT] = (uintptr_t)complaint;
    function(request, vlad_heap);
    vlad_heap[HEAP_COMPLAINT] = 0;
    return (box)request[0];
}

// A box of so many words without pointer fields; none if it is not small, or if there is none to hand out.
static inline box new_small_box(uint64_t words) {
    if (words > EXACT) return 0;
    uint64_t class = words < SMALLEST ? SMALLEST : words, first = vlad_heap[class];
    if (UNLIKELY(!first)) return 0;
    vlad_heap[class] = *(word *)first;
    WORD(first, 0) = PLAIN_HEADER | class << 8;
    return (box)first;
}

static inline box new_vector(int64_t length, uint64_t pointers, uint64_t others, const char *complaint) {
    if (pointers == 0 && others <= EXACT) {
        box small = new_small_box((uint64_t)length * others + VECTOR_HEADER_WORDS);
        if (small) {
            WORD(small, ELEMENTS_OFFSET) = (uintptr_t)small + VECTOR_HEADER_WORDS * 8;
            return small;
        }
    }
    return ask_heap(vlad_new_vector, (uint64_t[]){(uint64_t)length, pointers, others}, complaint);
}

static inline box new_rows(int64_t count, int64_t length, uint64_t fields, const char *complaint) {
    if ((uint64_t)length < EXACT && (uint64_t)count < EXACT) {
        uint64_t room = (uint64_t)length * fields * (uint64_t)count;
        box rows = new_small_box(room + ROWS_FIRST / 8);
        if (rows) {
            WORD(rows, ELEMENTS_OFFSET) = (uintptr_t)rows + ROWS_FIRST;
            WORD(rows, ROWS_ROOM) = room;
            return rows;
        }
    }
    return ask_heap(vlad_new_rows, (uint64_t[]){(uint64_t)count, (uint64_t)length, fields}, complaint);
}

// A view of elements of a box, which is another owner of it already.
static inline box new_view(uint64_t start, uint64_t base, uint64_t tag, const char *complaint) {
    box view = allocate(VIEW_WORDS, complaint);
    WORD(view, 0) = PLAIN_HEADER | VIEW << 8 | tag << 16;
    WORD(view, ELEMENTS_OFFSET) = start;
    WORD(view, BASE_OFFSET) = base;
    return view;
}

static inline box new_row(box rows, int64_t length, int64_t place, uint64_t fields, const char *complaint) {
    uint64_t before = (uint64_t)length * fields * (uint64_t)place;
    // Memory is there for all rows, or for none.
    if (UNLIKELY(before >= WORD(rows, ROWS_ROOM))) return new_vector(length, 0, fields, complaint);
    box row = new_view(WORD(rows, ELEMENTS_OFFSET) + before * 8, (uintptr_t)rows, 0, complaint);
    COUNT(rows) += 1;
    return row;
}

// The elements of a vector from a place on, which both share then.
static inline box part_of(box vector, int64_t place, const char *complaint) {
    box base = vector;
    if (KIND(vector) == VIEW << 8) {
        TAG(vector) = SHARED;
        base = (box)WORD(vector, BASE_OFFSET);
    }
    uint64_t start = WORD(vector, ELEMENTS_OFFSET) + (uint64_t)place * 8;
    box part = new_view(start, (uintptr_t)base, SHARED, complaint);
    if (base) COUNT(base) += 1;
    return part;
}

// The vector itself if nobody else can see its elements, else a copy, which takes the place of the owner at hand.
static inline box own(box vector, int64_t length, uint64_t pointers, uint64_t others, const char *complaint) {
    if (COUNT(vector) == 1 && (pointers > 0 || TAG(vector) == 0)) return vector;
    uint64_t words = (uint64_t)length * (pointers + others) + VECTOR_HEADER_WORDS;
    return ask_heap(vlad_copy_vector, (uint64_t[]){(uintptr_t)vector, words}, complaint);
}

// A pointer of an element, which leaves the vector if that has one owner, and else has one more owner.
static inline box take(box vector, box *place) {
    box taken = *place;
    if (COUNT(vector) == 1) {
        *place = 0;
    } else {
        retain(taken);
    }
    return taken;
}

COLD static void no_memory(uint64_t cause, const char *complaint) {
    vlad_heap[HEAP_COMPLAINT] = (uintptr_t)complaint;
    vlad_exhausted(cause, vlad_heap);
}
