/* What a sequence has open: files, memfds, pidfds, SysV segments. */
#include "recorder.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FILE_BYTES (4UL << 20)

const unsigned SEGMENT_PAGES[SEGMENTS] = {1, 3, 6};
static const unsigned SEGMENT_KEY[SEGMENTS] = {0x766d6101, 0x766d6103, 0x766d6106};

const char *fd_note(u64 fd)
{
    static char note[512];
    switch ((int)fd) {
    case FD_RW:
    case FD_RO:
    case FD_RW2:
    case FD_WO:
    case FD_DUP: snprintf(note, sizeof note, "<%s/data>", work_dir); break;
    case FD_MEMFD: return "</memfd:vmalens>(deleted)";
    case FD_ZERO:
    case FD_ZERO_RO: return "</dev/zero>";
    case FD_PIDFD: snprintf(note, sizeof note, "<pid:%d>", S->proc[S->proc[me].leader].label); break;
    case FD_PARENT: snprintf(note, sizeof note, "<pid:%d>", S->proc[S->proc[me].leader].parent); break;
    default: return "";
    }
    return note;
}

static void open_one(int fd, const char *path, int flags, const char *words)
{
    int opened = open(path, flags, 0600);
    if (opened != fd) {
        S->failed = true;
        emit("# %s opened as %d instead of %d: %s\n", path, opened, fd, error_text(errno));
    }
    emit("%d openat(AT_FDCWD, \"%s\", %s) = %d<%s>\n", S->proc[me].label, path, words, fd, path);
}

static void close_one(int fd)
{
    if (fcntl(fd, F_GETFD) < 0) return;
    emit("%d close(%d) = 0\n", S->proc[me].label, fd);
    close(fd);
}

/*
 * A descriptor of its own memory, and one of that of the process that made it: the one it inherited. After execve the
 * latter is still there, its own is not: pidfd_open marks it so.
 */
void open_pidfd(bool fresh)
{
    if (fresh) close_one(FD_PARENT);
    if (fresh && S->proc[me].parent) {
        const char *note = fd_note(FD_PARENT);
        if (dup(FD_PIDFD) != FD_PARENT) S->failed = true;
        emit("%d dup(%d%s) = %d%s\n", S->proc[me].label, FD_PIDFD, note, FD_PARENT, note);
    }
    close_one(FD_PIDFD);
    if (syscall(SYS_pidfd_open, getpid(), 0) != FD_PIDFD) S->failed = true;
    emit("%d pidfd_open(%d, 0) = %d%s\n", S->proc[me].label, S->proc[me].label, FD_PIDFD, fd_note(FD_PIDFD));
}

void open_files(void)
{
    char path[256];
    int label = S->proc[me].label;
    snprintf(path, sizeof path, "%s/data", work_dir);
    open_one(FD_RW, path, O_RDWR, "O_RDWR");
    open_one(FD_RO, path, O_RDONLY, "O_RDONLY");
    open_one(FD_RW2, path, O_RDWR, "O_RDWR");
    open_one(FD_WO, path, O_WRONLY, "O_WRONLY");
    if (syscall(SYS_memfd_create, "vmalens", MFD_ALLOW_SEALING) != FD_MEMFD || ftruncate(FD_MEMFD, FILE_BYTES)) S->failed = true;
    emit("%d memfd_create(\"vmalens\", MFD_ALLOW_SEALING) = %d%s\n", label, FD_MEMFD, fd_note(FD_MEMFD));
    open_one(FD_ZERO, "/dev/zero", O_RDWR, "O_RDWR");
    open_one(FD_ZERO_RO, "/dev/zero", O_RDONLY, "O_RDONLY");
    if (dup(FD_RW) != FD_DUP) S->failed = true;
    emit("%d dup(%d%s)", label, FD_RW, fd_note(FD_RW));
    emit(" = %d%s\n", FD_DUP, fd_note(FD_DUP));
    open_pidfd(true);
    if (S->probe.sysv)
        for (int i = 0; i < SEGMENTS; i++)
            emit("%d shmget(%#x, %lu, IPC_CREAT|0600) = %d\n", label, SEGMENT_KEY[i], SEGMENT_PAGES[i] * PAGE,
                 S->segment[i]);
}

/* Once a run: the file that the sequences open, and the SysV segments. */
bool make_shared_things(void)
{
    char path[256];
    snprintf(path, sizeof path, "%s/data", work_dir);
    mkdir(work_dir, 0700);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (fd < 0 || ftruncate(fd, FILE_BYTES)) return false;
    close(fd);
    for (int i = 0; S->probe.sysv && i < SEGMENTS; i++) {
        int old = shmget((key_t)SEGMENT_KEY[i], 0, 0);
        if (old >= 0) shmctl(old, IPC_RMID, NULL);
        S->segment[i] = shmget((key_t)SEGMENT_KEY[i], SEGMENT_PAGES[i] * PAGE, IPC_CREAT | 0600);
        if (S->segment[i] < 0) return false;
    }
    return true;
}

void remove_shared_things(void)
{
    char path[256];
    snprintf(path, sizeof path, "%s/data", work_dir);
    unlink(path);
    rmdir(work_dir);
    for (int i = 0; S->probe.sysv && i < SEGMENTS; i++) shmctl(S->segment[i], IPC_RMID, NULL);
}
