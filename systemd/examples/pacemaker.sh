#!/bin/sh
# Two hosts, one disk that both can reach, one daemon: Pacemaker with Corosync. Run each command once, on one node, as
# root, after the cluster is set up (pcs cluster setup) and the package is installed on both nodes. Replace
# the device, the folder, and the fence agent with yours.
set -eu

# Both nodes, before: Pacemaker alone starts the daemon, and never the host at its boot.
#   systemctl disable --now feedsyncd

# Without fencing no node can know that the other one is off, and two daemons would write to one disk. Use the agent of
# your hardware or cloud: pcs stonith list
pcs stonith create fence-a fence_ipmilan ip=10.0.0.11 username=admin password_script=/etc/pacemaker/fence-password pcmk_host_list=node-a
pcs stonith create fence-b fence_ipmilan ip=10.0.0.12 username=admin password_script=/etc/pacemaker/fence-password pcmk_host_list=node-b
pcs property set stonith-enabled=true

# The disk has the state directory, and the inbox where it can: both move with it.
pcs resource create feedsyncd-disk ocf:heartbeat:Filesystem \
  device=/dev/disk/by-label/feedsyncd directory=/srv/feedsyncd fstype=ext4 \
  op monitor interval=20s timeout=40s
# The monitor is that of systemd. "feedsyncd status --check" is no monitor: a feed that is held would move the daemon.
# The stop has 60 s: the unit itself ends what takes longer than 45 s.
pcs resource create feedsyncd systemd:feedsyncd \
  op start timeout=300s op stop timeout=60s op monitor interval=10s timeout=30s
# In this order on one node: first the disk, then the daemon.
pcs resource group add feedsyncd-group feedsyncd-disk feedsyncd
# After a takeover it stays where it is.
pcs resource meta feedsyncd-group resource-stickiness=100
