
// Kernels: the first two words of a request are the result and its length, then come sizes, then vectors and their
// lengths. Sums are made in the order that they have everywhere. See kernels/src of vlad.

static void same_nans(double *numbers, uint64_t count) {
    for (uint64_t at = 0; at < count; at++) {
        if (numbers[at] != numbers[at]) numbers[at] = NAN;
    }
}

// The sum of products: eight interleaved sums.
RUNTIME uint64_t vlad_kernel_dot(uint64_t *request) {
    const double *x = (const double *)request[2], *y = (const double *)request[4];
    double *result = (double *)request[0], sums[8] = {0};
    uint64_t count = request[3];
    for (uint64_t at = 0; at + 8 <= count; at += 8) {
        for (int part = 0; part < 8; part++) sums[part] += x[at + part] * y[at + part];
    }
    for (uint64_t at = count & -(uint64_t)8; at < count; at++) sums[at % 8] += x[at] * y[at];
    *result = ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
    same_nans(result, 1);
    return 0;
}

// The product of matrices: each element is a sum in the order of the inner index.
RUNTIME uint64_t vlad_kernel_product(uint64_t *request) {
    double *result = (double *)request[0];
    uint64_t m = (uint64_t)from_bits(request[2]), k = (uint64_t)from_bits(request[3]);
    uint64_t n = (uint64_t)from_bits(request[4]);
    bool first_transposed = from_bits(request[5]) != 0, second_transposed = from_bits(request[6]) != 0;
    const double *a = (const double *)request[7], *b = (const double *)request[9];
    for (uint64_t i = 0; i < m; i++) {
        double *row = result + i * n;
        for (uint64_t j = 0; j < n; j++) row[j] = k ? -0.0 : 0.0;
        for (uint64_t p = 0; p < k; p++) {
            double factor = first_transposed ? a[p * m + i] : a[i * k + p];
            for (uint64_t j = 0; j < n; j++) row[j] += factor * (second_transposed ? b[j * k + p] : b[p * n + j]);
        }
    }
    same_nans(result, m * n);
    return 0;
}

RUNTIME uint64_t vlad_kernel_transpose(uint64_t *request) {
    uint64_t m = (uint64_t)from_bits(request[2]), n = (uint64_t)from_bits(request[3]);
    double *result = (double *)request[0];
    const double *a = (const double *)request[4];
    for (uint64_t i = 0; i < m; i++) {
        for (uint64_t j = 0; j < n; j++) result[j * m + i] = a[i * n + j];
    }
    same_nans(result, m * n);
    return 0;
}
