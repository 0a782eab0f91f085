/*
 * vm.max_map_count near what a process has: how calls behave that come to the limit. The limit is that of the whole
 * machine, so this is for kernels that run nothing else.
 */
#include "recorder.h"
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIMIT "/proc/sys/vm/max_map_count"

static char before[32];

static bool write_limit(const char *text)
{
    int fd = open(LIMIT, O_WRONLY | O_CLOEXEC);
    bool done = fd >= 0 && write(fd, text, strlen(text)) > 0;
    if (fd >= 0) close(fd);
    return done;
}

/* Lines of /proc/self/maps; [vsyscall] is no VMA of the process. */
static unsigned count_maps(void)
{
    static char text[1 << 16];
    unsigned count = 0;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    for (ssize_t n; fd >= 0 && (n = read(fd, text, sizeof text - 1)) > 0;) {
        text[n] = 0;
        for (char *line = text; (line = strchr(line, '\n')); line++) count++;
        if (strstr(text, "[vsyscall]")) count--;
    }
    if (fd >= 0) close(fd);
    return count;
}

/* False where the limit cannot be read. */
bool remember_limit(void)
{
    int fd = open(LIMIT, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, before, sizeof before - 1);
    if (fd >= 0) close(fd);
    return n > 0;
}

/* Leaves the calling process room for S->map_room more VMAs. */
void limit_maps(void)
{
    char text[32];
    if (!S->map_room) return;
    snprintf(text, sizeof text, "%u\n", count_maps() + S->map_room);
    if (!write_limit(text)) S->failed = true;
}

void restore_limit(void)
{
    if (*before) write_limit(before);
}
