#!/bin/sh
# Process 1 of user-mode-linux: runs one command, and ends the kernel. The kernel's command line has, as environment, SHARE (a folder of this
# machine that the command may write, with the script `command`) and LIMIT (seconds after which the command is ended).
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/mnt TMPDIR=/mnt/tmp NO_COLOR=1
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t tmpfs tmp /mnt
mount -t tmpfs run /run
mkdir /mnt/share /mnt/tmp
mount -t hostfs -o "$SHARE" none /mnt/share
export SHARE=/mnt/share
# Shortly before that, the kernel prints what each task waits for.
(sleep $((LIMIT - 10)); echo 8 > /proc/sysrq-trigger; echo t > /proc/sysrq-trigger) &
timeout -k 10 "$LIMIT" sh "$SHARE/command" > "$SHARE/output" 2>&1
echo $? > "$SHARE/status"
umount -a -t xfs
sync
echo o > /proc/sysrq-trigger
sleep 60
