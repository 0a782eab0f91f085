/* Which calls the recorder may make. */
#include "recorder.h"

/* Nothing outside of the arena may be changed, and no page may be poisoned. */

static bool inside(u64 addr, u64 length)
{
    if (addr < PAGE && length <= 16 * PAGE) return true; /* nothing is mapped there */
    return addr >= ARENA && addr < ARENA_END && length <= ARENA_END - addr;
}

#define PROT_DOWN 0x1000000 /* PROT_GROWSDOWN */

/* The last page below TOO_LONG is the guard page that no process has. */
static bool refused(u64 addr, u64 length) { return length >= TOO_LONG || addr >= TOO_LONG - PAGE; }

/* The length rounds up to 0, or the rounded range ends before it starts. */
static bool wraps(u64 addr, u64 length)
{
    u64 rounded = (length + PAGE - 1) & ~(PAGE - 1);
    return rounded < length || addr + rounded < addr;
}

static bool advice_is_safe(u64 addr, u64 length, u64 advice)
{
    if (advice == 100 || advice == 101) return false;
    return inside(addr, length) || wraps(addr, length);
}

bool is_safe(const struct op *op)
{
    const u64 *a = op->a;
    switch (op->call) {
    case C_MMAP:
        if ((a[3] & 0x40020) == 0x40020 && (a[3] >> 26 & 63) != BAD_HUGE_SIZE) return false; /* 2 MiB at once */
        if (!(a[3] & 0x100010)) return a[1] <= 64 * PAGE || a[1] >= TOO_LONG;
        return (inside(a[0], a[1]) && a[0] >= PAGE) || refused(a[0], a[1]);
    case C_MUNMAP: return inside(a[0], a[1]) || refused(a[0], a[1]);
    case C_MPROTECT:
    case C_PKEY_MPROTECT:
        /* This takes the first VMA in the range wherever it is: else that of the recorder's own stack. */
        if ((a[2] & PROT_DOWN) && !inside(a[0], a[1])) return wraps(a[0], a[1]);
        return inside(a[0], a[1]) || refused(a[0], a[1]);
    case C_MSEAL:
    case C_MLOCK:
    case C_MLOCK2:
    case C_MUNLOCK:
        /* All of these stop at the gap that ends the arena. */
        return inside(a[0], a[1]) || refused(a[0], a[1]);
    case C_MREMAP:
        if (!inside(a[0], a[1]) && !refused(a[0], a[1])) return false;
        if (a[2] > 64 * PAGE && a[2] < TOO_LONG) return false;
        return !(a[3] & 6) || (inside(a[4], a[2]) && a[4] >= PAGE) || refused(a[4], a[2]);
    case C_MBIND:
    case C_HOME_NODE: return inside(a[0], a[1]) || wraps(a[0], a[1]);
    case C_MADVISE: return advice_is_safe(a[0], a[1], a[2]);
    case C_PROCESS_MADVISE:
        for (int i = 0; i < op->ranges; i++)
            if (!advice_is_safe(op->range[i][0], op->range[i][1], a[3])) return false;
        return true;
    case C_NAME: return inside(a[0], a[1]) || wraps(a[0], a[1]);
    case C_BRK: return a[0] <= PAGE || (a[0] >= HEAP && a[0] <= HEAP + HEAP_PAGES * PAGE) || a[0] >= TOO_LONG;
    case C_FILE_SEAL: return a[0] == FD_MEMFD && a[1] == 1033 && a[2] && !(a[2] & ~24UL);
    case C_SHMAT: return a[1] == 0 || inside(a[1], 8 * PAGE);
    case C_SHMDT: return inside(a[0], PAGE) || a[0] % PAGE;
    case C_REMAP_FILE_PAGES: return (inside(a[0], a[1]) && a[0] >= PAGE) || wraps(a[0], a[1]);
    default: return true;
    }
}
