/*
 * Random calls. Each sequence has a style of its own (swarm testing): some kinds of calls and arguments never occur in
 * it, others often, so that rare combinations meet each other undisturbed.
 */
#include "recorder.h"
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#define MREMAP_KEEP 4 /* MREMAP_DONTUNMAP */

/* splitmix64: any state is a good one. */
uint32_t rnd(void)
{
    u64 z = S->rng += 0x9e3779b97f4a7c15UL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9UL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebUL;
    return (uint32_t)((z ^ (z >> 31)) >> 32);
}

unsigned below(unsigned n) { return (unsigned)(((u64)rnd() * n) >> 32); }

void seed_rnd(u64 seed, u64 sequence)
{
    S->rng = seed * 0x2545f4914f6cdd1dUL + sequence * 0xd1342543de82ef95UL;
    rnd();
}

static bool chance(unsigned percent) { return below(100) < percent; }

/* Style */

static const unsigned WEIGHT[CALLS] = {
    [C_MMAP] = 22,         [C_MUNMAP] = 8,      [C_MPROTECT] = 14,     [C_PKEY_MPROTECT] = 3,
    [C_MREMAP] = 14,       [C_MADVISE] = 14,    [C_PROCESS_MADVISE] = 2, [C_MSEAL] = 2,
    [C_NAME] = 10,         [C_BRK] = 4,         [C_MLOCK] = 3,         [C_MLOCK2] = 2,
    [C_MUNLOCK] = 3,       [C_MLOCKALL] = 1,    [C_MUNLOCKALL] = 1,    [C_SHMAT] = 3,
    [C_SHMDT] = 2,         [C_REMAP_FILE_PAGES] = 2, [C_MEMORY_MERGE] = 1, [C_MDWE] = 1,
    [C_FILE_SEAL] = 1,     [C_RLIMIT] = 8,      [C_CAPSET] = 2,
    [C_MBIND] = 8,         [C_HOME_NODE] = 2,
    [C_TOUCH] = 10,        [C_FORK] = 3,       [C_EXEC] = 2,          [C_EXIT] = 1,
};

/* Percent of the sequences in which the call may occur at all. */
static unsigned occurs(int call)
{
    switch (call) {
    case C_MMAP: return 100;
    case C_MDWE: return 5;
    case C_FILE_SEAL: return 20;
    case C_MEMORY_MERGE: return 15;
    case C_EXEC: return 20;
    case C_MBIND: return 25;
    case C_HOME_NODE: return 15;
    case C_MSEAL: return 45;
    case C_MLOCKALL: return 20;
    case C_PROCESS_MADVISE: return 40;
    case C_SHMAT:
    case C_REMAP_FILE_PAGES: return 30;
    case C_BRK: return 40;
    default: return 75;
    }
}

static bool possible(int call)
{
    const struct probe *can = &S->probe;
    switch (call) {
    case C_PKEY_MPROTECT: return can->pkey;
    case C_MEMORY_MERGE: return can->memory_merge;
    case C_MDWE: return can->mdwe;
    case C_BRK: return can->set_brk;
    case C_SHMAT:
    case C_SHMDT: return can->sysv;
    case C_MLOCKALL: return can->root;
    case C_MBIND: return can->mbind;
    case C_HOME_NODE: return can->home_node;
    default: return true;
    }
}

/* `percent` scales the weight of each call; 0 switches it off. */
void choose_style(const unsigned *percent)
{
    static const unsigned PROTS[] = {0, 1, 3, 3, 3, 1, 5, 7, 2, 4};
    struct style *style = &S->style;
    memset(style, 0, sizeof *style);
    for (int i = 0; i < CALLS; i++) {
        if (!possible(i) || !chance(occurs(i))) continue;
        unsigned factor = chance(20) ? 4 : chance(30) ? 2 : 1;
        style->weight[i] = WEIGHT[i] * factor * percent[i];
    }
    if (percent[C_MMAP]) style->weight[C_MMAP] += WEIGHT[C_MMAP];
    style->limits = chance(25) && (percent[C_RLIMIT] || percent[C_CAPSET]);
    if (!style->limits) style->weight[C_RLIMIT] = style->weight[C_CAPSET] = 0;
    style->ops = 20 + below(chance(20) ? 160 : 70);
    style->near_pages = 4 + below(chance(30) ? NEAR_PAGES - 4 : 16);
    style->longest = 1 + below(style->near_pages);
    style->prots = 1 + below(4);
    for (unsigned i = 0; i < style->prots; i++) style->prot[i] = PROTS[below(10)];
    style->prot[0] = chance(85) ? 3 : style->prot[0];
    style->odd = chance(50) ? 0 : 15 + below(60);
    style->borders = below(90);
    style->noreserve = chance(40) ? 0 : chance(50) ? 100 : 30;
    style->fixed = 60 + below(40);
    style->aligned = below(101);
    style->names = 1 + below(4);
    style->procs = 1 + below(MAX_PROCS);
    style->file = chance(45);
    style->memfd = chance(30);
    style->zero = chance(25);
    style->shared = chance(50);
    style->hint = chance(60);
    style->far = chance(20);
    style->growsdown = chance(25);
    style->droppable = chance(15);
    style->guard = chance(30);
    style->ksm = chance(40);
    style->populate = chance(60);
    if (!S->map_room) { /* a stack more is a VMA more */
        style->share = chance(20);
        style->vfork = chance(15);
        style->threads = chance(15) && !style->limits; /* each has its own capabilities */
    }
}

/* Places */

static const struct vma *any_vma(const struct proc *self)
{
    return self->vmas ? &self->vma[below((unsigned)self->vmas)] : NULL;
}

static u64 keep_inside(u64 addr)
{
    return addr < ARENA || addr >= ARENA_END - PAGE ? ARENA : addr;
}

static u64 some_place(void)
{
    const struct style *style = &S->style;
    if (style->weight[C_BRK] && chance(10)) return HEAP + PAGE * below(HEAP_PAGES) - 2 * PAGE;
    if (style->far && chance(25)) return ARENA + PAGE * (FAR_PAGE + below(FAR_PAGES));
    return ARENA + PAGE * below(style->near_pages);
}

static u64 address(const struct proc *self)
{
    const struct vma *vma = chance(S->style.borders) ? any_vma(self) : NULL;
    if (!vma) return some_place();
    u64 border = chance(50) ? vma->start : vma->end;
    return keep_inside(border + PAGE * below(3) - PAGE * (chance(60) ? 1 : 0) - (chance(30) ? PAGE : 0));
}

static u64 length(void)
{
    unsigned longest = S->style.longest;
    if (chance(55)) return PAGE * (1 + below(longest < 3 ? longest : 3));
    if (chance(95)) return PAGE * (1 + below(longest));
    return PAGE * (1 + below(NEAR_PAGES));
}

struct range {
    u64 addr, length;
};

static u64 fit(u64 addr, u64 length)
{
    u64 room = ARENA_END - PAGE - addr;
    return length > room ? room : length;
}

/* Pages of existing memory where there is some: one VMA, a part of one, several. */
static struct range existing(const struct proc *self)
{
    const struct vma *vma = chance(75) ? any_vma(self) : NULL;
    struct range range = {address(self), length()};
    if (vma) {
        unsigned pages = (unsigned)((vma->end - vma->start) / PAGE);
        unsigned from = chance(50) ? 0 : below(pages);
        range.addr = vma->start + PAGE * from;
        range.length = chance(50) ? vma->end - range.addr : PAGE * (1 + below(pages - from));
        if (chance(20)) range.length += length();
        if (chance(10)) {
            const struct vma *last = any_vma(self);
            if (last->end > range.addr) range.length = last->end - range.addr;
        }
    }
    range.length = fit(range.addr, range.length);
    return range;
}

static bool is_odd(void) { return S->style.odd && !below(S->style.odd); }

/* What a program would not pass, or seldom: half pages, nothing, far too much. */
static void maybe_odd(u64 *addr, u64 *length)
{
    static const u64 ADDRESSES[] = {0, TOO_LONG, TOO_LONG - PAGE, -PAGE};
    static const u64 LENGTHS[] = {0, 1, 4095, 4097, 6000, TOO_LONG, 1UL << 63, -4096UL, -4095UL, -1UL};
    if (is_odd()) *addr += 1 + below(4095);
    else if (is_odd()) *addr = ADDRESSES[below(4)];
    if (is_odd()) *length = LENGTHS[below(sizeof LENGTHS / sizeof *LENGTHS)];
    else if (is_odd()) *length -= below(4095);
}

static u64 prot(void) { return S->style.prot[below(S->style.prots)]; }

/* Single calls */

static void gen_file(struct op *op)
{
    static const unsigned FILES[] = {FD_RW, FD_RW, FD_RW, FD_RO, FD_RO, FD_RW2, FD_DUP};
    static const unsigned ZEROS[] = {FD_ZERO, FD_ZERO, FD_ZERO_RO};
    const struct style *style = &S->style;
    unsigned kinds = style->file + style->memfd + style->zero;
    if (!kinds || chance(50)) {
        op->a[3] |= MAP_ANONYMOUS;
        op->a[4] = -1UL;
    } else {
        unsigned kind = below(kinds);
        if (style->file && kind-- == 0) op->a[4] = FILES[below(7)];
        else if (style->memfd && kind-- == 0) op->a[4] = FD_MEMFD;
        else op->a[4] = ZEROS[below(3)];
        if (is_odd()) op->a[4] = FD_WO;
        if (is_odd()) op->a[4] = chance(50) ? FD_PIDFD : -1UL;
        /* Whether a pidfd is a file, and may be of a program, depends on the kernel. */
        if (op->a[4] == FD_PIDFD) op->a[2] &= ~(u64)PROT_EXEC;
        /* Offsets that line up with the place, so that neighbours can join. */
        op->a[5] = chance(style->aligned) ? (op->a[0] & ~(PAGE - 1)) - ARENA : PAGE * below(12);
        if (is_odd()) op->a[5] += 1 + below(4095);
        /* Past the largest file, and of a device near the last page of all. */
        if (is_odd()) op->a[5] = (1UL << 63) - PAGE;
        if (is_odd()) op->a[5] = -PAGE * (1 + below(8));
        if (op->a[4] == FD_PIDFD) op->a[5] = PAGE * below(12);
        if (is_odd()) op->a[3] |= MAP_HUGETLB;
    }
}

static void gen_mmap(struct op *op, const struct proc *self)
{
    const struct style *style = &S->style;
    u64 *a = op->a;
    a[0] = address(self);
    a[1] = fit(a[0], length());
    a[2] = prot();
    a[3] = style->shared && chance(35) ? MAP_SHARED : MAP_PRIVATE;
    gen_file(op);
    if (style->droppable && (a[3] & MAP_ANONYMOUS) && chance(30)) a[3] = (a[3] & ~0xfUL) | 8;
    if (is_odd()) a[3] = (a[3] & ~0xfUL) | below(9);
    if (chance(style->fixed)) a[3] |= MAP_FIXED;
    else if (!style->hint || chance(40)) a[3] |= MAP_FIXED_NOREPLACE;
    else if (chance(4)) a[0] = 0;
    if (chance(style->noreserve)) a[3] |= MAP_NORESERVE;
    if (style->growsdown && chance(20)) a[3] |= MAP_GROWSDOWN;
    if (style->weight[C_MLOCK] && chance(4)) a[3] |= MAP_LOCKED;
    if (style->populate && chance(10)) a[3] |= MAP_POPULATE | (chance(15) ? MAP_NONBLOCK : 0);
    if (chance(4)) a[3] |= MAP_STACK;
    if (is_odd()) a[3] |= chance(50) ? MAP_DENYWRITE : MAP_EXECUTABLE;
    if (is_odd()) a[3] |= MAP_SYNC;
    if (is_odd()) a[3] |= 0x40UL << below(2); /* MAP_32BIT, MAP_ABOVE4G */
    if ((a[3] & MAP_ANONYMOUS) && is_odd()) a[3] |= MAP_HUGETLB | (u64)BAD_HUGE_SIZE << 26;
    if (is_odd()) a[2] |= 0x10UL << below(4);
    if (is_odd()) a[2] |= chance(50) ? PROT_GROWSDOWN : PROT_GROWSUP;
    maybe_odd(&a[0], &a[1]);
}

static void gen_mprotect(struct op *op, const struct proc *self)
{
    static const u64 EXTRA[] = {0x8, 0x10, 0x1000000, 0x2000000, 0x3000000, 0x40};
    op->a[2] = prot();
    if (S->style.growsdown && chance(15)) op->a[2] |= PROT_GROWSDOWN;
    if (is_odd()) op->a[2] |= EXTRA[below(6)];
    /* Without keys in the processor only "no key" is allowed. */
    if (op->call == C_PKEY_MPROTECT) op->a[3] = chance(70) ? -1UL : below(18);
    maybe_odd(&op->a[0], &op->a[1]);
    (void)self;
}

static void gen_mremap(struct op *op, const struct proc *self)
{
    static const u64 FLAGS[] = {0, 0, MREMAP_MAYMOVE, 3, 3, 3, 3, 3, 3, 7, 7, 5};
    u64 *a = op->a;
    a[3] = FLAGS[below(12)];
    if (is_odd()) a[3] = below(16);
    a[2] = a[1];
    if (!(a[3] & MREMAP_KEEP) || is_odd()) {
        if (chance(25)) a[2] = length();
        else if (chance(25)) a[2] += length();
        if (chance(3)) a[1] = 0;
    }
    a[4] = address(self);
    if (chance(25)) {
        const struct vma *vma = any_vma(self);
        if (vma && vma->start >= ARENA + a[2]) a[4] = chance(50) ? vma->end : vma->start - a[2];
    }
    a[4] = keep_inside(a[4]);
    if ((a[3] & 6) && a[2] < TOO_LONG) a[2] = fit(a[4], a[2]);
    if ((a[3] & MREMAP_KEEP) && !is_odd()) a[1] = a[2];
    maybe_odd(&a[0], &a[1]);
    maybe_odd(&a[4], &a[2]);
}

static u64 advice(void)
{
    static const unsigned USUAL[] = {0, 1, 2, 3, 4, 8, 9, 10, 10, 11, 11, 14, 15, 16, 17, 18, 19, 20, 21, 24};
    static const unsigned FAULTS[] = {22, 23, 23, 23};
    const struct style *style = &S->style;
    if (is_odd()) return chance(50) ? below(28) : 90 + below(20);
    if (style->ksm && chance(25)) return 12 + below(2);
    if (style->guard && chance(15)) return 102 + below(2);
    if (style->populate && chance(25)) return FAULTS[below(4)];
    if (chance(2)) return 25;
    return USUAL[below(sizeof USUAL / sizeof *USUAL)];
}

static void gen_process_madvise(struct op *op, const struct proc *self)
{
    static const unsigned REMOTE[] = {3, 20, 21};
    op->a[0] = FD_PIDFD;
    op->ranges = 1 + (int)below(MAX_RANGES);
    for (int i = 0; i < op->ranges; i++) {
        struct range range = existing(self);
        maybe_odd(&range.addr, &range.length);
        op->range[i][0] = range.addr;
        op->range[i][1] = range.length;
    }
    op->a[2] = (u64)op->ranges;
    op->a[3] = chance(40) ? REMOTE[below(3)] : advice();
    op->a[4] = is_odd() ? 1 + below(3) : 0;
    if (slot_of(self->parent) >= 0 && self->parent && chance(30)) op->a[0] = FD_PARENT;
}

static void gen_name(struct op *op)
{
    static const char *NAMES[] = {"a", "heap cache", "dalvik-main space", "x=1,y=2"};
    static const char *ODD[] = {"",         "bad[1]",   "tab\there", "q\"uote",     "back\\slash", "dollar$",
                                "tick`",    "caf\303\251", "\177",   "}{|~!#%&'()", "new\nline",   "br]",
                                " leading", "(deleted)"};
    op->has_text = !chance(12);
    if (op->has_text) strcpy(op->text, NAMES[below(S->style.names)]);
    if (op->has_text && (is_odd() || chance(2))) strcpy(op->text, ODD[below(14)]);
    if (op->has_text && is_odd()) {
        unsigned n = 78 + below(4);
        memset(op->text, 'n', n);
        op->text[n] = 0;
    }
    op->a[2] = is_odd() ? 1 + below(2) : 0;
    maybe_odd(&op->a[0], &op->a[1]);
}

static void gen_brk(struct op *op)
{
    op->a[0] = HEAP + PAGE * below(HEAP_PAGES - 10);
    if (chance(30)) op->a[0] += below(4096);
    if (chance(10)) op->a[0] = 0;
    if (is_odd()) op->a[0] = TOO_LONG;
}

static void gen_shmat(struct op *op, const struct proc *self)
{
    op->a[0] = (u64)S->segment[below(SEGMENTS)];
    op->a[1] = chance(90) ? address(self) : 0;
    op->a[2] = (chance(50) ? 040000 : 0) | (chance(20) ? 010000 : 0) | (chance(10) ? 0100000 : 0);
    if (is_odd()) op->a[1] += below(4096);
    if (chance(10)) op->a[2] |= 020000;
    if (is_odd()) op->a[0] = -1UL;
}

/* A whole or a part of an attached segment, seldom something else. */
static void gen_shmdt(struct op *op, const struct proc *self)
{
    for (int i = 0; i < self->vmas; i++) {
        const struct vma *vma = &self->vma[i];
        if (!strstr(vma->line, "/SYSV") || (vma->start < ARENA) || chance(40)) continue;
        op->a[0] = vma->start - (chance(85) ? vma->offset : 0);
        return;
    }
    op->a[0] = address(self);
    if (is_odd()) op->a[0] += 1 + below(4095);
}

static void gen_remap_file_pages(struct op *op, const struct proc *self)
{
    for (int i = 0; i < self->vmas; i++) {
        const struct vma *vma = &self->vma[i];
        if (!vma->shared || chance(50)) continue;
        unsigned pages = (unsigned)((vma->end - vma->start) / PAGE);
        unsigned from = chance(50) ? 0 : below(pages);
        op->a[0] = vma->start + PAGE * from;
        op->a[1] = PAGE * (1 + below(pages - from));
        if (chance(10)) op->a[1] += PAGE;
    }
    op->a[2] = is_odd() ? prot() : 0;
    op->a[3] = below(12);
    op->a[4] = chance(15) ? MAP_NONBLOCK : 0;
    if (is_odd()) op->a[3] = (1UL << 51) - 1 + below(12);
    if (is_odd()) op->a[3] = -1UL - below(12);
    if (is_odd()) op->a[4] |= 1UL << below(20);
    if (is_odd()) op->a[0] += below(4096);
    if (is_odd()) op->a[1] += below(4096);
    if (is_odd()) op->a[1] = -PAGE * (1 + below(8));
}

/* Only mapped pages: a touch below a stack would make it grow, which no trace shows. */
static bool gen_touch(struct op *op, const struct proc *self)
{
    const struct vma *vma = any_vma(self);
    if (!vma || (!vma->writable && !is_odd())) return false;
    if (vma->start < ARENA || vma->end > ARENA_END) return false;
    /* User-mode kernels may forget that pages past the end of a file went: those writes get no signal. */
    if (vma->shared) return false;
    unsigned pages = (unsigned)((vma->end - vma->start) / PAGE);
    unsigned from = below(pages);
    op->a[0] = vma->start + PAGE * from;
    op->a[1] = PAGE * (1 + below(pages - from < 4 ? pages - from : 4));
    return true;
}

static int alive(void)
{
    int n = 0;
    for (int i = 0; i < MAX_PROCS; i++) n += S->proc[i].label != 0;
    return n;
}

static unsigned fork_kind(void)
{
    const struct style *style = &S->style;
    if (style->share && chance(40)) return FORK_SHARE;
    if (style->vfork && chance(60)) return FORK_VFORK;
    return style->threads && chance(70) ? FORK_THREAD : FORK_COPY;
}

static int choose_call(void)
{
    unsigned total = 0;
    for (int i = 0; i < CALLS; i++) total += S->style.weight[i];
    unsigned at = below(total);
    for (int i = 0; i < CALLS; i++) {
        if (at < S->style.weight[i]) return i;
        at -= S->style.weight[i];
    }
    return C_MMAP;
}

static bool fill(struct op *op, const struct proc *self)
{
    static const u64 LOCK2[] = {1, 1, 1, 0};
    struct range range = existing(self);
    u64 *a = op->a;
    a[0] = range.addr;
    a[1] = range.length;
    switch (op->call) {
    case C_MMAP: memset(a, 0, sizeof op->a); gen_mmap(op, self); return true;
    case C_MPROTECT:
    case C_PKEY_MPROTECT: gen_mprotect(op, self); return true;
    case C_MREMAP: gen_mremap(op, self); return true;
    case C_MADVISE: a[2] = advice(); break;
    case C_PROCESS_MADVISE: memset(a, 0, sizeof op->a); gen_process_madvise(op, self); return true;
    case C_MSEAL:
        if (chance(60)) a[1] = PAGE; /* few pages, or soon nothing can be done any more */
        a[2] = is_odd() ? 1 : 0;
        break;
    case C_NAME: gen_name(op); return true;
    case C_BRK: memset(a, 0, sizeof op->a); gen_brk(op); return true;
    case C_MLOCK2: a[2] = is_odd() ? below(4) : LOCK2[below(4)]; break;
    case C_MLOCKALL: a[1] = 0; a[0] = is_odd() ? below(16) : 1 + below(7); return true;
    case C_MUNLOCKALL: a[0] = a[1] = 0; return true;
    case C_SHMAT: gen_shmat(op, self); return true;
    case C_SHMDT: a[1] = 0; gen_shmdt(op, self); return true;
    case C_REMAP_FILE_PAGES: gen_remap_file_pages(op, self); return true;
    case C_MEMORY_MERGE: a[1] = 0; a[0] = !chance(40); if (is_odd()) a[0] = 2; return true;
    case C_MDWE: a[1] = 0; a[0] = is_odd() ? below(5) : chance(70) ? 1 : 3; return true;
    case C_FILE_SEAL:
        a[0] = FD_MEMFD;
        a[1] = F_ADD_SEALS;
        a[2] = 8UL << below(2);
        return S->style.memfd;
    case C_RLIMIT: memset(a, 0, sizeof op->a); gen_rlimit(op, self, is_odd()); return true;
    case C_CAPSET: memset(a, 0, sizeof op->a); gen_capset(op); return true;
    case C_MBIND: gen_mbind(op, is_odd()); break;
    case C_HOME_NODE: gen_home_node(op, is_odd()); break;
    case C_TOUCH: a[2] = 23; return gen_touch(op, self);
    case C_FORK: a[1] = 0; a[0] = fork_kind(); return alive() < (int)S->style.procs;
    case C_EXEC: a[0] = a[1] = 0; return true;
    case C_EXIT: a[0] = a[1] = 0; return alive() > 1;
    }
    maybe_odd(&a[0], &a[1]);
    return true;
}

/* The next call of `self`. */
void generate(struct op *op, const struct proc *self)
{
    for (;;) {
        memset(op, 0, sizeof *op);
        op->pid = self->label;
        op->call = S->step < 2 ? C_MMAP : choose_call();
        if (fill(op, self) && is_safe(op)) return;
    }
}
