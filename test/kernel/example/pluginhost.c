/* pluginhost: the small program behind the example trace.
 *
 * It plays a server that loads plugins and compiles them: named regions, one name over several VMAs, a compiler
 * thread, seals, three workers and a grandchild that change their copies, calls that a seal refuses, an exec.
 * Each process writes what its own /proc/self/smaps says to NN-LABEL.PID.smaps in the current directory.
 *
 *   pluginhost            plays the whole story
 *   pluginhost report     only writes its snapshot: what an exec leaves of the old address space (nothing)
 *
 * It must be linked statically (few VMAs, no loader in the trace). Refused calls are part of the story and are
 * never an error here: on a kernel without mseal or without names the same story takes another course.
 *
 * Whether neighbouring VMAs may merge can depend on which of them were written to, which no trace shows. So
 * every region that splits and merges later is populated by its mmap (MAP_POPULATE) or carries its own name.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#define PR_SET_VMA_ANON_NAME 0
#endif
#ifndef SYS_mseal
#define SYS_mseal 462
#endif

#define KB 1024UL
#define PAGE (4 * KB)
#define RW (PROT_READ | PROT_WRITE)
#define PRIVATE (MAP_PRIVATE | MAP_ANONYMOUS)

enum {
    ARENA = 256 * KB,                     /* [loaders 64][images 64][plugins 128] */
    LOADERS = 64 * KB,
    IMAGES = 64 * KB,
    CODE = 112 * KB,                      /* [draft 32][published 32][guard 16][stubs 32] */
    DRAFT = 32 * KB,
    PUBLISHED = 32 * KB,
    GUARD = 16 * KB,
    STUBS = 32 * KB,
    CONFIG = 16 * KB,
    RING = 32 * KB,
    KEYS = 8 * KB,
    JOURNAL = 16 * KB,
    STACK = 64 * KB,
};

/* What the event ring holds: for each worker who it is and the events it waits for or gives. */
struct worker {
    pid_t pid;
    sem_t go, played, quit;
};
struct ring {
    int used;
    struct worker workers[8];
};

static char *arena, *code, *config, *keys, *journal;
static struct ring *ring;
static sem_t work_to_compile;

/* ---- small helpers ---- */

static char *map(size_t length, int prot, int flags)
{
    char *at = mmap(NULL, length, prot, flags, -1, 0);
    if (at == MAP_FAILED) {
        perror("mmap");
        _exit(1);
    }
    return at;
}

static void name(char *at, size_t length, const char *text)
{
    (void)prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, at, length, text);
}

static void seal(char *at, size_t length)
{
    (void)syscall(SYS_mseal, at, length, 0);
}

/* Copies /proc/self/smaps to LABEL.PID.smaps. The buffer exists from the start, so reading changes no VMA. */
static void snapshot(const char *label)
{
    static char page[8192];
    char path[80];
    int from, to;
    ssize_t got;

    snprintf(path, sizeof path, "%s.%d.smaps", label, (int)getpid());
    from = open("/proc/self/smaps", O_RDONLY);
    to = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (from < 0 || to < 0) {
        perror(path);
        _exit(1);
    }
    while ((got = read(from, page, sizeof page)) > 0)
        if (write(to, page, (size_t)got) != got)
            _exit(1);
    close(from);
    close(to);
}

/* ---- the host prepares ---- */

/* A user-mode kernel makes .bss and heap executable, which no other does. Taken back before the story begins, so
 * that the example has no writable code by accident. (For the same reason the story itself leaves brk alone.)
 * glibc's start-up puts the static thread block at the beginning of the heap, so that tells where it is.
 */
static void plain_data(void)
{
    extern char edata, end;
    uintptr_t bss = ((uintptr_t)&edata + PAGE - 1) & -PAGE;
    uintptr_t bss_end = ((uintptr_t)&end + PAGE - 1) & -PAGE;
    uintptr_t heap = (uintptr_t)pthread_self() & -PAGE;
    uintptr_t heap_end = ((uintptr_t)sbrk(0) + PAGE - 1) & -PAGE;

    mprotect((void *)bss, bss_end - bss, RW);
    mprotect((void *)heap, heap_end - heap, RW);
}

/* Runs in a thread of the host: it shares the address space, so what it does is done for all. */
static void *compile(void *unused)
{
    char *published = code + DRAFT;

    sem_wait(&work_to_compile);
    memset(published, 0xc3, PUBLISHED); /* x86: ret */
    mprotect(published, PUBLISHED, PROT_READ | PROT_EXEC);
    return unused;
}

static void make_arena(void)
{
    arena = map(ARENA, RW, PRIVATE | MAP_POPULATE);
    name(arena, ARENA, "plugin arena");
    /* A change of protection in the middle makes three VMAs of one; the name is not copied, it is shared. */
    mprotect(arena + LOADERS, IMAGES, PROT_READ);
}

static void make_code_cache(void)
{
    char *stack = map(STACK, RW, PRIVATE | MAP_POPULATE);
    pthread_attr_t attr;
    pthread_t compiler;

    name(stack, STACK, "compiler stack");
    code = map(CODE, PROT_NONE, PRIVATE);
    mprotect(code, DRAFT + PUBLISHED, RW);
    mprotect(code + CODE - STUBS, STUBS, RW);
    name(code, CODE, "code cache"); /* one call, three VMAs, one name object */
    memset(code, 0, DRAFT);
    memset(code + CODE - STUBS, 0, STUBS);

    sem_init(&work_to_compile, 0, 0);
    pthread_attr_init(&attr);
    pthread_attr_setstack(&attr, stack, STACK);
    if (pthread_create(&compiler, &attr, compile, NULL) != 0)
        _exit(1);
    sem_post(&work_to_compile);
    pthread_join(compiler, NULL);
    munmap(stack, STACK);
    seal(code + DRAFT, PUBLISHED);
    ((void (*)(void))(code + DRAFT))();
}

static void make_config(void)
{
    config = map(CONFIG, RW, PRIVATE | MAP_POPULATE);
    name(config, CONFIG, "config");
    strcpy(config, "plugins=image,sound\n");
    mprotect(config, CONFIG, PROT_READ);
    seal(config, CONFIG);
}

static void make_the_rest(void)
{
    journal = map(JOURNAL, RW, PRIVATE | MAP_POPULATE);
    name(journal, JOURNAL, "host journal");
    madvise(journal, JOURNAL, MADV_DONTFORK);

    ring = (struct ring *)map(RING, RW, MAP_SHARED | MAP_ANONYMOUS);
    name((char *)ring, RING, "event ring");

    keys = map(KEYS, RW, PRIVATE);
    name(keys, KEYS, "session keys");
    mlock(keys, KEYS);
    madvise(keys, KEYS, MADV_WIPEONFORK);
    madvise(keys, KEYS, MADV_DONTDUMP);
}

/* ---- the workers ---- */

/* Starts a worker and waits until it has played its part. It lives on: stop() ends it. It begins only when the
 * fork has returned here, so that the trace shows one after the other.
 */
static struct worker *start(void (*play)(void))
{
    struct worker *w = &ring->workers[ring->used++];
    pid_t pid;

    if (sem_init(&w->go, 1, 0) < 0 || sem_init(&w->played, 1, 0) < 0 || sem_init(&w->quit, 1, 0) < 0)
        _exit(1);
    pid = fork();
    if (pid < 0)
        _exit(1);
    if (pid == 0) {
        sem_wait(&w->go);
        play();
        sem_post(&w->played);
        sem_wait(&w->quit);
        _exit(0);
    }
    w->pid = pid;
    sem_post(&w->go);
    sem_wait(&w->played);
    return w;
}

static void stop(struct worker *w)
{
    sem_post(&w->quit);
    waitpid(w->pid, NULL, 0);
}

/* Renames a part of what it inherited, and has a region of its own that grows: first it must move (it lies in
 * the hole that the journal left), then it need not.
 */
static void renaming_worker(void)
{
    char *scratch;

    name(arena, LOADERS, "worker 1 arena");
    memset(arena, 1, LOADERS); /* the pages are its own from now on; the VMAs and names do not change */
    scratch = map(JOURNAL, RW, PRIVATE | MAP_POPULATE);
    name(scratch, JOURNAL, "worker 1 scratch");
    scratch = mremap(scratch, JOURNAL, 2 * JOURNAL, MREMAP_MAYMOVE);
    (void)mremap(scratch, 2 * JOURNAL, 4 * JOURNAL, MREMAP_MAYMOVE);
    snapshot("02-renaming");
}

static void grandchild(void)
{
    name(arena, ARENA, "bad [name]"); /* brackets are not allowed in a name */
    name(arena, ARENA, "grandchild arena");
    snapshot("03-grandchild");
}

/* Gives up a part of what it inherited, then has a child itself. */
static void unmapping_worker(void)
{
    munmap(code + CODE - STUBS, STUBS);
    stop(start(grandchild));
    snapshot("04-unmapping");
}

/* Tries to get round the seals. */
static void breaking_worker(void)
{
    /* Only sealed memory: nothing happens. */
    munmap(config, CONFIG);
    mprotect(config, CONFIG, RW);
    madvise(config, CONFIG, MADV_DONTNEED);
    (void)mremap(config, CONFIG, 2 * CONFIG, MREMAP_MAYMOVE);
    (void)mmap(config, CONFIG, RW, PRIVATE | MAP_FIXED, -1, 0);
    /* Begins before the seal: refused too, but since 6.12 not without a trace. */
    mprotect(code, DRAFT + PUBLISHED, PROT_READ);
    munmap(code + DRAFT / 2, DRAFT / 2 + PUBLISHED);
    /* Allowed: a seal protects the mapping, not its name or its place in a core dump. */
    name(config, CONFIG, "config (inspected)");
    madvise(config, CONFIG / 2, MADV_DONTDUMP);
    snapshot("05-refused");
}

/* ---- the story ---- */

static void report(const char *self)
{
    pid_t child = vfork();

    if (child == 0) {
        execl(self, self, "report", (char *)NULL);
        _exit(127);
    }
    waitpid(child, NULL, 0);
}

static void tidy_up(void)
{
    mprotect(arena + LOADERS, IMAGES, RW); /* three VMAs become one again */
    name(arena, ARENA, NULL);
    munmap(journal, JOURNAL);
}

int main(int argc, char **argv)
{
    struct worker *renaming, *unmapping, *breaking;

    plain_data();
    if (argc > 1 && strcmp(argv[1], "report") == 0) {
        snapshot("06-report");
        return 0;
    }
    snapshot("00-start");
    make_arena();
    make_code_cache();
    make_config();
    make_the_rest();
    snapshot("01-ready");
    renaming = start(renaming_worker);
    unmapping = start(unmapping_worker);
    breaking = start(breaking_worker);
    stop(renaming);
    stop(unmapping);
    stop(breaking);
    report(argv[0]);
    tidy_up();
    snapshot("07-end");
    return 0;
}
