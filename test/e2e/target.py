"""A process with one region of each kind, for the end-to-end tests to look at.

Usage: target.py FILE. Prints one line of JSON when everything is mapped. For each line of its standard input it
maps another region and prints that; at the end of the input it ends. A name that the kernel refuses (before 5.17
or without CONFIG_ANON_VMA_NAME) is null, and "sealed" is false where there is no mseal (before 6.10).
"""

import ctypes
import json
import mmap
import os
import sys

PAGE = mmap.PAGESIZE
PROT_NONE, PROT_READ, PROT_WRITE = 0, 1, 2
MAP_PRIVATE, MAP_FIXED, MAP_ANONYMOUS = 2, 0x10, 0x20
PR_SET_VMA, PR_SET_VMA_ANON_NAME = 0x53564D41, 0
SYS_MSEAL = 462

libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
libc.sbrk.restype = ctypes.c_void_p
libc.sbrk.argtypes = [ctypes.c_long]


def map_pages(pages, prot, flags, fd=-1, address=None):
    got = libc.mmap(address, pages * PAGE, prot, flags, fd, 0)
    if got == ctypes.c_void_p(-1).value:
        raise OSError(ctypes.get_errno(), "mmap")
    return {"start": f"{got:x}", "end": f"{got + pages * PAGE:x}", "address": got}


def set_name(region, pages, name):
    result = libc.prctl(
        PR_SET_VMA,
        ctypes.c_ulong(PR_SET_VMA_ANON_NAME),
        ctypes.c_ulong(region["address"]),
        ctypes.c_ulong(pages * PAGE),
        ctypes.c_char_p(name.encode()),
    )
    return name if result == 0 else None


def seal(region, pages):
    result = libc.syscall(
        ctypes.c_long(SYS_MSEAL), ctypes.c_ulong(region["address"]), ctypes.c_ulong(pages * PAGE), ctypes.c_ulong(0)
    )
    return result == 0


def main():
    # Everything is put into one reserved range with gaps of PROT_NONE between: neighbours would merge.
    anonymous = MAP_PRIVATE | MAP_ANONYMOUS
    reserved = map_pages(64, PROT_NONE, anonymous)["address"]

    def place(at, pages, prot, flags=anonymous, fd=-1):
        return map_pages(pages, prot, flags | MAP_FIXED, fd, reserved + at * PAGE)

    plain = place(1, 16, PROT_READ | PROT_WRITE)
    ctypes.memset(plain["address"], 1, 3 * PAGE)
    named = place(18, 8, PROT_READ | PROT_WRITE)
    ctypes.memset(named["address"], 1, PAGE)
    named["name"] = set_name(named, 8, "e2e cache")
    sealed = place(27, 4, PROT_READ)
    sealed["sealed"] = seal(sealed, 4)
    fd = os.open(sys.argv[1], os.O_RDONLY)
    file = place(32, 2, PROT_READ, MAP_PRIVATE, fd)
    file["path"] = os.path.realpath(sys.argv[1])
    heap = libc.sbrk(PAGE * 16)
    facts = {
        "pid": os.getpid(),
        "plain": plain,
        "named": named,
        "sealed": sealed,
        "file": file,
        "heap": {"address": heap},
    }
    print(json.dumps(facts), flush=True)
    for count, _ in enumerate(sys.stdin):
        print(json.dumps(place(36 + 2 * count, 1, PROT_READ)), flush=True)


main()
