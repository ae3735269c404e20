#!/bin/sh
# Two hosts, one disk that both can reach, one daemon: Pacemaker with Corosync. First set up the cluster
# (pcs cluster setup) and install the package on both nodes. Then run each command once, on one node, as root. Replace
# the device, the folder and the fence agent with yours.
set -eu

# Before that, on both nodes, because only Pacemaker may start the daemon, never the boot of a host:
#   systemctl disable --now feedsyncd

# Without fencing, a node cannot know that the other node is off, and two daemons could write to one disk. Use the agent
# for your hardware or cloud: pcs stonith list
pcs stonith create fence-a fence_ipmilan ip=10.0.0.11 username=admin password_script=/etc/pacemaker/fence-password pcmk_host_list=node-a
pcs stonith create fence-b fence_ipmilan ip=10.0.0.12 username=admin password_script=/etc/pacemaker/fence-password pcmk_host_list=node-b
pcs property set stonith-enabled=true
# When only the network between the nodes is cut, each node would switch the other one off. With this delay, the node that
# runs the daemon wins.
pcs property set priority-fencing-delay=5s

# The state directory is on this disk, and the inbox too if possible: both move with the disk.
pcs resource create feedsyncd-disk ocf:heartbeat:Filesystem \
  device=/dev/disk/by-label/feedsyncd directory=/srv/feedsyncd fstype=ext4 \
  op monitor interval=20s timeout=40s
# systemd monitors the unit. Do not use "feedsyncd status --check" as a monitor: a held feed would move the daemon.
# The stop may take 60 s: the unit itself ends a stop that takes longer than 45 s.
pcs resource create feedsyncd systemd:feedsyncd \
  op start timeout=300s op stop timeout=60s op monitor interval=10s timeout=30s
# Both run on one node and start in this order: first the disk, then the daemon.
pcs resource group add feedsyncd-group feedsyncd-disk feedsyncd
# After a takeover, the daemon stays on its new node.
pcs resource meta feedsyncd-group resource-stickiness=100 priority=1
