/* The functions of MPI's standard binary interface that programs call, for processes of one machine that share a folder:
   what a rank has to say is a file there. For tests where no MPI is installed. PMI_RANK, PMI_SIZE (or MPI_SIZE, where
   that lies) and MPI_FOLDER say who a process is. Ranks that abort end themselves only: whoever has started them ends
   the others. */

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef void *Handle;

static const char *folder;
static int rank, size;
static long steps;

/* What is under way: where the bytes of each rank go, and how many have come. */
static char *place;
static const int64_t *counts;
static const intptr_t *places;
static int64_t unit;
static int received, root;

static void name(char *text, int of, long step, const char *end) {
    sprintf(text, "%s/%d-%ld%s", folder, of, step, end);
}

static void fail(const char *what) {
    fprintf(stderr, "mpi.c: %s: %s\n", what, strerror(errno));
    _exit(9);
}

static void begin(const void *bytes, int64_t length) {
    char part[4096], whole[4096];
    steps++;
    received = 0;
    name(part, rank, steps, ".part");
    name(whole, rank, steps, "");
    int file = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) fail("open");
    for (int64_t done = 0; done < length;) {
        ssize_t count = write(file, (const char *)bytes + done, (size_t)(length - done));
        if (count < 0) fail("write");
        done += count;
    }
    close(file);
    if (rename(part, whole) != 0) fail("rename");
}

/* Reads what a rank has said, if it has. */
static int receive(int from) {
    char whole[4096];
    struct stat found;
    name(whole, from, steps, "");
    int file = open(whole, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    if (fstat(file, &found) != 0) fail("stat");
    int64_t expected = counts ? counts[from] * unit : unit;
    char *at = place + (places ? places[from] * unit : from * unit);
    if (root >= 0) {
        at = place;
        expected = from == root ? unit : 0;
    }
    if (found.st_size != expected) {
        fprintf(stderr, "mpi.c: rank %d sends %ld bytes, not %ld\n", from, (long)found.st_size, (long)expected);
        _exit(9);
    }
    for (int64_t done = 0; done < expected;) {
        ssize_t count = read(file, at + done, (size_t)(expected - done));
        if (count <= 0) fail("read");
        done += count;
    }
    close(file);
    return 1;
}

int MPI_Init(int *count, void *words) {
    (void)count, (void)words;
    folder = getenv("MPI_FOLDER");
    rank = atoi(getenv("PMI_RANK"));
    size = atoi(getenv(getenv("MPI_SIZE") ? "MPI_SIZE" : "PMI_SIZE"));
    return 0;
}

int MPI_Comm_rank(Handle comm, int *result) { return (void)comm, *result = rank, 0; }

int MPI_Comm_size(Handle comm, int *result) { return (void)comm, *result = size, 0; }

int MPI_Comm_split_type(Handle comm, int type, int key, Handle info, Handle *result) {
    (void)type, (void)key, (void)info;
    return *result = comm, 0;
}

int MPI_Iallgather(const void *own, int length, Handle type, void *all, int each, Handle its, Handle comm,
                   Handle *request) {
    (void)type, (void)each, (void)its, (void)comm;
    place = all, counts = NULL, places = NULL, unit = length, root = -1;
    begin(own, length);
    return *request = (Handle)1, 0;
}

int MPI_Iallgatherv_c(const void *own, int64_t length, Handle type, void *all, const int64_t *each,
                      const intptr_t *begins, Handle its, Handle comm, Handle *request) {
    (void)type, (void)its, (void)comm;
    place = all, counts = each, places = begins, unit = 8, root = -1;
    begin(own, length * unit);
    return *request = (Handle)1, 0;
}

int MPI_Ibcast_c(void *bytes, int64_t length, Handle type, int from, Handle comm, Handle *request) {
    (void)type, (void)comm;
    place = bytes, counts = NULL, places = NULL, unit = length, root = from;
    begin(bytes, rank == from ? length : 0);
    return *request = (Handle)1, 0;
}

int MPI_Test(Handle *request, int *is_finished, void *status) {
    (void)status;
    while (received < size && receive(received)) received++;
    *is_finished = received == size;
    if (*is_finished && *request) {
        char before[4096];
        *request = NULL;
        /* Who has come here has read what was said before. */
        name(before, rank, steps - 1, "");
        unlink(before);
    }
    return 0;
}

int MPI_Finalize(void) {
    Handle request;
    char all[4096];
    int finished = 0;
    MPI_Iallgather("", 0, NULL, all, 0, NULL, NULL, &request);
    while (MPI_Test(&request, &finished, NULL), !finished) usleep(100);
    return 0;
}

int MPI_Abort(Handle comm, int code) {
    (void)comm;
    _exit(code);
}
