/* What the kernel supports: found out by trying, never concluded from its version. */
#include "recorder.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define SYS_MSEAL 462
#define ADVICE_GUARD_INSTALL 102
#define TYPE_DROPPABLE 8
#define MEMORY_MERGE 67
#define MDWE 65

/* Runs `test` in a process of its own: what it changes is gone afterwards. */
static bool in_child(bool (*test)(void))
{
    pid_t pid = fork();
    if (pid == 0) _exit(test() ? 0 : 1);
    int status;
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void *map(size_t length, int type)
{
    return mmap(NULL, length, PROT_READ | PROT_WRITE, type | MAP_ANONYMOUS, -1, 0);
}

static bool names(void) { return !prctl(0x53564d41, 0, map(PAGE, MAP_PRIVATE), PAGE, "x"); }
static bool ksm(void) { return !madvise(map(PAGE, MAP_PRIVATE), PAGE, MADV_MERGEABLE); }
static bool thp(void) { return !madvise(map(PAGE, MAP_PRIVATE), PAGE, MADV_NOHUGEPAGE); }
static bool mseals(void) { return !syscall(SYS_MSEAL, map(PAGE, MAP_PRIVATE), PAGE, 0); }
static bool guard(void) { return !madvise(map(PAGE, MAP_PRIVATE), PAGE, ADVICE_GUARD_INSTALL); }
static bool droppable(void) { return map(PAGE, TYPE_DROPPABLE) != MAP_FAILED; }
static bool memory_merge(void) { return !prctl(MEMORY_MERGE, 1, 0, 0, 0); }
static bool mdwe(void) { return !prctl(MDWE, 1, 0, 0, 0); }
static bool sysv(void)
{
    int id = shmget(IPC_PRIVATE, PAGE, 0600);
    return id >= 0 && !shmctl(id, IPC_RMID, NULL);
}

/* The call, not the keys: those need a processor that has them. */
static bool pkey(void) { return !syscall(SYS_pkey_mprotect, map(PAGE, MAP_PRIVATE), PAGE, PROT_READ, -1); }

static bool pkeys(void) { return syscall(SYS_pkey_alloc, 0, 0) > 0; }

/* MAP_32BIT: x86-64 has it, user-mode kernels pass it over. */
static bool low_maps(void)
{
    void *place = mmap((void *)ARENA, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
    return (unsigned long)place < 1UL << 32;
}

static bool set_brk(void)
{
    return place_heap() && syscall(SYS_brk, 0) == (long)HEAP && syscall(SYS_brk, HEAP + PAGE) == (long)(HEAP + PAGE);
}

/* Where the architecture, or the personality, makes data executable. */
static bool heap_executable(void)
{
    static struct proc self;
    return set_brk() && read_vmas(&self) && self.vmas == 1 && strstr(self.vma[0].line, " rwxp ") != NULL;
}

/* Reading ahead from swap: only there can anonymous memory be asked for. */
static bool swap(void) { return !madvise(map(PAGE, MAP_PRIVATE), PAGE, MADV_WILLNEED); }

/* A new mapping shows `sd` in VmFlags. */
static bool soft_dirty(void)
{
    static struct proc self;
    if (mmap((void *)ARENA, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) return false;
    return read_vmas(&self) && self.vmas == 1 && strstr(self.vma[0].line, "sd") != NULL;
}

/* A kernel without NUMA has neither call. */
static bool mbind(void)
{
    struct op op = {.call = C_MBIND, .a = {(u64)map(PAGE, MAP_PRIVATE), PAGE, 2, 1, 64, 0}};
    return !make_call(&op);
}

static bool home_node(void)
{
    struct op op = {.call = C_HOME_NODE, .a = {ARENA, PAGE}};
    return make_call(&op) && errno != ENOSYS;
}

void probe_kernel(struct probe *probe)
{
    struct utsname uts;
    struct rlimit lock;
    uname(&uts);
    /* The version alone: what a builder appends says nothing about the rules. */
    snprintf(probe->release, sizeof probe->release, "%.*s", (int)strspn(uts.release, "0123456789."), uts.release);
    probe->names = in_child(names);
    probe->ksm = in_child(ksm);
    probe->thp = in_child(thp);
    probe->soft_dirty = in_child(soft_dirty);
    probe->swap = in_child(swap);
    probe->heap_executable = in_child(heap_executable);
    probe->mseal = in_child(mseals);
    probe->guard = in_child(guard);
    probe->droppable = in_child(droppable);
    probe->memory_merge = in_child(memory_merge);
    probe->mdwe = in_child(mdwe);
    probe->set_brk = in_child(set_brk);
    probe->sysv = in_child(sysv);
    probe->mbind = in_child(mbind);
    probe->home_node = in_child(home_node);
    probe->pkey = in_child(pkey);
    probe->pkeys = in_child(pkeys);
    probe->low_maps = in_child(low_maps);
    /* Locking without a limit: else how much may be locked depends on what lies outside of the arena. */
    probe->root = geteuid() == 0 || (!getrlimit(RLIMIT_MEMLOCK, &lock) && lock.rlim_cur == RLIM_INFINITY);
}
