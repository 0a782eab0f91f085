/* The VMAs of the arena, read by the process itself from /proc/self/smaps. */
#include "recorder.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One process reads at a time, but each has its own copy of this. */
static char text[1 << 20];

static bool read_all(void)
{
    int fd = open("/proc/self/smaps", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    size_t used = 0;
    for (;;) {
        ssize_t n = read(fd, text + used, sizeof text - 1 - used);
        if (n <= 0) {
            close(fd);
            text[used] = 0;
            return n == 0;
        }
        used += (size_t)n;
    }
}

/* `START-END PERMS OFFSET DEV INODE NAME`; returns false for a line of another kind. */
static bool parse_header(const char *line, struct vma *vma, char *perms, const char **name)
{
    unsigned long inode;
    char dev[32];
    int at = 0;
    if (sscanf(line, "%lx-%lx %4s %lx %31s %lu%n", &vma->start, &vma->end, perms, &vma->offset, dev, &inode, &at) < 6)
        return false;
    *name = line + at + strspn(line + at, " ");
    vma->file = inode != 0;
    return true;
}

/* `START-END PERMS OFFSET FLAG,FLAG,… NAME` */
static void finish(struct vma *vma, const char *perms, const char *flags, const char *name)
{
    char list[128];
    size_t n = 0;
    while (*flags == ' ') flags++;
    for (; *flags && *flags != '\n' && n + 1 < sizeof list; flags++)
        if (*flags != ' ') list[n++] = *flags;
        else if (flags[1] >= 'a' || flags[1] == '?') list[n++] = ',';
    list[n] = 0;
    vma->writable = perms[1] == 'w';
    vma->shared = perms[3] == 's';
    vma->growsdown = strstr(list, "gd") != NULL;
    vma->sealed = strstr(list, "sl") != NULL;
    vma->heap = !strcmp(name, "[heap]");
    snprintf(vma->line, sizeof vma->line, "%lx-%lx %s %lx %s %s", vma->start, vma->end, perms, vma->offset, list, name);
}

/* What a snapshot needs of smaps: the header of each VMA, whether it was written to, its flags. */
static bool is_shown(const char *line)
{
    if (!strncmp(line, "Anonymous:", 10)) return strtoul(line + 10, NULL, 10) > 0;
    return !strncmp(line, "VmFlags:", 8) || line[0] < 'A' || line[0] > 'Z';
}

/* The whole of smaps, so that the replay knows what lies outside of the arena. The program is named as execve has it. */
void emit_snapshot(void)
{
    char program[256];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (n < 0 || !read_all()) {
        S->failed = true;
        return;
    }
    program[n] = 0;
    emit("%%%d\n", S->proc[me].label);
    for (char *line = text, *end; *line && (end = strchr(line, '\n')); line = end + 1) {
        *end = 0;
        char *name = strstr(line, program);
        if (name && !strcmp(name, program)) emit(" %.*s%s\n", (int)(name - line), line, PROGRAM);
        else if (is_shown(line)) emit(" %s\n", line);
    }
}

bool read_vmas(struct proc *proc)
{
    if (!read_all()) return false;
    proc->vmas = 0;
    struct vma *vma = NULL;
    char perms[5];
    const char *name = "";
    for (char *line = text, *end; *line; line = end + 1) {
        end = strchr(line, '\n');
        if (!end) return false;
        *end = 0;
        if (vma && !strncmp(line, "VmFlags:", 8)) {
            finish(vma, perms, line + 8, name);
            proc->vmas++;
            vma = NULL;
        } else if (!vma && line[0] != 'V') {
            if (proc->vmas == MAX_VMAS) return false;
            struct vma *free = &proc->vma[proc->vmas];
            if (parse_header(line, free, perms, &name) && free->start < ARENA_END && free->end > ARENA) vma = free;
        }
    }
    return vma == NULL;
}
