/* The heap begins at a known place inside the arena, so that brk belongs to the calls that can be made there. */
#include "recorder.h"
#include <fcntl.h>
#include <linux/prctl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Fields of /proc/self/stat, counted from 1 as proc(5) does. */
enum { START_CODE = 26, END_CODE, START_STACK, START_DATA = 45, END_DATA, ARG_START = 48, ARG_END, ENV_START, ENV_END, FIELDS };

static bool read_stat(u64 *field)
{
    char text[4096];
    int fd = open("/proc/self/stat", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0) close(fd);
    if (n <= 0) return false;
    text[n] = 0;
    char *at = strrchr(text, ')'); /* the name before may hold anything */
    if (!at) return false;
    int number = 3;
    for (char *word = strtok(at + 1, " "); word && number < FIELDS; word = strtok(NULL, " "))
        field[number++] = strtoul(word, NULL, 10);
    return number == FIELDS;
}

/* False where the kernel does not let us: then brk is left out. */
bool place_heap(void)
{
    u64 stat[FIELDS];
    if (!read_stat(stat)) return false;
    struct prctl_mm_map map = {
        .start_code = stat[START_CODE], .end_code = stat[END_CODE],   .start_data = stat[START_DATA],
        .end_data = stat[START_DATA],     .start_brk = HEAP,            .brk = HEAP,
        .start_stack = stat[START_STACK], .arg_start = stat[ARG_START], .arg_end = stat[ARG_END],
        .env_start = stat[ENV_START],   .env_end = stat[ENV_END],     .exe_fd = -1U,
    };
    return !prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof map, 0);
}
