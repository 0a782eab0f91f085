/*
 * The recorder makes random sequences of memory calls in a few related processes and writes down what the kernel
 * answered: each call as strace -f -y prints it, and after it the VMAs of each process that it concerns.
 * test/kernel/README.md has the format and the reasons.
 */
#ifndef RECORDER_H
#define RECORDER_H

#define _GNU_SOURCE
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef uint64_t u64;

#define PAGE 4096UL
/* All calls work inside the arena; nothing else of the process lies there. */
#define ARENA 0x2000000000UL
#define ARENA_PAGES 512UL
#define ARENA_END (ARENA + ARENA_PAGES * PAGE)
/* Zones of the arena in pages: most calls, what a stack's guard gap keeps away, the heap. */
#define NEAR_PAGES 64UL
#define FAR_PAGE 240UL
#define FAR_PAGES 90UL
#define HEAP_PAGE 400UL
#define HEAP_PAGES 40UL
#define HEAP (ARENA + HEAP_PAGE * PAGE)

/* What a recording calls the program. */
#define PROGRAM "/usr/bin/recorder"
#define FIRST_LABEL 1001
#define MAX_PROCS 6
#define MAX_RANGES 3
#define MAX_TEXT 200
#define MAX_VMAS 520
/* Calls in one sequence of a script. */
#define MAX_OPS 1024
/* Descriptors of the recorder itself stay above those that a sequence opens. */
#define OUT_FD 200
#define LOCK_FD 201
#define SHARED_FD 202
/* More than the address space of any x86-64 process: refused wherever a length is looked at. */
#define TOO_LONG (1UL << 47)
/* Of MAP_HUGETLB: no processor has pages of 32 bytes. */
#define BAD_HUGE_SIZE 5

enum call_id {
    C_MMAP,
    C_MUNMAP,
    C_MPROTECT,
    C_PKEY_MPROTECT,
    C_MREMAP,
    C_MADVISE,
    C_PROCESS_MADVISE,
    C_MSEAL,
    C_NAME,
    C_BRK,
    C_MLOCK,
    C_MLOCK2,
    C_MUNLOCK,
    C_MLOCKALL,
    C_MUNLOCKALL,
    C_SHMAT,
    C_SHMDT,
    C_REMAP_FILE_PAGES,
    C_MEMORY_MERGE,
    C_MDWE,
    C_FILE_SEAL,
    C_RLIMIT,
    C_CAPSET,
    C_MBIND,
    C_HOME_NODE,
    C_TOUCH,
    C_FORK,
    C_EXEC,
    C_EXIT,
    CALLS
};

/* What of its maker a new process has: a copy of the memory, the memory, the same while the maker waits, everything. */
enum fork_kind { FORK_COPY, FORK_SHARE, FORK_VFORK, FORK_THREAD };

/* One call, as it is made and as it is printed. */
struct op {
    int pid; /* label of the process: what the recording calls its pid */
    int call;
    u64 a[6];
    bool has_text; /* C_NAME: false for NULL */
    char text[MAX_TEXT];
    int ranges; /* C_PROCESS_MADVISE */
    u64 range[MAX_RANGES][2];
    int whose; /* C_RLIMIT: label of the process, 0 for itself */
    int child; /* C_FORK: label of the child, 0 for the next free one; a[0] is an enum fork_kind */
};

struct outcome {
    long value; /* -1 for an error */
    int error;
};

/* A VMA of the arena as smaps shows it. */
struct vma {
    u64 start, end;
    bool writable, shared, growsdown, sealed, file, heap;
    u64 offset;
    char line[320]; /* as it is recorded */
};

struct proc {
    int label; /* 0: free */
    int leader; /* slot of the process of which it is a thread; its own slot if it is none */
    bool waiting; /* until what it made by vfork has ended or called execve */
    int waiter; /* label of the process that waits for this one, 0 if none does */
    int task;  /* its pid for the kernel */
    int parent; /* label of the process that made it, 0 for the first */
    void *stack; /* of a process that shares its memory with the one that made it */
    int vmas;
    struct vma vma[MAX_VMAS];
};

/* Files that every sequence opens, by descriptor. */
enum { FD_RW = 3, FD_RO, FD_RW2, FD_WO, FD_MEMFD, FD_ZERO, FD_ZERO_RO, FD_DUP, FD_PIDFD, FD_PARENT, FDS_END };
#define SEGMENTS 3
extern const unsigned SEGMENT_PAGES[SEGMENTS];

/* What the kernel supports. */
struct probe {
    char release[65];
    bool names, ksm, thp, soft_dirty, swap, heap_executable, low_maps, pkeys, mseal, guard, droppable, pkey, root, memory_merge, mdwe, set_brk, sysv, mbind, home_node;
};

/* How the calls of one sequence are chosen; see generate.c. */
struct style {
    unsigned weight[CALLS];
    unsigned ops;
    unsigned near_pages, longest;
    unsigned prots, prot[4];
    unsigned odd;     /* one argument in so many is not what a program would pass; 0: none */
    unsigned borders; /* percent of addresses that lie at the border of a VMA */
    unsigned noreserve, fixed, aligned; /* percent */
    unsigned names;
    unsigned procs;
    bool file, memfd, zero, shared, hint, far, growsdown, droppable, guard, ksm, populate, share, vfork, threads, exec;
    bool limits; /* limits change, so all memory counts: the recording tells what lies outside of the arena */
};

/* All state that the processes of a sequence share. One of them runs at a time: whose turn it is. */
struct shared {
    uint32_t turn;
    bool failed;
    u64 rng;
    unsigned step, calls;
    int next_label;
    struct style style;
    struct probe probe;
    int segment[SEGMENTS];
    /* --map-room: VMAs that a process may have besides those that it begins with; 0: the kernel's limit */
    unsigned map_room;
    struct proc proc[MAX_PROCS];
    /* --script: the calls of one sequence */
    bool scripted;
    struct op script[MAX_OPS];
    int script_root;
    unsigned script_ops, script_at;
    size_t out_used;
    char out[1 << 20];
};

extern struct shared *S;
extern const char *work_dir;
/* Which process this is: index into S->proc. */
extern int me;

/* calls.c */
const char *call_name(int call);
int call_by_option(const char *name);
long make_call(const struct op *op);
void print_op(char *out, size_t size, const struct op *op);
bool parse_op(const char *line, struct op *op);
const char *error_name(int error);
const char *error_text(int error);

/* safe.c */
bool is_safe(const struct op *op);

/* main.c */
void drop_script(void);

/* rlimits.c */
void gen_rlimit(struct op *op, const struct proc *self, bool odd);
void gen_capset(struct op *op);
long make_rlimit(const struct op *op);
long make_capset(const struct op *op);
void print_rlimit(char *text, size_t size, const struct op *op);
void print_capset(char *text, size_t size, const struct op *op);
bool parse_rlimit(const char *text, struct op *op);
bool parse_capset(const char *text, struct op *op);
void show_rlimits(void);

/* policy.c */
void gen_mbind(struct op *op, bool odd);
void gen_home_node(struct op *op, bool odd);
long make_mbind(const struct op *op);
long make_home_node(const struct op *op);
void print_mbind(char *text, size_t size, const struct op *op);
void print_home_node(char *text, size_t size, const struct op *op);
bool parse_mbind(const char *text, struct op *op);
bool parse_home_node(const char *text, struct op *op);

/* generate.c */
uint32_t rnd(void);
unsigned below(unsigned n);
void seed_rnd(u64 seed, u64 sequence);
void choose_style(const unsigned *percent);
void generate(struct op *op, const struct proc *self);

/* smaps.c */
bool read_vmas(struct proc *proc);
void emit_snapshot(void);

/* sequence.c */
void emit_call(const struct op *op, struct outcome outcome);
void emit(const char *format, ...) __attribute__((format(printf, 1, 2)));
void flush_out(void);
int slot_of(int label);
bool run_sequence(void);
void resume_sequence(int slot);
bool has_threads(int slot);

void record_vmas(void);

/* faults.c */
/* The lowest part of the stack of a process that shares its memory is where faults are caught. */
#define FAULT_STACK 16384UL
void touch(const struct op *op);
void catch_on(void *stack);
void catch_faults(void);

/* files.c */
const char *fd_note(u64 fd);
void open_files(void);
void open_pidfd(bool fresh);
bool make_shared_things(void);
void remove_shared_things(void);

/* limit.c */
bool remember_limit(void);
void limit_maps(void);
void restore_limit(void);

/* heap.c */
bool place_heap(void);

/* probe.c */
void probe_kernel(struct probe *probe);

#endif
