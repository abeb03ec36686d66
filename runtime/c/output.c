
// Output: a buffer before standard output, standard error without one. See runtime/src/output.rs of vlad.

static char output[1 << 16];
static size_t output_used;

static void write_all(int file, const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t written = write(file, bytes, length);
        if (written < 0 && errno != EINTR) {
            if (file == 1 && errno != EPIPE) fputs("error: cannot write to standard output\n", stderr);
            if (file == 1) _exit(1);
            return;
        }
        if (written > 0) {
            bytes += written;
            length -= (size_t)written;
        }
    }
}

static void flush_output(void) {
    size_t used = output_used;
    output_used = 0;
    write_all(1, output, used);
}

static _Noreturn void finish(int code) {
    flush_output();
    _exit(code);
}

// Whether a text is being made; then it gets what is written.
static bool (*keep_text)(const char *bytes, size_t length);

static void write_stream(uint64_t stream, const char *bytes, size_t length) {
    if (stream == 1) {
        flush_output();
        write_all(2, bytes, length);
        return;
    }
    if (keep_text && keep_text(bytes, length)) return;
    if (length > sizeof output - output_used) flush_output();
    if (length > sizeof output) {
        write_all(1, bytes, length);
        return;
    }
    memcpy(output + output_used, bytes, length);
    output_used += length;
    static int is_terminal = -1;
    if (is_terminal < 0) is_terminal = isatty(1);
    if (is_terminal && memchr(bytes, '\n', length)) flush_output();
}

RUNTIME void vlad_write_text(uint64_t stream, const char *text, size_t length) { write_stream(stream, text, length); }

RUNTIME void vlad_write_byte(double x) {
    char byte = (char)(unsigned char)(x != x || x < 0 ? 0 : x > 255 ? 255 : x);
    write_stream(0, &byte, 1);
}

RUNTIME void vlad_write_double(double x) {
    uint64_t bits = to_bits(x);
    char bytes[8];
    for (int at = 0; at < 8; at++) bytes[at] = (char)(bits >> 8 * at);
    write_stream(0, bytes, 8);
}

RUNTIME void vlad_write_quoted(uint64_t stream, const char *text, size_t length) {
    write_stream(stream, "\"", 1);
    for (size_t at = 0; at < length; at++) {
        char byte = text[at];
        if (byte == '"' || byte == '\\') {
            write_stream(stream, "\\", 1);
        } else if (byte == '\n' || byte == '\t') {
            write_stream(stream, byte == '\n' ? "\\n" : "\\t", 2);
            continue;
        }
        write_stream(stream, &byte, 1);
    }
    write_stream(stream, "\"", 1);
}

RUNTIME _Noreturn void vlad_fail(const char *message, size_t length) {
    write_stream(1, message, length);
    finish(1);
}

// Of the decimals with so many digits that are read as x, the closest one, the larger of two: a whole number and a power
// of ten. False if there is none.
static bool decimal(double x, int digits, long long *mantissa, int *power) {
    char text[80];
    // Many more digits, so that none of those wanted is rounded.
    snprintf(text, sizeof text, "%.*e", digits + 39, x);
    *power = atoi(strchr(text, 'e') + 1) - digits + 1;
    long long closest = text[0] - '0';
    for (int at = 2; at <= digits; at++) closest = 10 * closest + (text[at] - '0');
    if (text[digits + 1] >= '5') closest++;
    // At a power of two the closest one may be too far below, and the next one near enough.
    for (int try = 0; try < 3; try++) {
        *mantissa = closest + (try == 1) - (try == 2);
        snprintf(text, sizeof text, "%llde%d", *mantissa, *power);
        if (strtod(text, 0) == x) return true;
    }
    return false;
}

RUNTIME void vlad_write_real(uint64_t stream, double x) {
    char text[40], *at = text, digits[24];
    if (x != x) {
        write_stream(stream, "+nan.0", 6);
        return;
    }
    if (signbit(x)) *at++ = '-';
    x = fabs(x);
    if (x > 0x1.fffffffffffffp1023) {
        write_stream(stream, signbit(-x) && at > text ? "-inf.0" : "+inf.0", 6);
        return;
    }
    long long mantissa = 0;
    int power = 0;
    // Fifteen digits of a number that is not tiny are those of any shorter decimal, and zeros.
    for (int count = x < 0x1p-1021 ? 1 : 15; x > 0 && count <= 17; count++) {
        if (decimal(x, count, &mantissa, &power)) break;
    }
    int count = snprintf(digits, sizeof digits, "%lld", mantissa);
    if (x > 0) power += count - 1;
    while (count > 1 && digits[count - 1] == '0') count--;
    if (power < -4 || power > 20) {
        *at++ = digits[0];
        if (count > 1) *at++ = '.';
        for (int digit = 1; digit < count; digit++) *at++ = digits[digit];
        at += snprintf(at, 8, "e%d", power);
    } else {
        if (power < 0) {
            *at++ = '0';
            *at++ = '.';
            for (int zero = power + 1; zero < 0; zero++) *at++ = '0';
        }
        for (int digit = 0; digit < count || digit <= power; digit++) {
            if (power >= 0 && digit == power + 1) *at++ = '.';
            *at++ = digit < count ? digits[digit] : '0';
        }
    }
    write_stream(stream, text, (size_t)(at - text));
}
