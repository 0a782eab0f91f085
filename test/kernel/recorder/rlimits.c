/* Limits of a process, and the capabilities that lift them. */
#include "recorder.h"
#include <fcntl.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    int resource;
    const char *used; /* its line in /proc/self/status */
} LIMITS[] = {{"RLIMIT_AS", RLIMIT_AS, "VmSize:"},
              {"RLIMIT_DATA", RLIMIT_DATA, "VmData:"},
              {"RLIMIT_MEMLOCK", RLIMIT_MEMLOCK, "VmLck:"},
              {"RLIMIT_STACK", RLIMIT_STACK, "VmStk:"}};
#define KINDS (sizeof LIMITS / sizeof *LIMITS)
#define NO_LIMIT (~0UL)

/* C_RLIMIT: a[0] index into LIMITS, a[1] soft, a[2] hard, a[3] how; op.whose */
enum { BY_PRLIMIT, BY_SETRLIMIT, READING };
/* C_CAPSET: a[0] which of CAPS become effective */
static const struct {
    const char *name;
    int bit;
} CAPS[] = {{"CAP_IPC_LOCK", CAP_IPC_LOCK}, {"CAP_SYS_RESOURCE", CAP_SYS_RESOURCE}};
#define CAP_COUNT (sizeof CAPS / sizeof *CAPS)

/* Bytes that the calling process uses of a limit. */
static u64 used(const char *line)
{
    static char text[4096];
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    text[n > 0 ? n : 0] = 0;
    const char *found = strstr(text, line);
    return found ? strtoul(found + strlen(line), NULL, 10) * 1024 : 0;
}

/* Mostly near what is used, so that the next calls come to it. */
static u64 some_limit(u64 now)
{
    unsigned kind = below(20);
    if (kind < 6) return NO_LIMIT;
    if (kind < 8) return 0;
    u64 limit = (kind < 17 ? now : 0) + PAGE * below(kind < 12 ? 12 : 64);
    return below(8) ? limit : limit + below(4096);
}

void gen_rlimit(struct op *op, const struct proc *self, bool odd)
{
    op->a[0] = below(KINDS);
    op->a[3] = below(3) ? BY_PRLIMIT : below(3) ? BY_SETRLIMIT : READING;
    op->a[1] = some_limit(used(LIMITS[op->a[0]].used));
    struct rlimit now = {0, NO_LIMIT};
    getrlimit(LIMITS[op->a[0]].resource, &now);
    op->a[2] = below(8) ? now.rlim_max : op->a[1] == NO_LIMIT ? NO_LIMIT : op->a[1] + PAGE * below(40);
    if (op->a[1] > op->a[2] && below(8)) op->a[1] = op->a[2];
    if (odd) op->a[2] = below(2) ? op->a[1] / 2 : NO_LIMIT;
    if (op->a[3] != BY_SETRLIMIT && !below(4)) {
        const struct proc *other = &S->proc[below(MAX_PROCS)];
        op->whose = other->label ? other->label : self->label;
    }
}

void gen_capset(struct op *op) { op->a[0] = below(1U << CAP_COUNT); }

long make_rlimit(const struct op *op)
{
    struct rlimit limit = {op->a[1], op->a[2]};
    int resource = LIMITS[op->a[0]].resource;
    if (op->a[3] == BY_SETRLIMIT) return syscall(SYS_setrlimit, resource, &limit);
    int slot = op->whose ? slot_of(op->whose) : me;
    return syscall(SYS_prlimit64, slot == me ? 0 : S->proc[slot].task, resource, op->a[3] == READING ? NULL : &limit,
                   op->a[3] == READING ? &limit : NULL);
}

static void capabilities(struct __user_cap_data_struct *data)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    if (syscall(SYS_capget, &header, data)) S->failed = true;
}

/* What is permitted stays: only so can a capability come back. */
static void wanted(const struct op *op, struct __user_cap_data_struct *data)
{
    capabilities(data);
    for (size_t i = 0; i < CAP_COUNT; i++) {
        unsigned word = (unsigned)CAPS[i].bit / 32, bit = 1U << CAPS[i].bit % 32;
        data[word].effective &= ~bit;
        if (op->a[0] >> i & 1) data[word].effective |= data[word].permitted & bit;
    }
}

long make_capset(const struct op *op)
{
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2];
    wanted(op, data);
    return syscall(SYS_capset, &header, data);
}

static int put_limit(char *at, size_t size, u64 value)
{
    if (value == NO_LIMIT) return snprintf(at, size, "RLIM64_INFINITY");
    if (value > 1024 && value % 1024 == 0) return snprintf(at, size, "%lu*1024", value / 1024);
    return snprintf(at, size, "%lu", value);
}

void print_rlimit(char *text, size_t size, const struct op *op)
{
    char limit[160];
    struct rlimit found = {op->a[1], op->a[2]};
    int whose = op->whose == S->proc[me].label ? 0 : op->whose;
    if (op->a[3] == READING) getrlimit(LIMITS[op->a[0]].resource, &found);
    int slot = whose ? slot_of(whose) : me;
    if (op->a[3] == READING && slot >= 0 && slot != me)
        syscall(SYS_prlimit64, S->proc[slot].task, LIMITS[op->a[0]].resource, NULL, &found);
    int n = snprintf(limit, sizeof limit, "{rlim_cur=");
    n += put_limit(limit + n, sizeof limit - (size_t)n, found.rlim_cur);
    n += snprintf(limit + n, sizeof limit - (size_t)n, ", rlim_max=");
    n += put_limit(limit + n, sizeof limit - (size_t)n, found.rlim_max);
    snprintf(limit + n, sizeof limit - (size_t)n, "}");
    const char *name = LIMITS[op->a[0]].name;
    if (op->a[3] == BY_SETRLIMIT) snprintf(text, size, "setrlimit(%s, %s)", name, limit);
    else if (op->a[3] == READING) snprintf(text, size, "prlimit64(%d, %s, NULL, %s)", whose, name, limit);
    else snprintf(text, size, "prlimit64(%d, %s, %s, NULL)", whose, name, limit);
}

/* The set in which only CAPS matter: those by name, the rest as one number. */
static void put_set(char *text, size_t size, const __u32 *word)
{
    u64 rest = (u64)word[1] << 32 | word[0];
    int n = 0;
    for (size_t i = 0; i < CAP_COUNT; i++) {
        u64 bit = 1UL << CAPS[i].bit;
        if (rest & bit) n += snprintf(text + n, size - (size_t)n, "%s1<<%s", n ? "|" : "", CAPS[i].name);
        rest &= ~bit;
    }
    if (rest || !n) snprintf(text + n, size - (size_t)n, rest ? "%s%#lx" : "%s0", n ? "|" : "", rest);
}

void print_capset(char *text, size_t size, const struct op *op)
{
    struct __user_cap_data_struct data[2];
    char effective[128], permitted[128];
    wanted(op, data);
    put_set(effective, sizeof effective, (__u32[]){data[0].effective, data[1].effective});
    put_set(permitted, sizeof permitted, (__u32[]){data[0].permitted, data[1].permitted});
    snprintf(text, size,
             "capset({version=_LINUX_CAPABILITY_VERSION_3, pid=0}, {effective=%s, permitted=%s, inheritable=0})",
             effective, permitted);
}

static u64 parse_limit(const char *at)
{
    char *end;
    if (!strncmp(at, "RLIM", 4)) return NO_LIMIT;
    u64 value = strtoul(at, &end, 10);
    return strncmp(end, "*1024", 5) ? value : value * 1024;
}

/* `prlimit64(0, RLIMIT_AS, {rlim_cur=…, rlim_max=…}, NULL)`, `prlimit64(0, RLIMIT_AS, NULL, …`, `setrlimit(RLIMIT_AS, …` */
bool parse_rlimit(const char *text, struct op *op)
{
    op->call = C_RLIMIT;
    op->a[3] = text[0] == 's' ? BY_SETRLIMIT : BY_PRLIMIT;
    const char *at = text + 10;
    if (op->a[3] == BY_PRLIMIT) {
        op->whose = atoi(at);
        at = strstr(at, ", ");
        if (!at) return false;
        at += 2;
    }
    for (op->a[0] = 0; op->a[0] < KINDS; op->a[0]++) {
        size_t n = strlen(LIMITS[op->a[0]].name);
        if (strncmp(at, LIMITS[op->a[0]].name, n) || strncmp(at + n, ", ", 2)) continue;
        at += n + 2;
        if (!strncmp(at, "NULL", 4)) op->a[3] = READING;
        const char *soft = strstr(at, "rlim_cur="), *hard = strstr(at, "rlim_max=");
        if (!soft || !hard) return false;
        op->a[1] = parse_limit(soft + 9);
        op->a[2] = parse_limit(hard + 9);
        return true;
    }
    return false;
}

bool parse_capset(const char *text, struct op *op)
{
    const char *set = strstr(text, "effective="), *end = set ? strstr(set, ", permitted=") : NULL;
    op->call = C_CAPSET;
    if (!end) return false;
    for (size_t i = 0; i < CAP_COUNT; i++) {
        const char *found = strstr(set, CAPS[i].name);
        if (found && found < end) op->a[0] |= 1UL << i;
    }
    return true;
}

/* What the limits are to begin with. */
void show_rlimits(void)
{
    for (size_t i = 0; i < KINDS; i++) {
        struct op op = {.pid = S->proc[me].label, .call = C_RLIMIT, .a = {i, 0, 0, READING}};
        emit_call(&op, (struct outcome){0, 0});
    }
}
