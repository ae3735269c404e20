"""A line with a delay between this host and a network name space: line.py NAMESPACE DELAY_MS.

Each end is a TUN device, because not every kernel has netem. The line carries IPv4 alone: an IPv6 packet, and one to an
address that nobody has, is lost without a word, as behind a firewall that drops. It prints "ready", and ends with stdin.
"""

import fcntl
import heapq
import os
import select
import struct
import subprocess
import sys
import time

TUNSETIFF = 0x400454CA
IFF_TUN = 0x0001
IFF_NO_PI = 0x1000


def tun(name):
    end = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(end, TUNSETIFF, struct.pack("16sH22x", name.encode(), IFF_TUN | IFF_NO_PI))
    return end


def ip(*words):
    subprocess.run(["ip", *words], check=True)


def main(namespace, delay):
    near, far = f"{namespace}n", f"{namespace}f"
    ends = [tun(near), tun(far)]
    ip("link", "set", far, "netns", namespace)
    ip("addr", "add", "10.213.7.1/24", "dev", near)
    ip("link", "set", near, "up")
    inside = ["-n", namespace]
    ip(*inside, "addr", "add", "10.213.7.2/24", "dev", far)
    ip(*inside, "addr", "add", "fd00:213::2/64", "dev", far, "nodad")
    ip(*inside, "link", "set", far, "up")
    ip(*inside, "link", "set", "lo", "up")
    print("ready", flush=True)
    waiting = []
    while True:
        wait = max(0, waiting[0][0] - time.monotonic()) if waiting else None
        ready, _, _ = select.select([*ends, 0], [], [], wait)
        if 0 in ready and os.read(0, 1) == b"":
            return
        for end in set(ready) - {0}:
            packet = os.read(end, 65536)
            to = ends[1 - ends.index(end)]
            if packet[0] >> 4 == 4:
                heapq.heappush(waiting, (time.monotonic() + delay, len(waiting), to, packet))
        while waiting and waiting[0][0] <= time.monotonic():
            _, _, to, packet = heapq.heappop(waiting)
            os.write(to, packet)


main(sys.argv[1], float(sys.argv[2]) / 1000)
