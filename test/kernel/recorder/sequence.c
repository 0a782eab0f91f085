/* One sequence: a process and those that it forks, taking turns, each writing what its calls did. */
#include "recorder.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAIN_TURN 100
#define FILE_BYTES (4UL << 20)
/* The kernel has died, or the recorder: no call takes so long. */
#define PATIENCE 60
/* Of a process that shares its memory; the lowest part is where faults are caught. */
#define SHARER_STACK (1UL << 18)
#define FAULT_STACK 16384UL
/* Of the first process of a sequence: more than its calls ever need. */
#define OWN_STACK (1UL << 18)

const unsigned SEGMENT_PAGES[SEGMENTS] = {1, 3, 6};
static const unsigned SEGMENT_KEY[SEGMENTS] = {0x766d6101, 0x766d6103, 0x766d6106};

/* Which process this is: index into S->proc. Processes that share their memory share this too: the one whose turn it is. */
int me;

/* Output: one buffer for all processes, since one writes at a time. */

void flush_out(void)
{
    for (size_t done = 0; done < S->out_used;) {
        ssize_t n = write(out_fd, S->out + done, S->out_used - done);
        if (n <= 0) {
            S->failed = true;
            break;
        }
        done += (size_t)n;
    }
    S->out_used = 0;
}

void emit(const char *format, ...)
{
    if (S->out_used > sizeof S->out / 2) flush_out();
    va_list list;
    va_start(list, format);
    int n = vsnprintf(S->out + S->out_used, sizeof S->out - S->out_used, format, list);
    va_end(list);
    if (n > 0) S->out_used += (size_t)n;
}

/* Turns */

/* Without errno, which belongs to whose turn it is: processes may share their memory. */
static long wait_for_change(uint32_t now, const struct timespec *patience)
{
    register const struct timespec *timeout __asm__("r10") = patience;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(SYS_futex), "D"(&S->turn), "S"(FUTEX_WAIT), "d"(now), "r"(timeout)
                     : "rcx", "r11", "memory");
    return result;
}

static bool await_turn(uint32_t mine)
{
    struct timespec patience = {PATIENCE, 0};
    for (;;) {
        uint32_t now = __atomic_load_n(&S->turn, __ATOMIC_ACQUIRE);
        if (now == mine) break;
        if (wait_for_change(now, &patience) == -ETIMEDOUT) return false;
    }
    if (mine < MAX_PROCS) me = (int)mine;
    return true;
}

static void give_turn(uint32_t to)
{
    __atomic_store_n(&S->turn, to, __ATOMIC_RELEASE);
    syscall(SYS_futex, &S->turn, FUTEX_WAKE, MAX_PROCS + 1, NULL, NULL, 0);
}

int slot_of(int label)
{
    for (int i = 0; i < MAX_PROCS; i++)
        if (S->proc[i].label == label) return i;
    return -1;
}

/* Records */

/* What maps says, as a change of what it said before: how many lines stay at both ends, and those between. */
static void record_vmas(void)
{
    static struct proc before;
    struct proc *now = &S->proc[me];
    before = *now;
    if (!read_vmas(now)) {
        S->failed = true;
        emit("# cannot read smaps of %d\n", now->label);
        return;
    }
    int head = 0, tail = 0;
    int shorter = now->vmas < before.vmas ? now->vmas : before.vmas;
    while (head < shorter && !strcmp(now->vma[head].line, before.vma[head].line)) head++;
    while (tail < shorter - head &&
           !strcmp(now->vma[now->vmas - 1 - tail].line, before.vma[before.vmas - 1 - tail].line))
        tail++;
    emit("@%d %d %d\n", now->label, head, tail);
    for (int i = head; i < now->vmas - tail; i++) emit(" %s\n", now->vma[i].line);
}

void emit_call(const struct op *op, struct outcome outcome)
{
    char text[1024];
    print_op(text, sizeof text, op);
    emit("%d %s = ", S->proc[me].label, text);
    bool address = op->call == C_MMAP || op->call == C_MREMAP || op->call == C_BRK || op->call == C_SHMAT;
    if (outcome.value == -1) emit("-1 %s (%s)\n", error_name(outcome.error), error_text(outcome.error));
    else if (address) emit("%#lx\n", outcome.value);
    else emit("%ld\n", outcome.value);
}

/* Touching memory */

static sigjmp_buf fault_return;
static volatile unsigned long fault_address;
static volatile int fault_code, fault_signal;

static void on_fault(int signal, siginfo_t *info, void *context)
{
    (void)context;
    fault_signal = signal;
    fault_code = info->si_code;
    fault_address = (unsigned long)info->si_addr;
    siglongjmp(fault_return, 1);
}

static const char *code_name(int signal, int code)
{
    if (signal == SIGBUS) return code == BUS_ADRERR ? "BUS_ADRERR" : "BUS_ADRALN";
    return code == SEGV_MAPERR ? "SEGV_MAPERR" : "SEGV_ACCERR";
}

/* Writes to each page. What was written is printed as the call that does the same; a fault as the signal. */
static void touch(const struct op *op)
{
    volatile u64 done = 0;
    bool failed = sigsetjmp(fault_return, 1) != 0;
    if (!failed)
        for (; done < op->a[1]; done += PAGE) *(volatile char *)(op->a[0] + done) = 1;
    if (done) {
        struct op whole = *op;
        whole.a[1] = done;
        whole.a[2] = MADV_POPULATE_WRITE;
        emit_call(&whole, (struct outcome){0, 0});
        record_vmas();
    }
    if (failed)
        emit("%d --- %s {si_signo=%s, si_code=%s, si_addr=%#lx} ---\n", S->proc[me].label,
             fault_signal == SIGBUS ? "SIGBUS" : "SIGSEGV", fault_signal == SIGBUS ? "SIGBUS" : "SIGSEGV",
             code_name(fault_signal, fault_code), fault_address);
}

/* Files */

const char *fd_note(u64 fd)
{
    static char note[512];
    switch ((int)fd) {
    case FD_RW:
    case FD_RO:
    case FD_RW2:
    case FD_WO:
    case FD_DUP: snprintf(note, sizeof note, "<%s/data>", work_dir); break;
    case FD_MEMFD: return "</memfd:vmalens>(deleted)";
    case FD_ZERO:
    case FD_ZERO_RO: return "</dev/zero>";
    case FD_PIDFD: snprintf(note, sizeof note, "<pid:%d>", S->proc[me].label); break;
    case FD_PARENT: snprintf(note, sizeof note, "<pid:%d>", S->proc[me].parent); break;
    default: return "";
    }
    return note;
}

static void open_one(int fd, const char *path, int flags, const char *words)
{
    int opened = open(path, flags, 0600);
    if (opened != fd) {
        S->failed = true;
        emit("# %s opened as %d instead of %d: %s\n", path, opened, fd, error_text(errno));
    }
    emit("%d openat(AT_FDCWD, \"%s\", %s) = %d<%s>\n", S->proc[me].label, path, words, fd, path);
}

static void close_one(int fd)
{
    if (fcntl(fd, F_GETFD) < 0) return;
    emit("%d close(%d) = 0\n", S->proc[me].label, fd);
    close(fd);
}

/* A descriptor of its own memory, and one of that of the process that made it: the one it inherited. */
static void open_pidfd(void)
{
    close_one(FD_PARENT);
    if (S->proc[me].parent) {
        const char *note = fd_note(FD_PARENT);
        if (dup(FD_PIDFD) != FD_PARENT) S->failed = true;
        emit("%d dup(%d%s) = %d%s\n", S->proc[me].label, FD_PIDFD, note, FD_PARENT, note);
    }
    close_one(FD_PIDFD);
    if (syscall(SYS_pidfd_open, getpid(), 0) != FD_PIDFD) S->failed = true;
    emit("%d pidfd_open(%d, 0) = %d%s\n", S->proc[me].label, S->proc[me].label, FD_PIDFD, fd_note(FD_PIDFD));
}

static void open_files(void)
{
    char path[256];
    int label = S->proc[me].label;
    snprintf(path, sizeof path, "%s/data", work_dir);
    open_one(FD_RW, path, O_RDWR, "O_RDWR");
    open_one(FD_RO, path, O_RDONLY, "O_RDONLY");
    open_one(FD_RW2, path, O_RDWR, "O_RDWR");
    open_one(FD_WO, path, O_WRONLY, "O_WRONLY");
    if (syscall(SYS_memfd_create, "vmalens", MFD_ALLOW_SEALING) != FD_MEMFD || ftruncate(FD_MEMFD, FILE_BYTES)) S->failed = true;
    emit("%d memfd_create(\"vmalens\", MFD_ALLOW_SEALING) = %d%s\n", label, FD_MEMFD, fd_note(FD_MEMFD));
    open_one(FD_ZERO, "/dev/zero", O_RDWR, "O_RDWR");
    open_one(FD_ZERO_RO, "/dev/zero", O_RDONLY, "O_RDONLY");
    if (dup(FD_RW) != FD_DUP) S->failed = true;
    emit("%d dup(%d%s)", label, FD_RW, fd_note(FD_RW));
    emit(" = %d%s\n", FD_DUP, fd_note(FD_DUP));
    open_pidfd();
    if (S->probe.sysv)
        for (int i = 0; i < SEGMENTS; i++)
            emit("%d shmget(%#x, %lu, IPC_CREAT|0600) = %d\n", label, SEGMENT_KEY[i], SEGMENT_PAGES[i] * PAGE,
                 S->segment[i]);
}

/* The first thing a program asks for: where its heap begins. */
static void find_heap(void)
{
    struct op op = {.call = C_BRK};
    if (!S->probe.set_brk) return;
    if (!place_heap()) S->failed = true;
    emit_call(&op, (struct outcome){make_call(&op), 0});
    record_vmas();
}

/* Once a run: the file that the sequences open, and the SysV segments. */
bool make_shared_things(void)
{
    char path[256];
    snprintf(path, sizeof path, "%s/data", work_dir);
    mkdir(work_dir, 0700);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ftruncate(fd, FILE_BYTES)) return false;
    close(fd);
    for (int i = 0; S->probe.sysv && i < SEGMENTS; i++) {
        int old = shmget((key_t)SEGMENT_KEY[i], 0, 0);
        if (old >= 0) shmctl(old, IPC_RMID, NULL);
        S->segment[i] = shmget((key_t)SEGMENT_KEY[i], SEGMENT_PAGES[i] * PAGE, IPC_CREAT | 0600);
        if (S->segment[i] < 0) return false;
    }
    return true;
}

void remove_shared_things(void)
{
    char path[256];
    snprintf(path, sizeof path, "%s/data", work_dir);
    unlink(path);
    rmdir(work_dir);
    for (int i = 0; S->probe.sysv && i < SEGMENTS; i++) shmctl(S->segment[i], IPC_RMID, NULL);
}

/* Calls */

/* A place that the kernel chose lies outside of the arena: it is given back at once. */
static void give_back(const struct op *op, long value)
{
    struct op back = {.pid = op->pid, .call = C_MUNMAP};
    if (op->call != C_MMAP && op->call != C_MREMAP && op->call != C_SHMAT) return;
    if ((u64)value >= ARENA && (u64)value < ARENA_END) return;
    back.a[0] = (u64)value;
    back.a[1] = op->call == C_MMAP ? op->a[1] : op->a[2];
    if (op->call == C_SHMAT) back.call = C_SHMDT;
    struct outcome outcome = {make_call(&back), 0};
    outcome.error = errno;
    emit_call(&back, outcome);
    record_vmas();
}

static void live(int self);

/* The first turn of a new process. */
static void begin_child(int slot)
{
    if (!await_turn((uint32_t)slot)) _exit(1);
    record_vmas();
    open_pidfd();
}

/* Faults are caught on a stack of their own, since they happen on any. */
static void catch_on(void *stack)
{
    stack_t alternative = {.ss_sp = stack, .ss_size = FAULT_STACK};
    sigaltstack(&alternative, NULL);
}

static int start_sharer(void *slot)
{
    catch_on(S->proc[(intptr_t)slot].stack);
    begin_child((int)(intptr_t)slot);
    live((int)(intptr_t)slot);
    return 0;
}

/* A process that shares its memory with this one. Its stack lies outside of the arena and goes with the memory. */
static pid_t make_sharer(int slot)
{
    char *stack = mmap(NULL, SHARER_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED) return -1;
    S->proc[slot].stack = stack;
    if (S->style.limits) {
        struct op op = {.call = C_MMAP, .a = {0, SHARER_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1UL}};
        emit_call(&op, (struct outcome){(long)stack, 0});
        record_vmas();
    }
    return clone(start_sharer, stack + SHARER_STACK, CLONE_VM | SIGCHLD, (void *)(intptr_t)slot);
}

/* The slot of the new process: in the process that made it and, once it has its turn, in the new one. */
static int fork_child(struct op *op)
{
    int slot = slot_of(0);
    if (slot < 0) return -1;
    if (!op->child) op->child = S->next_label++;
    else if (op->child >= S->next_label) S->next_label = op->child + 1;
    S->proc[slot].vmas = 0;
    S->proc[slot].label = op->child;
    S->proc[slot].parent = S->proc[me].label;
    pid_t pid = op->a[0] ? make_sharer(slot) : fork();
    if (pid == 0) {
        begin_child(slot);
        return slot;
    }
    S->proc[slot].task = pid;
    if (pid < 0) S->proc[slot].label = 0;
    emit_call(op, (struct outcome){pid < 0 ? -1 : op->child, errno});
    record_vmas();
    return pid < 0 ? -1 : slot;
}

static void leave(void)
{
    emit("%d exit_group(0) = ?\n%d +++ exited with 0 +++\n", S->proc[me].label, S->proc[me].label);
    S->proc[me].label = 0;
    for (int i = 0; i < MAX_PROCS; i++)
        if (S->proc[i].label) {
            give_turn((uint32_t)i);
            _exit(0);
        }
    flush_out();
    give_turn(MAIN_TURN);
    _exit(0);
}

/* Calls that change no memory, but what later calls do. */
static bool is_setting(int call)
{
    return call == C_MEMORY_MERGE || call == C_MDWE || call == C_FILE_SEAL || call == C_RLIMIT || call == C_CAPSET;
}

static void run_op(struct op *op)
{
    struct outcome outcome;
    if (op->call == C_TOUCH) {
        touch(op);
        return;
    }
    errno = 0;
    outcome.value = make_call(op);
    outcome.error = errno;
    emit_call(op, outcome);
    /* No memory call, no record: what it changed shows after the next one. */
    if (is_setting(op->call)) return;
    record_vmas();
    if (outcome.value != -1) give_back(op, outcome.value);
}

/* The next call, and whose it is; false at the end. */
static bool next_op(struct op *op)
{
    if (S->script) {
        while (S->script_at < S->script_ops) {
            *op = S->script[S->script_at];
            if (slot_of(op->pid) >= 0) return true;
            S->script_at++; /* its process was never made */
        }
        return false;
    }
    if (S->step >= S->style.ops) return false;
    generate(op, &S->proc[me]);
    return true;
}

static int next_turn(void)
{
    if (S->script) return S->script_at < S->script_ops ? slot_of(S->script[S->script_at].pid) : me;
    if (below(3)) return me;
    int turn = (int)below(MAX_PROCS);
    return S->proc[turn].label ? turn : me;
}

/* Whoever shares the memory may have unmapped it since we last looked. */
static bool is_mapped(u64 addr, u64 length)
{
    static struct proc now;
    u64 end = addr + length;
    if (!read_vmas(&now)) return false;
    for (int i = 0; i < now.vmas; i++)
        if (now.vma[i].start <= addr && addr < now.vma[i].end) addr = now.vma[i].end;
    return addr >= end;
}

/* May this process make the call now? A write below a stack would make that grow, which no trace shows. */
static bool is_possible(const struct op *op)
{
    if (op->call == C_TOUCH && !is_mapped(op->a[0], op->a[1])) return false;
    if (op->call == C_RLIMIT && op->whose && slot_of(op->whose) < 0) return false;
    if (op->call == C_PROCESS_MADVISE && op->a[0] == FD_PARENT && slot_of(S->proc[me].parent) < 0) return false;
    return is_safe(op);
}

static void live(int self)
{
    struct op op;
    for (;;) {
        if (!await_turn((uint32_t)self)) _exit(1);
        if (S->failed || !next_op(&op)) leave();
        int slot = slot_of(op.pid);
        if (slot != self) {
            give_turn((uint32_t)slot);
            continue;
        }
        S->step++;
        S->script_at++;
        S->calls++;
        if (op.call == C_EXIT) leave();
        if (op.call == C_FORK) {
            int child = fork_child(&op);
            if (child >= 0 && child == me) {
                self = child;
            } else if (child >= 0) {
                give_turn((uint32_t)child);
                continue;
            }
        } else if (is_possible(&op)) {
            run_op(&op);
        }
        int turn = next_turn();
        if (turn >= 0 && turn != self) give_turn((uint32_t)turn);
    }
}

static void catch_faults(void)
{
    static char stack[FAULT_STACK] __attribute__((aligned(4096)));
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    catch_on(stack);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
}

/* The recorder's own stack: afterwards no limit can come into its way, and its size counts the same all the time. */
static __attribute__((noinline)) void grow_stack(void)
{
    char deep[OWN_STACK];
    for (size_t i = OWN_STACK; i > 0; i -= PAGE) *(volatile char *)&deep[i - PAGE] = 0;
}

/* Runs one sequence to its end; false if a process was lost. */
bool run_sequence(void)
{
    for (int i = 0; i < MAX_PROCS; i++) S->proc[i].label = 0;
    S->proc[0].vmas = S->proc[0].parent = 0;
    S->proc[0].label = S->script ? S->script_root : S->next_label++;
    S->step = 0;
    give_turn(0);
    pid_t pid = fork();
    if (pid < 0) return false;
    if (pid == 0) {
        me = 0;
        setpgid(0, 0);
        S->proc[0].task = getpid();
        grow_stack();
        catch_faults();
        emit("%d execve(\"" PROGRAM "\", [\"recorder\"], 0x7ffc00000000 /* 0 vars */) = 0\n", S->proc[0].label);
        limit_maps();
        find_heap();
        open_files();
        if (S->style.limits) {
            show_rlimits();
            emit_snapshot();
        }
        live(0);
    }
    bool ended = await_turn(MAIN_TURN);
    if (!ended) kill(-pid, SIGKILL);
    return ended && !S->failed;
}
