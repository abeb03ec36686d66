// Shifts of 128 bits, which are functions of the C compiler's library where the processor has no instructions for them.

#ifdef __aarch64__

typedef unsigned long long word;
typedef unsigned __int128 wide;

#define JOIN(low, high) ((wide)(high) << 64 | (low))

wide __ashlti3(wide x, int places) __attribute__((visibility("hidden")));
wide __lshrti3(wide x, int places) __attribute__((visibility("hidden")));

wide __ashlti3(wide x, int places) {
    word low = (word)x, high = (word)(x >> 64);
    if (places == 0) return x;
    if (places >= 64) return JOIN((word)0, low << (places - 64));
    return JOIN(low << places, high << places | low >> (64 - places));
}

wide __lshrti3(wide x, int places) {
    word low = (word)x, high = (word)(x >> 64);
    if (places == 0) return x;
    if (places >= 64) return JOIN(high >> (places - 64), (word)0);
    return JOIN(low >> places | high << (64 - places), high >> places);
}

#endif
