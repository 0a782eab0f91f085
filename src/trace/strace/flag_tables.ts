/**
 * Names that strace prints for the bits and values of memory calls, with their numbers from the kernel's uapi
 * headers (asm-generic, as x86-64 and arm64 have them).
 */
export type FlagTable = ReadonlyMap<string, number>;

/** linux/mman.h, asm-generic/mman-common.h */
export const PROT: FlagTable = new Map([
  ['PROT_NONE', 0],
  ['PROT_READ', 0x1],
  ['PROT_WRITE', 0x2],
  ['PROT_EXEC', 0x4],
  ['PROT_SEM', 0x8],
  ['PROT_BTI', 0x10],
  ['PROT_MTE', 0x20],
  ['PROT_GROWSDOWN', 0x0100_0000],
  ['PROT_GROWSUP', 0x0200_0000],
]);

export const MMAP: FlagTable = new Map([
  ['MAP_FILE', 0],
  ['MAP_SHARED', 0x1],
  ['MAP_PRIVATE', 0x2],
  ['MAP_SHARED_VALIDATE', 0x3],
  ['MAP_DROPPABLE', 0x8],
  ['MAP_FIXED', 0x10],
  ['MAP_ANONYMOUS', 0x20],
  ['MAP_ANON', 0x20],
  ['MAP_32BIT', 0x40],
  ['MAP_ABOVE4G', 0x80],
  ['MAP_GROWSDOWN', 0x100],
  ['MAP_DENYWRITE', 0x800],
  ['MAP_EXECUTABLE', 0x1000],
  ['MAP_LOCKED', 0x2000],
  ['MAP_NORESERVE', 0x4000],
  ['MAP_POPULATE', 0x8000],
  ['MAP_NONBLOCK', 0x1_0000],
  ['MAP_STACK', 0x2_0000],
  ['MAP_HUGETLB', 0x4_0000],
  ['MAP_SYNC', 0x8_0000],
  ['MAP_FIXED_NOREPLACE', 0x10_0000],
  ['MAP_UNINITIALIZED', 0x400_0000],
]);

export const MREMAP: FlagTable = new Map([
  ['MREMAP_MAYMOVE', 1],
  ['MREMAP_FIXED', 2],
  ['MREMAP_DONTUNMAP', 4],
]);

/** Values of one argument, not bits. */
export const MADVISE: FlagTable = new Map([
  ['MADV_NORMAL', 0],
  ['MADV_RANDOM', 1],
  ['MADV_SEQUENTIAL', 2],
  ['MADV_WILLNEED', 3],
  ['MADV_DONTNEED', 4],
  ['MADV_FREE', 8],
  ['MADV_REMOVE', 9],
  ['MADV_DONTFORK', 10],
  ['MADV_DOFORK', 11],
  ['MADV_MERGEABLE', 12],
  ['MADV_UNMERGEABLE', 13],
  ['MADV_HUGEPAGE', 14],
  ['MADV_NOHUGEPAGE', 15],
  ['MADV_DONTDUMP', 16],
  ['MADV_DODUMP', 17],
  ['MADV_WIPEONFORK', 18],
  ['MADV_KEEPONFORK', 19],
  ['MADV_COLD', 20],
  ['MADV_PAGEOUT', 21],
  ['MADV_POPULATE_READ', 22],
  ['MADV_POPULATE_WRITE', 23],
  ['MADV_DONTNEED_LOCKED', 24],
  ['MADV_COLLAPSE', 25],
  ['MADV_HWPOISON', 100],
  ['MADV_SOFT_OFFLINE', 101],
  ['MADV_GUARD_INSTALL', 102],
  ['MADV_GUARD_REMOVE', 103],
]);

export const MLOCK: FlagTable = new Map([['MLOCK_ONFAULT', 1]]);

/** linux/mempolicy.h: the mode of a policy and the flags in it. */
export const MPOL: FlagTable = new Map([
  ['MPOL_DEFAULT', 0],
  ['MPOL_PREFERRED', 1],
  ['MPOL_BIND', 2],
  ['MPOL_INTERLEAVE', 3],
  ['MPOL_LOCAL', 4],
  ['MPOL_PREFERRED_MANY', 5],
  ['MPOL_WEIGHTED_INTERLEAVE', 6],
  ['MPOL_F_NUMA_BALANCING', 0x2000],
  ['MPOL_F_RELATIVE_NODES', 0x4000],
  ['MPOL_F_STATIC_NODES', 0x8000],
]);

export const MPOL_MF: FlagTable = new Map([
  ['MPOL_MF_STRICT', 1],
  ['MPOL_MF_MOVE', 2],
  ['MPOL_MF_MOVE_ALL', 4],
]);

export const MLOCKALL: FlagTable = new Map([
  ['MCL_CURRENT', 1],
  ['MCL_FUTURE', 2],
  ['MCL_ONFAULT', 4],
]);

/** linux/shm.h */
export const SHMAT: FlagTable = new Map([
  ['SHM_RDONLY', 0o010000],
  ['SHM_RND', 0o020000],
  ['SHM_REMAP', 0o040000],
  ['SHM_EXEC', 0o100000],
]);

/** linux/sched.h. The exit signal in the low byte of clone's flags is no CLONE_* bit and read as 0. */
export const CLONE: FlagTable = new Map([
  ['CLONE_NEWTIME', 0x80],
  ['CLONE_VM', 0x100],
  ['CLONE_FS', 0x200],
  ['CLONE_FILES', 0x400],
  ['CLONE_SIGHAND', 0x800],
  ['CLONE_PIDFD', 0x1000],
  ['CLONE_PTRACE', 0x2000],
  ['CLONE_VFORK', 0x4000],
  ['CLONE_PARENT', 0x8000],
  ['CLONE_THREAD', 0x1_0000],
  ['CLONE_NEWNS', 0x2_0000],
  ['CLONE_SYSVSEM', 0x4_0000],
  ['CLONE_SETTLS', 0x8_0000],
  ['CLONE_PARENT_SETTID', 0x10_0000],
  ['CLONE_CHILD_CLEARTID', 0x20_0000],
  ['CLONE_DETACHED', 0x40_0000],
  ['CLONE_UNTRACED', 0x80_0000],
  ['CLONE_CHILD_SETTID', 0x100_0000],
  ['CLONE_NEWCGROUP', 0x200_0000],
  ['CLONE_NEWUTS', 0x400_0000],
  ['CLONE_NEWIPC', 0x800_0000],
  ['CLONE_NEWUSER', 0x1000_0000],
  ['CLONE_NEWPID', 0x2000_0000],
  ['CLONE_NEWNET', 0x4000_0000],
  ['CLONE_IO', 0x8000_0000],
  ['CLONE_CLEAR_SIGHAND', 0x1_0000_0000],
  ['CLONE_INTO_CGROUP', 0x2_0000_0000],
]);

/** linux/personality.h */
export const PERSONALITY: FlagTable = new Map([
  ['PER_LINUX', 0],
  ['PER_LINUX_32BIT', 0x80_0000],
  ['PER_LINUX_FDPIC', 0x8_0000],
  ['PER_SVR4', 0x410_0001],
  ['PER_SVR3', 0x500_0002],
  ['PER_SCOSVR3', 0x700_0003],
  ['PER_OSR5', 0x600_0003],
  ['PER_WYSEV386', 0x500_0004],
  ['PER_ISCR4', 0x400_0005],
  ['PER_BSD', 6],
  ['PER_SUNOS', 0x400_0006],
  ['PER_XENIX', 0x500_0007],
  ['PER_LINUX32', 8],
  ['PER_LINUX32_3GB', 0x800_0008],
  ['PER_IRIX32', 0x400_0009],
  ['PER_IRIXN32', 0x400_000a],
  ['PER_IRIX64', 0x400_000b],
  ['PER_RISCOS', 12],
  ['PER_SOLARIS', 0x400_000d],
  ['PER_UW7', 0x410_000e],
  ['PER_OSF4', 15],
  ['PER_HPUX', 16],
  ['UNAME26', 0x2_0000],
  ['ADDR_NO_RANDOMIZE', 0x4_0000],
  ['FDPIC_FUNCPTRS', 0x8_0000],
  ['MMAP_PAGE_ZERO', 0x10_0000],
  ['ADDR_COMPAT_LAYOUT', 0x20_0000],
  ['READ_IMPLIES_EXEC', 0x40_0000],
  ['ADDR_LIMIT_32BIT', 0x80_0000],
  ['SHORT_INODE', 0x100_0000],
  ['WHOLE_SECONDS', 0x200_0000],
  ['STICKY_TIMEOUTS', 0x400_0000],
  ['ADDR_LIMIT_3GB', 0x800_0000],
]);

/** linux/userfaultfd.h */
export const UFFD_MODE: FlagTable = new Map([
  ['UFFDIO_REGISTER_MODE_MISSING', 0x1],
  ['UFFDIO_REGISTER_MODE_WP', 0x2],
  ['UFFDIO_REGISTER_MODE_MINOR', 0x4],
]);

export const UFFD_FEATURE: FlagTable = new Map(
  [
    'PAGEFAULT_FLAG_WP',
    'EVENT_FORK',
    'EVENT_REMAP',
    'EVENT_REMOVE',
    'MISSING_HUGETLBFS',
    'MISSING_SHMEM',
    'EVENT_UNMAP',
    'SIGBUS',
    'THREAD_ID',
    'MINOR_HUGETLBFS',
    'MINOR_SHMEM',
    'EXACT_ADDRESS',
    'WP_HUGETLBFS_SHMEM',
    'WP_UNPOPULATED',
    'POISON',
    'WP_ASYNC',
    'MOVE',
  ].map((name, bit) => [`UFFD_FEATURE_${name}`, 2 ** bit]),
);

/** Shifts that strace prints as `N<<NAME`. */
export const SHIFTS: FlagTable = new Map([['MAP_HUGE_SHIFT', 26]]);
