/* The table of calls: how each is made, printed as strace prints it, and read back from such text. */
#include "words.h"
#include <ctype.h>
#include <errno.h>
#include <linux/prctl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_process_madvise
#define SYS_process_madvise 440
#endif
#ifndef SYS_mseal
#define SYS_mseal 462
#endif
#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41
#endif
#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#endif
#ifndef PR_SET_MEMORY_MERGE
#define PR_SET_MEMORY_MERGE 67
#endif

/*
 * Arguments by letter: a address, n decimal number, o hex offset, x hex number, d descriptor, p PROT_, m MAP_,
 * c F_, f F_SEAL_, r MREMAP_, v MADV_, l MLOCK_, k MCL_, t SHM_, i int, s the name, I the ranges of process_madvise.
 * ? is an address that is printed only where the flags before it ask for one.
 */
struct call {
    const char *name;
    long number;
    const char *args;
};

static const struct call TABLE[CALLS] = {
    [C_MMAP] = {"mmap", SYS_mmap, "anpmdo"},
    [C_MUNMAP] = {"munmap", SYS_munmap, "an"},
    [C_MPROTECT] = {"mprotect", SYS_mprotect, "anp"},
    [C_PKEY_MPROTECT] = {"pkey_mprotect", SYS_pkey_mprotect, "anpi"},
    [C_MREMAP] = {"mremap", SYS_mremap, "annr?"},
    [C_MADVISE] = {"madvise", SYS_madvise, "anv"},
    [C_PROCESS_MADVISE] = {"process_madvise", SYS_process_madvise, "dInvx"},
    [C_MSEAL] = {"mseal", SYS_mseal, "anx"},
    [C_NAME] = {"prctl", SYS_prctl, NULL},
    [C_BRK] = {"brk", SYS_brk, "a"},
    [C_MLOCK] = {"mlock", SYS_mlock, "an"},
    [C_MLOCK2] = {"mlock2", SYS_mlock2, "anl"},
    [C_MUNLOCK] = {"munlock", SYS_munlock, "an"},
    [C_MLOCKALL] = {"mlockall", SYS_mlockall, "k"},
    [C_MUNLOCKALL] = {"munlockall", SYS_munlockall, ""},
    [C_SHMAT] = {"shmat", SYS_shmat, "iat"},
    [C_SHMDT] = {"shmdt", SYS_shmdt, "a"},
    [C_REMAP_FILE_PAGES] = {"remap_file_pages", SYS_remap_file_pages, "anpnm"},
    [C_MEMORY_MERGE] = {"prctl", SYS_prctl, NULL},
    [C_MDWE] = {"prctl", SYS_prctl, NULL},
    [C_FILE_SEAL] = {"fcntl", SYS_fcntl, "dcf"},
    [C_RLIMIT] = {"prlimit64", 0, NULL},
    [C_CAPSET] = {"capset", 0, NULL},
    [C_MBIND] = {"mbind", 0, NULL},
    [C_HOME_NODE] = {"set_mempolicy_home_node", 0, NULL},
    [C_TOUCH] = {"madvise", 0, "anv"},
    [C_FORK] = {"clone", 0, NULL},
    [C_EXEC] = {"execve", 0, NULL},
    [C_EXIT] = {"exit_group", 0, NULL},
};

const char *call_name(int call) { return TABLE[call].name; }

/* Names of calls in --weights; those that share the kernel's name have one of their own. */
int call_by_option(const char *name)
{
    static const struct word OWN[] = {{"name", C_NAME}, {"merge", C_MEMORY_MERGE}, {"mdwe", C_MDWE},
                                      {"touch", C_TOUCH}, {"fork", C_FORK},        {"exit", C_EXIT},
                                      {"exec", C_EXEC}, {"rlimit", C_RLIMIT}, {"capset", C_CAPSET},
                                      {"mbind", C_MBIND}, {"home", C_HOME_NODE}};
    for (size_t i = 0; i < sizeof OWN / sizeof *OWN; i++)
        if (!strcmp(OWN[i].text, name)) return (int)OWN[i].value;
    for (int i = 0; i < CALLS; i++)
        if (TABLE[i].args && !strcmp(TABLE[i].name, name)) return i;
    return -1;
}

/* The raw result: -1 and errno, or the value. */
long make_call(const struct op *op)
{
    const u64 *a = op->a;
    long nr = TABLE[op->call].number;
    switch (op->call) {
    case C_NAME:
        return syscall(nr, PR_SET_VMA, a[2], a[0], a[1], op->has_text ? op->text : NULL);
    case C_MEMORY_MERGE:
        return syscall(nr, PR_SET_MEMORY_MERGE, a[0], 0, 0, 0);
    case C_MDWE:
        return syscall(nr, PR_SET_MDWE, a[0], 0, 0, 0);
    case C_RLIMIT: return make_rlimit(op);
    case C_CAPSET: return make_capset(op);
    case C_MBIND: return make_mbind(op);
    case C_HOME_NODE: return make_home_node(op);
    case C_PROCESS_MADVISE:
        return syscall(nr, a[0], op->range, (u64)op->ranges, a[3], a[4]);
    default:
        return syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
    }
}

const char *error_name(int error)
{
    const char *name = strerrorname_np(error);
    return name ? name : "E???";
}

/* strerror would translate, and take a lock for it. */
const char *error_text(int error)
{
    const char *text = strerrordesc_np(error);
    return text ? text : "Unknown error";
}

/* Printing */

struct sink {
    char *at, *end;
};

static void put(struct sink *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct sink *out, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = vsnprintf(out->at, (size_t)(out->end - out->at), format, list);
    va_end(list);
    out->at += n < out->end - out->at ? n : out->end - out->at - 1;
}

static const char *const FORK_FLAGS[] = {
    [FORK_SHARE] = "SIGCHLD",
    [FORK_VFORK] = "CLONE_VFORK|SIGCHLD",
    [FORK_THREAD] = "CLONE_FS|CLONE_FILES|CLONE_SIGHAND|CLONE_THREAD|CLONE_SYSVSEM",
};

/* Bits by name, the rest as a number; `zero` for none, a comment where no name is known. */
static void put_bits(struct sink *out, u64 value, const struct word *words, const char *zero, const char *prefix)
{
    const char *bar = "";
    u64 rest = value;
    for (; words->text; words++) {
        if (!(value & words->value)) continue;
        put(out, "%s%s", bar, words->text);
        bar = "|";
        rest &= ~words->value;
    }
    if (!value) put(out, "%s", zero);
    else if (rest && !*bar) put(out, "%#lx /* %s??? */", rest, prefix);
    else if (rest) put(out, "|%#lx", rest);
}

static void put_value(struct sink *out, u64 value, const struct word *words, const char *prefix)
{
    for (; words->text; words++)
        if (words->value == value) {
            put(out, "%s", words->text);
            return;
        }
    put(out, "%#lx /* %s??? */", value, prefix);
}

static void put_map(struct sink *out, u64 flags)
{
    put_value(out, flags & 0xf, MAP_TYPES, "MAP_");
    if (flags & ~0xfUL) {
        put(out, "|");
        put_bits(out, flags & ~0xfUL, MAP_FLAGS, "", "MAP_");
    }
}

static void put_string(struct sink *out, const char *text)
{
    put(out, "\"");
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        if (*c == '"' || *c == '\\') put(out, "\\%c", *c);
        else if (*c == '\n') put(out, "\\n");
        else if (*c == '\t') put(out, "\\t");
        else if (*c < 32 || *c > 126) put(out, isdigit(c[1]) ? "\\%03o" : "\\%o", *c);
        else put(out, "%c", *c);
    }
    put(out, "\"");
}

static void put_arg(struct sink *out, const struct op *op, char kind, u64 value)
{
    switch (kind) {
    case 'a':
    case '?':
        if (value) put(out, "%#lx", value);
        else put(out, "NULL");
        break;
    case 'n': put(out, "%lu", value); break;
    case 'o':
    case 'x': put(out, value ? "%#lx" : "0", value); break;
    case 'i': put(out, "%d", (int)value); break;
    case 'd': put(out, "%d%s", (int)value, fd_note(value)); break;
    case 'p': put_bits(out, value, PROT, "PROT_NONE", "PROT_"); break;
    case 'm': put_map(out, value); break;
    case 'r': put_bits(out, value, REMAP, "0", "MREMAP_"); break;
    case 'v': put_value(out, value, ADVICE, "MADV_"); break;
    case 'l': put_bits(out, value, MLOCK, "0", "MLOCK_"); break;
    case 'k': put_bits(out, value, MCL, "0", "MCL_"); break;
    case 'c': put_value(out, value, FCNTL, "F_"); break;
    case 'f': put_bits(out, value, SEALS, "0", "F_SEAL_"); break;
    case 't': put_bits(out, value, SHM, "0", "SHM_"); break;
    case 'I':
        put(out, "[");
        for (int i = 0; i < op->ranges; i++)
            put(out, "%s{iov_base=%#lx, iov_len=%lu}", i ? ", " : "", op->range[i][0], op->range[i][1]);
        put(out, "]");
        break;
    }
}

/* The call without its result, e.g. `munmap(0x2000000000, 4096)`. */
void print_op(char *text, size_t size, const struct op *op)
{
    struct sink out = {text, text + size};
    switch (op->call) {
    case C_NAME:
        put(&out, "prctl(PR_SET_VMA, ");
        if (op->a[2]) put(&out, "%#lx /* PR_SET_VMA_??? */, ", op->a[2]);
        else put(&out, "PR_SET_VMA_ANON_NAME, ");
        put(&out, "%#lx, %lu, ", op->a[0], op->a[1]);
        if (op->has_text) put_string(&out, op->text);
        else put(&out, "NULL");
        break;
    case C_MEMORY_MERGE: put(&out, "prctl(PR_SET_MEMORY_MERGE, %lu, 0, 0, 0", op->a[0]); break;
    case C_MDWE:
        put(&out, "prctl(PR_SET_MDWE, ");
        put_bits(&out, op->a[0], MDWE, "0", "PR_MDWE_");
        put(&out, ", 0, 0, 0");
        break;
    case C_FORK:
        if (op->a[0] == FORK_COPY)
            put(&out, "clone(child_stack=NULL, flags=CLONE_CHILD_CLEARTID|CLONE_CHILD_SETTID|SIGCHLD, "
                      "child_tidptr=0x7f0000000a10");
        else put(&out, "clone(child_stack=0x7f0000020000, flags=CLONE_VM|%s", FORK_FLAGS[op->a[0]]);
        break;
    case C_EXEC: put(&out, "execve(\"" PROGRAM "\", [\"recorder\", \"again\"], 0x7ffc00000000 /* 0 vars */"); break;
    case C_EXIT: put(&out, "exit_group(0"); break;
    case C_RLIMIT: print_rlimit(text, size, op); return;
    case C_CAPSET: print_capset(text, size, op); return;
    case C_MBIND: print_mbind(text, size, op); return;
    case C_HOME_NODE: print_home_node(text, size, op); return;
    default:
        put(&out, "%s(", TABLE[op->call].name);
        for (int i = 0; TABLE[op->call].args[i]; i++) {
            char kind = TABLE[op->call].args[i];
            if (kind == '?' && !(op->a[3] & 6)) break;
            if (i) put(&out, ", ");
            put_arg(&out, op, kind, op->a[i]);
        }
    }
    put(&out, ")");
}

/* Reading */

static const struct word *words_of(char kind)
{
    switch (kind) {
    case 'p': return PROT;
    case 'm': return MAP_FLAGS;
    case 'r': return REMAP;
    case 'v': return ADVICE;
    case 'l': return MLOCK;
    case 'k': return MCL;
    case 't': return SHM;
    case 'c': return FCNTL;
    case 'f': return SEALS;
    case 'w': return MDWE;
    default: return NULL;
    }
}

static bool word_value(const char *text, size_t length, const struct word *words, u64 *value)
{
    for (; words && words->text; words++)
        if (strlen(words->text) == length && !strncmp(words->text, text, length)) {
            *value |= words->value;
            return true;
        }
    return false;
}

/* `A|B|0x40`, a number, NULL; what follows in comments or <> is passed over. */
static bool parse_value(const char **at, char kind, u64 *value)
{
    const char *p = *at;
    *value = 0;
    for (;;) {
        if (isdigit((unsigned char)*p) || *p == '-') {
            char *end;
            *value |= *p == '-' ? (u64)strtol(p, &end, 0) : strtoul(p, &end, 0);
            p = end;
        } else {
            size_t n = strspn(p, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
            bool plain = (n == 4 && !strncmp(p, "NULL", 4)) || (n == 9 && !strncmp(p, "PROT_NONE", 9)) ||
                         (n == 20 && !strncmp(p, "PR_SET_VMA_ANON_NAME", 20));
            if (!plain && !word_value(p, n, words_of(kind), value) &&
                !(kind == 'm' && word_value(p, n, MAP_TYPES, value)))
                return false;
            p += n;
        }
        if (!strncmp(p, " /*", 3)) {
            p = strstr(p, "*/");
            if (!p) return false;
            p += 2;
        }
        if (*p != '|') break;
        p++;
    }
    if (*p == '<') {
        p = strchr(p, '>');
        if (!p) return false;
        p += strncmp(p, ">(deleted)", 10) ? 1 : 10;
    }
    *at = p;
    return true;
}

static bool parse_string(const char **at, struct op *op)
{
    const char *p = *at;
    size_t n = 0;
    if (*p++ != '"') return false;
    while (*p && *p != '"' && n + 1 < MAX_TEXT) {
        if (*p != '\\') {
            op->text[n++] = *p++;
            continue;
        }
        p++;
        if (*p >= '0' && *p <= '7') {
            unsigned c = 0;
            for (int i = 0; i < 3 && *p >= '0' && *p <= '7'; i++) c = c * 8 + (unsigned)(*p++ - '0');
            op->text[n++] = (char)c;
        } else {
            op->text[n++] = *p == 'n' ? '\n' : *p == 't' ? '\t' : *p;
            p++;
        }
    }
    op->text[n] = 0;
    if (*p != '"') return false;
    *at = p + 1;
    return true;
}

static bool parse_ranges(const char **at, struct op *op)
{
    const char *p = *at;
    if (*p++ != '[') return false;
    while (*p != ']') {
        if (op->ranges == MAX_RANGES) return false;
        u64 *range = op->range[op->ranges++];
        int used = 0;
        if (sscanf(p, "{iov_base=%lx, iov_len=%lu}%n", &range[0], &range[1], &used) < 2 || !used)
            return false;
        p += used;
        if (!strncmp(p, ", ", 2)) p += 2;
    }
    *at = p + 1;
    return true;
}

static bool parse_args(const char *p, struct op *op)
{
    const char *kinds = TABLE[op->call].args;
    for (int i = 0; kinds[i]; i++) {
        if (i && strncmp(p, ", ", 2)) return kinds[i] == '?' && *p == ')';
        if (i) p += 2;
        if (kinds[i] == 'I' ? !parse_ranges(&p, op) : !parse_value(&p, kinds[i], &op->a[i])) return false;
    }
    return *p == ')';
}

/* prctl(PR_SET_VMA, WHAT, ADDRESS, LENGTH, NAME) */
static bool parse_name(const char *p, struct op *op)
{
    static const int ORDER[] = {2, 0, 1};
    for (int i = 0; i < 3; i++) {
        if (!parse_value(&p, 'x', &op->a[ORDER[i]]) || strncmp(p, ", ", 2)) return false;
        p += 2;
    }
    op->has_text = *p == '"';
    return op->has_text ? parse_string(&p, op) && *p == ')' : !strncmp(p, "NULL)", 5);
}

/* One line of a recording; false for a line that is no call of the table. */
bool parse_op(const char *line, struct op *op)
{
    memset(op, 0, sizeof *op);
    char *end;
    op->pid = (int)strtol(line, &end, 10);
    while (*end == ' ') end++;
    size_t n = strcspn(end, "(");
    const char *args = end + n + 1;
    if (op->pid <= 0 || !end[n]) return false;
    if (!strncmp(end, "prctl(PR_SET_VMA, ", 18)) {
        op->call = C_NAME;
        return parse_name(end + 18, op);
    }
    if (!strncmp(end, "prctl(PR_SET_MEMORY_MERGE, ", 27)) {
        op->call = C_MEMORY_MERGE;
        op->a[0] = strtoul(end + 27, NULL, 0);
        return true;
    }
    if (!strncmp(end, "prctl(PR_SET_MDWE, ", 19)) {
        const char *value = end + 19;
        op->call = C_MDWE;
        return parse_value(&value, 'w', &op->a[0]);
    }
    if (!strncmp(end, "clone(", 6)) {
        const char *result = strrchr(end, '=');
        op->call = C_FORK;
        op->child = result ? atoi(result + 1) : 0;
        op->a[0] = strstr(end, "CLONE_THREAD")  ? FORK_THREAD
                   : strstr(end, "CLONE_VFORK") ? FORK_VFORK
                   : strstr(end, "CLONE_VM")    ? FORK_SHARE
                                                : FORK_COPY;
        return op->child > 0;
    }
    if (!strncmp(end, "exit_group(", 11) || !strncmp(end, "exit(", 5)) {
        op->call = C_EXIT;
        return true;
    }
    if (!strncmp(end, "execve(", 7)) {
        op->call = C_EXEC;
        return strstr(end, "\"again\"") != NULL;
    }
    if (!strncmp(end, "mbind(", 6)) return parse_mbind(end, op);
    if (!strncmp(end, "set_mempolicy_home_node(", 24)) return parse_home_node(end, op);
    if (!strncmp(end, "capset(", 7)) return parse_capset(end, op);
    if (!strncmp(end, "prlimit64(", 10) || !strncmp(end, "setrlimit(", 10)) return parse_rlimit(end, op);
    for (op->call = 0; op->call < C_TOUCH; op->call++)
        if (TABLE[op->call].args && strlen(TABLE[op->call].name) == n && !strncmp(TABLE[op->call].name, end, n))
            return parse_args(args, op);
    return false;
}
