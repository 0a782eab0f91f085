/* Constants by the names that strace has for them; calls.c alone includes this. */
#ifndef WORDS_H
#define WORDS_H

#include "recorder.h"

struct word {
    const char *text;
    u64 value;
};

static const struct word PROT[] = {{"PROT_READ", 1},
                                   {"PROT_WRITE", 2},
                                   {"PROT_EXEC", 4},
                                   {"PROT_SEM", 8},
                                   {"PROT_GROWSDOWN", 0x1000000},
                                   {"PROT_GROWSUP", 0x2000000},
                                   {NULL, 0}};
static const struct word MAP_TYPES[] = {{"MAP_FILE", 0},
                                        {"MAP_SHARED", 1},
                                        {"MAP_PRIVATE", 2},
                                        {"MAP_SHARED_VALIDATE", 3},
                                        {"MAP_DROPPABLE", 8},
                                        {NULL, 0}};
static const struct word MAP_FLAGS[] = {{"MAP_FIXED", 0x10},
                                        {"MAP_ANONYMOUS", 0x20},
                                        {"MAP_32BIT", 0x40},
                                        {"MAP_GROWSDOWN", 0x100},
                                        {"MAP_DENYWRITE", 0x800},
                                        {"MAP_EXECUTABLE", 0x1000},
                                        {"MAP_LOCKED", 0x2000},
                                        {"MAP_NORESERVE", 0x4000},
                                        {"MAP_POPULATE", 0x8000},
                                        {"MAP_NONBLOCK", 0x10000},
                                        {"MAP_STACK", 0x20000},
                                        {"MAP_HUGETLB", 0x40000},
                                        {"MAP_SYNC", 0x80000},
                                        {"MAP_FIXED_NOREPLACE", 0x100000},
                                        {NULL, 0}};
static const struct word FCNTL[] = {{"F_ADD_SEALS", 1033}, {NULL, 0}};
static const struct word SEALS[] = {{"F_SEAL_WRITE", 8}, {"F_SEAL_FUTURE_WRITE", 16}, {NULL, 0}};
static const struct word MDWE[] = {{"PR_MDWE_REFUSE_EXEC_GAIN", 1}, {"PR_MDWE_NO_INHERIT", 2}, {NULL, 0}};
static const struct word REMAP[] = {
    {"MREMAP_MAYMOVE", 1}, {"MREMAP_FIXED", 2}, {"MREMAP_DONTUNMAP", 4}, {NULL, 0}};
static const struct word ADVICE[] = {{"MADV_NORMAL", 0},
                                     {"MADV_RANDOM", 1},
                                     {"MADV_SEQUENTIAL", 2},
                                     {"MADV_WILLNEED", 3},
                                     {"MADV_DONTNEED", 4},
                                     {"MADV_FREE", 8},
                                     {"MADV_REMOVE", 9},
                                     {"MADV_DONTFORK", 10},
                                     {"MADV_DOFORK", 11},
                                     {"MADV_MERGEABLE", 12},
                                     {"MADV_UNMERGEABLE", 13},
                                     {"MADV_HUGEPAGE", 14},
                                     {"MADV_NOHUGEPAGE", 15},
                                     {"MADV_DONTDUMP", 16},
                                     {"MADV_DODUMP", 17},
                                     {"MADV_WIPEONFORK", 18},
                                     {"MADV_KEEPONFORK", 19},
                                     {"MADV_COLD", 20},
                                     {"MADV_PAGEOUT", 21},
                                     {"MADV_POPULATE_READ", 22},
                                     {"MADV_POPULATE_WRITE", 23},
                                     {"MADV_DONTNEED_LOCKED", 24},
                                     {"MADV_COLLAPSE", 25},
                                     {"MADV_HWPOISON", 100},
                                     {"MADV_SOFT_OFFLINE", 101},
                                     {"MADV_GUARD_INSTALL", 102},
                                     {"MADV_GUARD_REMOVE", 103},
                                     {NULL, 0}};
static const struct word MLOCK[] = {{"MLOCK_ONFAULT", 1}, {NULL, 0}};
static const struct word MCL[] = {{"MCL_CURRENT", 1}, {"MCL_FUTURE", 2}, {"MCL_ONFAULT", 4}, {NULL, 0}};
static const struct word SHM[] = {
    {"SHM_RDONLY", 010000}, {"SHM_RND", 020000}, {"SHM_REMAP", 040000}, {"SHM_EXEC", 0100000}, {NULL, 0}};

#endif
