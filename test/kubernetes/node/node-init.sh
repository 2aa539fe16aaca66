#!/usr/bin/env bash
# Process 1 of a node: runs containerd and a kubelet in the node's own mount, pid, net, uts, ipc and cgroup namespaces, and ends with the node.
# When it ends, the kernel ends every process of the node; its mounts and its network go with them.
#   env: NODE (its name), DIR (its folder), NODE_IP, POD_CIDR, API_SERVER (host:port), IMAGES (archives), CGROUPS (v1 or v2),
#        KUBELET (the program), KUBECONFIG, NODE_LABELS
set -euo pipefail
hostname "$NODE"

# A node has the paths of a real one. They are folders of its own: a mount point on this machine could be removed by another process, and the
# mounts on it would disappear here. The tree becomes shared only after these binds; before, they would join the peer group of /, and
# every mount of a pod would appear twice.
mount --make-rprivate /
mount -t sysfs sysfs /sys
mkdir -p "$DIR"/{run,kubelet,stowage,containerd,cni,log}
mount --bind "$DIR/run" /run
mount --bind "$DIR/log" /var/log
mount -t tmpfs -o mode=755 tmpfs /var/lib
for folder in kubelet stowage containerd cni; do
  mkdir "/var/lib/$folder"
  mount --bind "$DIR/$folder" "/var/lib/$folder"
done
mkdir /run/cni
mount --make-rshared /

# The node's own cgroups look like the root.
if [ "$CGROUPS" = v2 ]; then
  mount -t cgroup2 cgroup2 /sys/fs/cgroup
  # A cgroup with children may have no processes of its own.
  mkdir -p /sys/fs/cgroup/init
  while read -r pid; do echo "$pid" > /sys/fs/cgroup/init/cgroup.procs 2> /dev/null || true; done < /sys/fs/cgroup/cgroup.procs
  for controller in $(cat /sys/fs/cgroup/cgroup.controllers); do
    echo "+$controller" > /sys/fs/cgroup/cgroup.subtree_control 2> /dev/null || true
  done
else
  mount -t tmpfs -o mode=755 tmpfs /sys/fs/cgroup
  awk 'NR > 1 && $4 == 1 && $2 != 0 { print $1 }' /proc/cgroups | while read -r controller; do
    mkdir -p "/sys/fs/cgroup/$controller"
    mount -t cgroup -o "$controller" cgroup "/sys/fs/cgroup/$controller"
  done
  mkdir -p /sys/fs/cgroup/systemd
  mount -t cgroup -o none,name=systemd cgroup /sys/fs/cgroup/systemd 2> /dev/null || rmdir /sys/fs/cgroup/systemd
fi

# The kubelet sets these for the whole kernel where they differ: it must find what it wants.
mkdir -p /run/sysctl
show() {
  [ -e "/proc/sys/$1" ] && [ "$(cat "/proc/sys/$1")" != "$2" ] || return 0
  local file="/run/sysctl/${1//\//.}"
  echo "$2" > "$file"
  mount --bind "$file" "/proc/sys/$1"
}
show vm/overcommit_memory 1
show vm/panic_on_oom 0
show kernel/panic 10
show kernel/panic_on_oops 1
show kernel/keys/root_maxkeys 1000000
show kernel/keys/root_maxbytes 25000000

ip link set lo up
until ip -4 addr show eth0 2> /dev/null | grep -q inet; do sleep 0.05; done
echo 1 > /proc/sys/net/ipv4/ip_forward
# The Service `kubernetes` without kube-proxy.
for chain in PREROUTING OUTPUT; do
  iptables -t nat -A "$chain" -d 10.96.0.1 -p tcp --dport 443 -j DNAT --to-destination "$API_SERVER"
done
cat > /run/cni/10-node.conflist << CNI
{"cniVersion":"0.4.0","name":"node","plugins":[{"type":"ptp","mtu":1400,"ipam":{"type":"host-local","dataDir":"/var/lib/cni/networks",
"ranges":[[{"subnet":"$POD_CIDR"}]],"routes":[{"dst":"0.0.0.0/0"}]}},
{"type":"portmap","capabilities":{"portMappings":true}}]}
CNI

# Without CAP_SYS_RESOURCE nobody may lower oom_score_adj. A sandbox asks for -998, and runc would fail.
restrict=true
sh -c 'echo -998 > /proc/self/oom_score_adj' 2> /dev/null && restrict=false
cat > "$DIR/containerd.toml" << TOML
version = 2
root = "/var/lib/containerd"
state = "/run/containerd"
oom_score = 0
[grpc]
  address = "/run/containerd/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "stowage.test/pause:1"
  restrict_oom_score_adj = $restrict
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "/run/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
TOML
containerd -c "$DIR/containerd.toml" > "$DIR/containerd.log" 2>&1 &
until ctr version > /dev/null 2>&1; do
  kill -0 $! || { cat "$DIR/containerd.log"; exit 1; }
  sleep 0.05
done
for archive in $IMAGES; do ctr -n k8s.io images import "$archive" > /dev/null; done
: > "$DIR/resolv.conf"

# Starts the kubelet again when it ends, as systemd does, unless the test stopped it.
run_kubelet() {
  while :; do
    while [ -e "$DIR/kubelet-stopped" ]; do sleep 0.05; done
    "$KUBELET" --config "$DIR/kubelet.yaml" --kubeconfig "$KUBECONFIG" --hostname-override "$NODE" --node-ip "$NODE_IP" \
      --root-dir /var/lib/kubelet --cert-dir "$DIR/pki" --node-labels "$NODE_LABELS" >> "$DIR/kubelet.log" 2>&1 || true
    sleep 0.1
  done
}
run_kubelet &

# Process 1 adopts orphans; bash collects them while it waits.
trap 'exit 0' TERM INT
while :; do
  sleep 3600 &
  wait $! || true
done
