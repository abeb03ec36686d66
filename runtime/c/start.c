
// The program runs on a stack of its own, which is large: recursion may be as deep as there is memory.

static ucontext_t before, within;
static unsigned char *stack_bottom;

static void on_fault(int signal, siginfo_t *info, void *context) {
    unsigned char *address = info->si_addr;
    if (address < stack_bottom || address >= stack_bottom + STACK_GUARD) {
        sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, 0);
        return;
    }
    flush_output();
    exhausted("error[V0311]: out of memory: recursion too deep\n");
}

static void run(void) {
    vlad_main();
    finish(0);
}

// 500000, 64K, 512M, 2G.
static uint64_t limit_of(const char *text) {
    char *end;
    uint64_t number = strtoull(text, &end, 10);
    return number << (*end == 'G' ? 30 : *end == 'M' ? 20 : *end == 'K' ? 10 : 0);
}

int main(void) {
    static char signal_stack[1 << 16];
    uint64_t physical = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    const char *limit = getenv("VLAD_MAX_MEMORY");
    memory_limit = limit ? limit_of(limit) : physical / 8 * 7;
    vlad_heap[HEAP_TAPE_MEMORY] = memory_limit / 4;
    uint64_t size = ((limit ? memory_limit : physical / 4) & -(uint64_t)PAGE) + 2 * STACK_GUARD;
    void *stack = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (stack == MAP_FAILED || mprotect(stack, STACK_GUARD, PROT_NONE)) exhausted("error[V0311]: out of memory\n");
    stack_bottom = stack;
    sigaltstack(&(stack_t){.ss_sp = signal_stack, .ss_size = sizeof signal_stack}, 0);
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaction(SIGSEGV, &action, 0);
    sigaction(SIGBUS, &action, 0);
    signal(SIGPIPE, SIG_IGN);
    getcontext(&within);
    within.uc_stack.ss_sp = stack;
    within.uc_stack.ss_size = size;
    within.uc_link = &before;
    makecontext(&within, run, 0);
    swapcontext(&before, &within);
}
