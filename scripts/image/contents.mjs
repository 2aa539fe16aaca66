/**
 * What the image takes from Debian: programs that the driver of local drives starts, and the packages in which they and their libraries are.
 * A package is not installed: the image gets the programs below, the libraries that they and Node load, and nothing else, so that there
 * is no shell and no program that can be started with another user's permissions.
 */

/** The release of Debian, and what security support adds to it. */
export const debian = {
  release: '13',
  sources: [
    { mirror: 'http://deb.debian.org/debian', suite: 'trixie' },
    { mirror: 'http://deb.debian.org/debian-security', suite: 'trixie-security' },
  ],
};

/** Programs, by the path in their package. `src/drives` starts them; nothing else in the image does. */
export const programs = [
  'usr/bin/cp',
  'usr/bin/find',
  'usr/bin/mount',
  'usr/bin/rm',
  'usr/bin/sync',
  'usr/bin/umount',
  'usr/sbin/blkid',
  'usr/sbin/mkfs.xfs',
  'usr/sbin/wipefs',
  'usr/sbin/xfs_io',
  'usr/sbin/xfs_quota',
  'usr/sbin/xfs_repair',
];

/** Packages with those programs and with every library that they, Node and the native modules need. */
export const debianPackages = [
  'coreutils',
  'findutils',
  'gcc-14-base',
  'libacl1',
  'libattr1',
  'libblkid1',
  'libbsd0',
  'libc6',
  'libcap2',
  'libdevmapper1.02.1',
  'libedit2',
  'libgcc-s1',
  'libinih1',
  'libmd0',
  'libmount1',
  'libpcre2-8-0',
  'libselinux1',
  'libsmartcols1',
  'libstdc++6',
  'libtinfo6',
  'libudev1',
  'liburcu8t64',
  'libuuid1',
  'mount',
  'util-linux',
  'xfsprogs',
];

/** The packages of the npm registry that contain Node's official builds. */
export const nodeVersion = '24.21.0';

export const platforms = {
  'linux/amd64': { architecture: 'amd64', npmCpu: 'x64', libraries: 'usr/lib/x86_64-linux-gnu' },
  'linux/arm64': { architecture: 'arm64', npmCpu: 'arm64', libraries: 'usr/lib/aarch64-linux-gnu' },
};
