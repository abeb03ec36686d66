
// Input: numbers between white space. See runtime/src/reader.rs of vlad.

static char input[1 << 16];
static ssize_t input_at, input_end;
static uint64_t input_line = 1, input_column = 1;

static int peek_input(void) {
    if (input_at == input_end) {
        flush_output();
        do {
            input_end = read(0, input, sizeof input);
        } while (input_end < 0 && errno == EINTR);
        input_at = 0;
        if (input_end <= 0) input_end = 0;
    }
    return input_end == 0 ? -1 : (unsigned char)input[input_at];
}

static void skip_input(void) {
    static bool has_returned;
    int byte = input[input_at++];
    input_column++;
    if (byte == '\n' || byte == '\r') {
        if (byte == '\r' || !has_returned) input_line++;
        input_column = 1;
    }
    has_returned = byte == '\r';
}

static bool is_white(int byte) { return byte == ' ' || (byte >= '\t' && byte <= '\r' && byte != '\v'); }

// Digits of a decimal: how many there are at the beginning of a text.
static size_t digits_at(const char *text) { return strspn(text, "0123456789"); }

static bool decimal_of(const char *text, double *x) {
    const char *at = text + (*text == '-' || *text == '+');
    size_t whole = digits_at(at), fraction = 0;
    at += whole;
    if (*at == '.') fraction = digits_at(++at);
    at += fraction;
    if (whole + fraction == 0) return false;
    if (*at == 'e' || *at == 'E') {
        at += 1 + (at[1] == '-' || at[1] == '+');
        size_t exponent = digits_at(at);
        if (exponent == 0) return false;
        at += exponent;
    }
    *x = strtod(text, 0);
    return *at == 0;
}

static bool number_of(const char *text, double *x) {
    bool is_negative = *text == '-';
    const char *name = text + (*text == '-' || *text == '+');
    if (!strcmp(text, "+nan.0") || !strcmp(text, "-nan.0") || !strcasecmp(name, "nan")) {
        *x = NAN;
        return true;
    }
    if (!strcmp(text, "+inf.0") || !strcmp(text, "-inf.0") || !strcasecmp(name, "inf")
        || !strcasecmp(name, "infinity")) {
        *x = is_negative ? -INFINITY : INFINITY;
        return true;
    }
    int radix = 10;
    if (*text == '#') {
        int letter = text[1] | 32;
        radix = letter == 'b' ? 2 : letter == 'o' ? 8 : letter == 'd' ? 10 : letter == 'x' ? 16 : 0;
        if (!radix) return false;
        text += 2;
    }
    is_negative = *text == '-';
    const char *slash = strchr(text, '/'), *digits = text + (*text == '-' || *text == '+');
    if (radix != 10) {
        *x = 0;
        const char *all = "0123456789abcdef";
        if (!*digits) return false;
        for (; *digits; digits++) {
            const char *found = strchr(all, *digits >= 'A' ? *digits | 32 : *digits);
            if (!found || found - all >= radix) return false;
            *x = *x * radix + (double)(found - all);
        }
        if (is_negative) *x = -*x;
        return true;
    }
    if (!slash) return decimal_of(text, x);
    if (digits + digits_at(digits) != slash || digits == slash) return false;
    size_t rest = digits_at(slash + 1);
    double denominator = strtod(slash + 1, 0);
    if (rest == 0 || slash[1 + rest] || denominator == 0) return false;
    *x = strtod(text, 0) / denominator;
    return true;
}

RUNTIME double vlad_read(uint64_t item, const char *message, size_t length) {
    static char text[4097];
    while (is_white(peek_input())) skip_input();
    const char *end = memchr(message, 0, length);
    size_t first = end ? (size_t)(end - message) : length;
    if (peek_input() < 0) vlad_fail(message, first);
    uint64_t line = input_line, column = input_column;
    size_t used = 0;
    bool is_long = false;
    for (; peek_input() >= 0 && !is_white(peek_input()); skip_input()) {
        if (used < sizeof text - 1) {
            text[used++] = (char)peek_input();
        } else {
            is_long = true;
        }
    }
    text[used] = 0;
    double x;
    if (!is_long && strlen(text) == used && number_of(text, &x)) return x;
    // The message for malformed input follows, with a sign for what is wrong.
    const char *malformed = end ? end + 1 : message;
    size_t rest = length - (size_t)(malformed - message);
    const char *next = memchr(malformed, 0, rest);
    if (next) rest = (size_t)(next - malformed);
    size_t before = 0;
    while (before + 3 <= rest && memcmp(malformed + before, "\357\277\274", 3)) before++;
    if (before + 3 > rest) vlad_fail(malformed, rest);
    write_stream(1, malformed, before);
    char place[80];
    int count = snprintf(place, sizeof place, "line %llu, column %llu of the input: `", (unsigned long long)line,
                         (unsigned long long)column);
    write_stream(1, place, (size_t)count);
    for (size_t at = 0; at < used; at++) {
        unsigned char byte = (unsigned char)text[at];
        char picture[3] = {'\342', '\220', (char)(0x80 + (byte == 127 ? 33 : byte))};
        bool is_control = byte < 32 || byte == 127;
        write_stream(1, is_control ? picture : text + at, is_control ? 3 : 1);
    }
    write_stream(1, "` is not a number", 17);
    vlad_fail(malformed + before + 3, rest - before - 3);
}
