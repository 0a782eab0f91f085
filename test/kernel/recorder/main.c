/*
 * recorder --out FILE [--seed N] [--calls N] [--weights NAME=PERCENT,…] [--work DIR]
 * recorder --out FILE --script FILE [--work DIR]
 *
 * Random sequences, or exactly the calls of a text (a recording, or lines of one; each execve line begins a sequence).
 * --map-room N: vm.max_map_count leaves a process N VMAs more than it begins with (limit.c).
 * `--` ends the options: what starts us may append arguments of its own.
 */
#include "recorder.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/syscall.h>
#include <unistd.h>

struct shared *S;
const char *work_dir = "/dev/shm/vmalens";

struct options {
    const char *out, *script;
    u64 seed;
    unsigned calls, map_room;
    unsigned percent[CALLS];
};

static void fail(const char *what, const char *name)
{
    fprintf(stderr, "recorder: %s%s%s\n", what, name ? ": " : "", name ? name : "");
    exit(2);
}

/* `mmap=50,seal=0`: percent of the usual weight. `all=0,mmap=100` switches everything else off. */
static void read_weights(struct options *options, const char *text)
{
    char *list = strdup(text); /* the arguments are used again by execv */
    if (!list) fail("no memory", NULL);
    for (char *item = strtok(list, ","); item; item = strtok(NULL, ",")) {
        char *equal = strchr(item, '=');
        if (!equal) fail("a weight is NAME=PERCENT", item);
        *equal = 0;
        unsigned percent = (unsigned)strtoul(equal + 1, NULL, 10);
        int call = call_by_option(item);
        if (call >= 0) options->percent[call] = percent;
        else if (!strcmp(item, "all"))
            for (int i = 0; i < CALLS; i++) options->percent[i] = percent;
        else fail("no such call", item);
    }
}

static struct options read_options(int count, char **args)
{
    struct options options = {.seed = 1, .calls = 2000};
    for (int i = 0; i < CALLS; i++) options.percent[i] = 100;
    for (int i = 1; i < count && strcmp(args[i], "--"); i += 2) {
        char *value = i + 1 < count ? args[i + 1] : NULL;
        if (!value) fail("a value is missing", args[i]);
        if (!strcmp(args[i], "--out")) options.out = value;
        else if (!strcmp(args[i], "--script")) options.script = value;
        else if (!strcmp(args[i], "--seed")) options.seed = strtoul(value, NULL, 10);
        else if (!strcmp(args[i], "--calls")) options.calls = (unsigned)strtoul(value, NULL, 10);
        else if (!strcmp(args[i], "--weights")) read_weights(&options, value);
        else if (!strcmp(args[i], "--map-room")) options.map_room = (unsigned)strtoul(value, NULL, 10);
        else if (!strcmp(args[i], "--work")) work_dir = value;
        else fail("no such option", args[i]);
    }
    if (!options.out) fail("--out is missing", NULL);
    return options;
}

/* The same addresses in every run, so that places that the kernel chooses repeat. */
static void without_randomness(char **args)
{
    int persona = personality(0xffffffff);
    if (persona < 0 || (persona & ADDR_NO_RANDOMIZE)) return;
    if (personality((unsigned long)persona | ADDR_NO_RANDOMIZE) >= 0) execv("/proc/self/exe", args);
}

static void write_header(const struct options *options)
{
    const struct probe *can = &S->probe;
    emit("# recording 1\n# kernel %s\n# without%s%s%s%s%s%s\n", can->release, can->names ? "" : " anon-names",
         can->ksm ? "" : " ksm", can->thp ? "" : " thp", can->soft_dirty ? "" : " soft-dirty", can->swap ? "" : " swap",
         can->pkeys ? "" : " pkeys");
    emit("# can%s%s%s%s%s%s%s%s%s%s\n", can->mseal ? " mseal" : "", can->guard ? " guard" : "",
         can->droppable ? " droppable" : "", can->memory_merge ? " memory-merge" : "", can->mdwe ? " mdwe" : "",
         can->pkey ? " pkey" : "", can->set_brk ? " brk" : "", can->sysv ? " sysv" : "",
         can->mbind ? " mbind" : "", can->home_node ? " home-node" : "");
    emit("# rules%s%s\n", can->heap_executable ? " heapExecutable=true" : "", can->low_maps ? "" : " map32Bit=false");
    if (S->map_room) emit("# map-room %u\n", S->map_room);
    if (!options->script) emit("# seed %lu\n", options->seed);
}

static bool record_random(const struct options *options)
{
    for (unsigned sequence = 0; S->calls < options->calls; sequence++) {
        seed_rnd(options->seed, sequence);
        choose_style(options->percent);
        emit("# sequence %u\n", sequence);
        if (!run_sequence()) return false;
    }
    return true;
}

/* Ids of SysV segments differ from run to run: the text says which id was which size. */
static void note_segment(const char *line, int *from)
{
    unsigned long size;
    int id;
    const char *call = strstr(line, "shmget(");
    if (!call || sscanf(call, "shmget(%*[^,], %lu, %*[^)]) = %d", &size, &id) != 2) return;
    for (int i = 0; i < SEGMENTS; i++)
        if (SEGMENT_PAGES[i] * PAGE == size) from[i] = id;
}

static void own_segment(struct op *op, const int *from)
{
    for (int i = 0; op->call == C_SHMAT && i < SEGMENTS; i++)
        if ((int)op->a[0] == from[i]) {
            op->a[0] = (u64)S->segment[i];
            return;
        }
}

static bool run_script(void)
{
    bool done = S->script_ops == 0 || run_sequence();
    S->script_at = S->script_ops = 0;
    S->style.limits = false;
    return done;
}

static char *script_text;
static size_t script_size;

/* In a process that plays the script: the same memory as one that makes random calls has. */
void drop_script(void)
{
    if (script_text) munmap(script_text, script_size);
}

/* The whole file; its descriptor must not stay open, or those of the sequences change. */
static char *read_text(const char *name)
{
    FILE *file = fopen(name, "r");
    long size;
    if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0) fail(strerror(errno), name);
    script_size = (size_t)size + 1;
    char *text = mmap(NULL, script_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (text == MAP_FAILED) fail("no memory", name);
    rewind(file);
    if (fread(text, 1, (size_t)size, file) != (size_t)size) fail("cannot read", name);
    fclose(file);
    return text;
}

static bool record_script(const struct options *options)
{
    int from[SEGMENTS] = {-1, -1, -1};
    char *rest = script_text = read_text(options->script);
    S->scripted = true;
    bool done = true;
    for (char *line; done && (line = strsep(&rest, "\n"));) {
        note_segment(line, from);
        if (strstr(line, " execve(") && !strstr(line, "\"again\"")) {
            done = run_script();
            if (done) emit("# sequence\n");
            S->script_root = atoi(line);
        }
        struct op *op = &S->script[S->script_ops];
        if (!parse_op(line, op) || !is_safe(op)) continue;
        own_segment(op, from);
        if (op->call == C_RLIMIT || op->call == C_CAPSET) S->style.limits = true;
        if (++S->script_ops == MAX_OPS) fail("a sequence is too long", options->script);
    }
    return done && run_script();
}

/* One at a time: files and segments have the same names in every run. The lock goes with the process. */
static void wait_for_others(void)
{
    char path[256];
    snprintf(path, sizeof path, "%s.lock", work_dir);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || dup2(fd, LOCK_FD) < 0 || flock(LOCK_FD, LOCK_EX)) fail(strerror(errno), path);
    close(fd);
}

/* What all processes of a run share; a file, so that a program that replaced another one finds it again. */
static void map_shared(void)
{
    S = mmap(NULL, sizeof *S, PROT_READ | PROT_WRITE, MAP_SHARED, SHARED_FD, 0);
    if (S == MAP_FAILED) fail("no memory", NULL);
}

int main(int count, char **args)
{
    if (count == 5 && !strcmp(args[1], "--resume")) {
        work_dir = args[4];
        map_shared();
        resume_sequence(atoi(args[2]));
    }
    struct options options = read_options(count, args);
    without_randomness(args);
    int shared = (int)syscall(SYS_memfd_create, "recorder", 0);
    if (shared < 0 || ftruncate(shared, sizeof *S) || dup2(shared, SHARED_FD) < 0) fail("no memory", NULL);
    map_shared();
    int out = open(options.out, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0644);
    if (out < 0 || dup2(out, OUT_FD) < 0) fail(strerror(errno), options.out);
    for (int fd = 3; fd < OUT_FD; fd++) close(fd);
    S->next_label = FIRST_LABEL;
    S->map_room = options.map_room;
    probe_kernel(&S->probe);
    signal(SIGCHLD, SIG_IGN);
    if (S->map_room && !remember_limit()) fail("cannot read vm.max_map_count", NULL);
    wait_for_others();
    if (!make_shared_things()) fail("cannot make files in", work_dir);
    write_header(&options);
    bool done = options.script ? record_script(&options) : record_random(&options);
    if (!done) emit("\n# a process was lost\n");
    emit("# end\n");
    flush_out();
    if (S->map_room) restore_limit();
    remove_shared_things();
    return done ? 0 : 1;
}
