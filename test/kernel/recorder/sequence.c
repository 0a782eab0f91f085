/* One sequence: a process and those that it forks, taking turns, each writing what its calls did. */
#include "recorder.h"
#include <errno.h>
#include <linux/futex.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAIN_TURN 100
/* The kernel has died, or the recorder: no call takes so long. */
#define PATIENCE 60
/* Of a process that shares its memory; the lowest part is where faults are caught. */
#define SHARER_STACK (1UL << 18)
#define ROOM_TO_EXEC (8UL << 20)
/* Of the first process of a sequence: more than its calls ever need. */
#define OWN_STACK (1UL << 18)

/* Which process this is: index into S->proc. Processes that share their memory share this too: the one whose turn it is. */
int me;

/* Output: one buffer for all processes, since one writes at a time. */

void flush_out(void)
{
    for (size_t done = 0; done < S->out_used;) {
        ssize_t n = write(OUT_FD, S->out + done, S->out_used - done);
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
static void record_of(int slot)
{
    static struct proc before;
    struct proc *now = &S->proc[S->proc[slot].leader];
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

void record_vmas(void) { record_of(me); }

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

/* The first thing a program asks for: where its heap begins. */
static void find_heap(void)
{
    struct op op = {.call = C_BRK};
    if (!S->probe.set_brk) return;
    if (!place_heap()) S->failed = true;
    emit_call(&op, (struct outcome){make_call(&op), 0});
    record_vmas();
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
    S->proc[slot].task = (int)syscall(SYS_gettid);
    if (S->proc[slot].leader != slot) return;
    record_vmas();
    open_pidfd(true);
}

static int start_sharer(void *slot)
{
    catch_on(S->proc[(intptr_t)slot].stack);
    begin_child((int)(intptr_t)slot);
    live((int)(intptr_t)slot);
    return 0;
}

/* The stack of a process that shares this memory. It lies outside of the arena and goes with the memory. */
static bool map_stack(int slot)
{
    struct op map = {.call = C_MMAP, .a = {0, SHARER_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1UL}};
    long stack = make_call(&map);
    S->proc[slot].stack = (void *)stack;
    if (S->style.limits) {
        emit_call(&map, (struct outcome){stack, errno});
        record_vmas();
    }
    return stack != -1;
}

/* Who waits for the child gets no turn, so the child has to have its own now: it tells how it came to be. */
static void await_child(const struct op *op, int slot)
{
    emit_call(op, (struct outcome){op->child, 0});
    record_vmas();
    S->proc[me].waiting = true;
    S->proc[slot].waiter = S->proc[me].label;
    give_turn((uint32_t)slot);
}

static pid_t make_sharer(const struct op *op, int slot)
{
    static const int FLAGS[] = {[FORK_SHARE] = SIGCHLD, [FORK_VFORK] = CLONE_VFORK | SIGCHLD,
                                [FORK_THREAD] = CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM};
    if (op->a[0] == FORK_VFORK) await_child(op, slot);
    pid_t pid = clone(start_sharer, (char *)S->proc[slot].stack + SHARER_STACK, CLONE_VM | FLAGS[op->a[0]],
                      (void *)(intptr_t)slot);
    if (op->a[0] == FORK_VFORK && pid < 0) S->failed = true;
    return pid;
}

static void name_child(struct op *op, int slot)
{
    struct proc *child = &S->proc[slot];
    if (!op->child) op->child = S->next_label++;
    else if (op->child >= S->next_label) S->next_label = op->child + 1;
    child->vmas = 0;
    child->label = op->child;
    child->leader = op->a[0] == FORK_THREAD ? S->proc[me].leader : slot;
    child->parent = S->proc[S->proc[me].leader].label;
    child->waiting = false;
    child->waiter = 0;
}

/* The slot of the new process: in the process that made it and, once it has its turn, in the new one. */
static int fork_child(struct op *op)
{
    int slot = slot_of(0);
    if (slot < 0) return -1;
    name_child(op, slot);
    bool mapped = op->a[0] == FORK_COPY || map_stack(slot);
    pid_t pid = !mapped ? -1 : op->a[0] == FORK_COPY ? fork() : make_sharer(op, slot);
    /* Back only when the child is gone, and others have had their turn. */
    if (mapped && op->a[0] == FORK_VFORK) return -1;
    if (pid == 0) {
        begin_child(slot);
        return slot;
    }
    if (pid < 0) S->proc[slot].label = 0;
    emit_call(op, (struct outcome){pid < 0 ? -1 : op->child, errno});
    if (op->a[0] != FORK_THREAD) record_vmas();
    return pid < 0 ? -1 : slot;
}

/* Who waited for `slot` goes on: it has ended, or has a memory of its own. */
static void release_waiter(int slot)
{
    int waiter = S->proc[slot].waiter ? slot_of(S->proc[slot].waiter) : -1;
    S->proc[slot].waiter = 0;
    if (waiter >= 0) S->proc[waiter].waiting = false;
}

bool has_threads(int slot)
{
    for (int i = 0; i < MAX_PROCS; i++)
        if (S->proc[i].label && i != slot && S->proc[i].leader == slot) return true;
    return false;
}

static bool may_have_turn(int slot) { return S->proc[slot].label && !S->proc[slot].waiting; }

/* The end of a process, or of a thread. */
static void leave(void)
{
    struct proc *self = &S->proc[me];
    bool thread = self->leader != me;
    emit("%d %s(0) = ?\n%d +++ exited with 0 +++\n", self->label, thread ? "exit" : "exit_group", self->label);
    release_waiter(me);
    self->label = 0;
    int next = 0;
    while (next < MAX_PROCS && !may_have_turn(next)) next++;
    if (next == MAX_PROCS) flush_out();
    give_turn(next < MAX_PROCS ? (uint32_t)next : MAIN_TURN);
    syscall(thread ? SYS_exit : SYS_exit_group, 0);
}

/* A process ends after its threads. */
static void end(int self)
{
    for (int i = 0; i < MAX_PROCS; i++)
        if (i != self && S->proc[i].leader == self && may_have_turn(i)) {
            give_turn((uint32_t)i);
            return;
        }
    if (!has_threads(self)) leave();
    /* They wait for somebody. */
    for (int i = 0; i < MAX_PROCS; i++)
        if (i != self && may_have_turn(i)) {
            give_turn((uint32_t)i);
            return;
        }
}

/* A fresh image of the recorder that goes on in place of this one. What is placed at random is again where it was. */
static void replace_self(const struct op *op)
{
    char slot[16];
    char *args[] = {"recorder", "--resume", slot, "--work", (char *)(uintptr_t)work_dir, NULL};
    char *none[] = {NULL};
    snprintf(slot, sizeof slot, "%d", me);
    emit_call(op, (struct outcome){0, 0});
    execve("/proc/self/exe", args, none);
    S->failed = true;
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
    if (S->scripted) {
        while (S->script_at < S->script_ops) {
            *op = S->script[S->script_at];
            int slot = slot_of(op->pid);
            if (slot >= 0 && !S->proc[slot].waiting) return true;
            S->script_at++; /* its process was never made, or cannot make it */
        }
        return false;
    }
    if (S->step >= S->style.ops) return false;
    generate(op, &S->proc[S->proc[me].leader]);
    op->pid = S->proc[me].label;
    return true;
}

static int next_turn(void)
{
    int turn = (int)below(MAX_PROCS);
    if (S->scripted) turn = S->script_at < S->script_ops ? slot_of(S->script[S->script_at].pid) : me;
    else if (below(3)) turn = me;
    return turn >= 0 && may_have_turn(turn) ? turn : me;
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

/* The kernel kills who has called execve and then has no room for the program; a thread would take its process's pid. */
static bool can_replace(int call)
{
    static const int NEEDS_ROOM[] = {RLIMIT_AS, RLIMIT_DATA, RLIMIT_STACK};
    struct rlimit limit;
    if (call != C_EXEC) return true;
    for (int i = 0; i < 3; i++)
        if (getrlimit(NEEDS_ROOM[i], &limit) || limit.rlim_cur < ROOM_TO_EXEC) return false;
    return S->proc[me].leader == me;
}

/* May this process make the call now? A write below a stack would make that grow, which no trace shows. */
static bool is_possible(const struct op *op)
{
    if (op->call == C_TOUCH && !is_mapped(op->a[0], op->a[1])) return false;
    if (op->call == C_EXIT || op->call == C_EXEC) return !has_threads(me) && can_replace(op->call);
    if (op->call == C_RLIMIT && op->whose && slot_of(op->whose) < 0) return false;
    if (op->call == C_PROCESS_MADVISE && op->a[0] == FD_PARENT && slot_of(S->proc[S->proc[me].leader].parent) < 0) return false;
    return is_safe(op);
}

static void live(int self)
{
    struct op op;
    for (;;) {
        if (!await_turn((uint32_t)self)) _exit(1);
        if (S->failed || !next_op(&op)) {
            end(self);
            continue;
        }
        int slot = slot_of(op.pid);
        if (slot != self) {
            give_turn((uint32_t)slot);
            continue;
        }
        S->step++;
        S->script_at++;
        S->calls++;
        if (op.call == C_FORK) {
            int child = fork_child(&op);
            if (op.a[0] == FORK_VFORK) continue; /* whose turn it is, the child has decided */
            if (child >= 0 && child == me) {
                self = child;
            } else if (child >= 0) {
                give_turn((uint32_t)child);
                continue;
            }
        } else if (is_possible(&op)) {
            if (op.call == C_EXIT) leave();
            else if (op.call == C_EXEC) replace_self(&op);
            else run_op(&op);
        }
        int turn = next_turn();
        if (turn != self) give_turn((uint32_t)turn);
    }
}

/* The recorder's own stack: afterwards no limit can come into its way, and its size counts the same all the time. */
static __attribute__((noinline)) void grow_stack(void)
{
    char deep[OWN_STACK];
    for (size_t i = OWN_STACK; i > 0; i -= PAGE) *(volatile char *)&deep[i - PAGE] = 0;
}

/* What each program of a sequence begins with. */
static void begin_program(void)
{
    grow_stack();
    catch_faults();
    find_heap();
}

static void show_all_memory(void)
{
    if (!S->style.limits) return;
    show_rlimits();
    emit_snapshot();
}

/* After execve: the same process with a memory of its own, in its turn. */
void resume_sequence(int slot)
{
    me = slot;
    release_waiter(slot);
    begin_program();
    open_pidfd(false);
    show_all_memory();
    live(slot);
}

/* Runs one sequence to its end; false if a process was lost. */
bool run_sequence(void)
{
    for (int i = 0; i < MAX_PROCS; i++) S->proc[i] = (struct proc){.leader = i};
    S->proc[0].label = S->scripted ? S->script_root : S->next_label++;
    S->step = 0;
    give_turn(0);
    pid_t pid = fork();
    if (pid < 0) return false;
    if (pid == 0) {
        me = 0;
        setpgid(0, 0);
        drop_script();
        S->proc[0].task = getpid();
        emit("%d execve(\"" PROGRAM "\", [\"recorder\"], 0x7ffc00000000 /* 0 vars */) = 0\n", S->proc[0].label);
        limit_maps();
        begin_program();
        open_files();
        show_all_memory();
        live(0);
    }
    bool ended = await_turn(MAIN_TURN);
    if (!ended) kill(-pid, SIGKILL);
    return ended && !S->failed;
}
