/* Memory policies. Only node 0 is sure to be there, so no other one is named. */
#include "recorder.h"
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_set_mempolicy_home_node
#define SYS_set_mempolicy_home_node 450
#endif

struct mode_word {
    const char *text;
    u64 value;
};

static const char *const MODES[] = {"MPOL_DEFAULT", "MPOL_PREFERRED", "MPOL_BIND",
                                    "MPOL_INTERLEAVE", "MPOL_LOCAL", "MPOL_PREFERRED_MANY"};
#define KNOWN_MODES (sizeof MODES / sizeof *MODES)
static const struct mode_word MODE_FLAGS[] = {
    {"MPOL_F_STATIC_NODES", 0x8000}, {"MPOL_F_RELATIVE_NODES", 0x4000}, {"MPOL_F_NUMA_BALANCING", 0x2000}, {NULL, 0}};
static const struct mode_word MOVE_FLAGS[] = {
    {"MPOL_MF_STRICT", 1}, {"MPOL_MF_MOVE", 2}, {"MPOL_MF_MOVE_ALL", 4}, {NULL, 0}};
#define MODE_MASK 0xfffUL

/* C_MBIND: a[0] address, a[1] length, a[2] mode, a[3] nodes, a[4] maxnode (0: no nodes at all), a[5] flags */
void gen_mbind(struct op *op, bool odd)
{
    static const unsigned USUAL[] = {0, 0, 1, 2, 2, 2, 3, 4, 5, 5};
    static const unsigned LENGTHS[] = {2, 64, 64, 64, 128};
    u64 *a = op->a;
    a[2] = USUAL[below(10)];
    a[3] = a[2] == 0 || a[2] == 4 ? 0 : 1;
    a[4] = LENGTHS[below(5)];
    a[5] = below(3) ? 0 : below(4);
    if (!below(3) && a[2] != 4) a[2] |= MODE_FLAGS[below(3)].value;
    if (a[2] == 1 && !below(4)) a[3] = 0;
    if (a[3] == 0 && !below(3)) a[4] = 0;
    if (odd) {
        unsigned kind = below(5);
        if (kind == 0) a[3] = 1 - a[3];
        else if (kind == 1) a[2] ^= MODE_FLAGS[below(3)].value | MODE_FLAGS[below(3)].value;
        else if (kind == 2) a[2] = 6 + below(4);
        else if (kind == 3) a[5] = 8UL << below(3);
        else a[3] = a[4] = 0;
    }
    if (a[4] == 0) a[3] = 0;
}

/* C_HOME_NODE: a[0] address, a[1] length, a[2] node, a[3] flags */
void gen_home_node(struct op *op, bool odd)
{
    op->a[2] = 0;
    op->a[3] = odd ? 1UL << below(4) : 0;
}

long make_mbind(const struct op *op)
{
    const u64 *a = op->a;
    u64 nodes[2] = {a[3], 0};
    return syscall(SYS_mbind, a[0], a[1], a[2], a[4] ? nodes : NULL, a[4], a[5]);
}

long make_home_node(const struct op *op)
{
    const u64 *a = op->a;
    return syscall(SYS_set_mempolicy_home_node, a[0], a[1], a[2], a[3]);
}

static int put_flags(char *at, size_t size, u64 value, const struct mode_word *words, bool first)
{
    int n = 0;
    u64 rest = value;
    for (; words->text; words++) {
        if (!(value & words->value)) continue;
        n += snprintf(at + n, size - (size_t)n, "%s%s", first ? "" : "|", words->text);
        first = false;
        rest &= ~words->value;
    }
    if (rest) n += snprintf(at + n, size - (size_t)n, first ? "%#lx /* MPOL_??? */" : "|%#lx", rest);
    return n;
}

static void put_address(char *at, size_t size, u64 addr)
{
    snprintf(at, size, addr ? "%#lx" : "NULL", addr);
}

void print_mbind(char *text, size_t size, const struct op *op)
{
    const u64 *a = op->a;
    char addr[32], mode[160], nodes[64] = "NULL", flags[80] = "0";
    put_address(addr, sizeof addr, a[0]);
    bool known = (a[2] & MODE_MASK) < KNOWN_MODES;
    int n = known ? snprintf(mode, sizeof mode, "%s", MODES[a[2] & MODE_MASK])
                  : snprintf(mode, sizeof mode, "%#lx /* MPOL_??? */", a[2] & MODE_MASK);
    put_flags(mode + n, sizeof mode - (size_t)n, a[2] & ~MODE_MASK, MODE_FLAGS, false);
    if (a[4])
        snprintf(nodes, sizeof nodes, "[%s%s]", a[3] ? "0x00000000000001" : "0000000000000000",
                 a[4] > 64 ? ", 0000000000000000" : "");
    if (a[5]) put_flags(flags, sizeof flags, a[5], MOVE_FLAGS, true);
    snprintf(text, size, "mbind(%s, %lu, %s, %s, %lu, %s)", addr, a[1], mode, nodes, a[4], flags);
}

void print_home_node(char *text, size_t size, const struct op *op)
{
    const u64 *a = op->a;
    char addr[32];
    put_address(addr, sizeof addr, a[0]);
    snprintf(text, size, "set_mempolicy_home_node(%s, %lu, %lu, %s%lx)", addr, a[1], a[2], a[3] ? "0x" : "", a[3]);
}

/* Names and numbers joined by `|`; what stands in comments is passed over. */
static u64 parse_flags(const char *at, const char *end)
{
    u64 value = 0;
    while (at < end) {
        size_t n = strcspn(at, "|, )");
        for (size_t i = 0; i < KNOWN_MODES; i++)
            if (strlen(MODES[i]) == n && !strncmp(at, MODES[i], n)) value |= i;
        for (int i = 0; i < 3; i++) {
            if (strlen(MODE_FLAGS[i].text) == n && !strncmp(at, MODE_FLAGS[i].text, n)) value |= MODE_FLAGS[i].value;
            if (strlen(MOVE_FLAGS[i].text) == n && !strncmp(at, MOVE_FLAGS[i].text, n)) value |= MOVE_FLAGS[i].value;
        }
        if (*at >= '0' && *at <= '9') value |= strtoul(at, NULL, 0);
        const char *bar = strchr(at, '|');
        if (!bar || bar >= end) break;
        at = bar + 1;
    }
    return value;
}

bool parse_mbind(const char *text, struct op *op)
{
    const char *part[6] = {text + 6};
    op->call = C_MBIND;
    for (int i = 1; i < 6; i++) {
        const char *from = part[i - 1];
        const char *close = *from == '[' ? strchr(from, ']') : from;
        const char *comma = close ? strstr(close, ", ") : NULL;
        if (!comma) return false;
        part[i] = comma + 2;
    }
    op->a[0] = strtoul(part[0], NULL, 0);
    op->a[1] = strtoul(part[1], NULL, 0);
    op->a[2] = parse_flags(part[2], part[3]);
    op->a[3] = !strncmp(part[3], "[0x", 3);
    op->a[4] = strtoul(part[4], NULL, 0);
    op->a[5] = parse_flags(part[5], part[5] + strlen(part[5]));
    return true;
}

bool parse_home_node(const char *text, struct op *op)
{
    op->call = C_HOME_NODE;
    const char *at = strchr(text, '(') + 1;
    for (int i = 0; i < 4; i++) {
        op->a[i] = strtoul(at, NULL, 0);
        const char *comma = strstr(at, ", ");
        if (!comma) return i == 3;
        at = comma + 2;
    }
    return true;
}
