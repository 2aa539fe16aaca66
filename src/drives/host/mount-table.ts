/** One line of `/proc/self/mountinfo`. */
export interface HostMount {
  /** Major and minor number of the filesystem's device, such as `8:16`. */
  readonly device: string;
  /** The directory of the filesystem that is visible here. */
  readonly root: string;
  readonly path: string;
  /** Options of this mount, such as `ro`. */
  readonly options: readonly string[];
  readonly type: string;
  /** Options of the filesystem, such as `prjquota`. */
  readonly filesystemOptions: readonly string[];
}

/** The mounts of a process, in the order in which they were made. */
export class MountTable {
  readonly mounts: readonly HostMount[];

  constructor(mounts: readonly HostMount[]) {
    this.mounts = mounts;
  }

  /** Lines that are not as proc(5) describes them are left out. */
  static parse(text: string): MountTable {
    return new MountTable(text.split('\n').flatMap((line) => parseLine(line) ?? []));
  }

  /** The mount that a user of the path sees: of several, the last one. */
  at(path: string): HostMount | undefined {
    return this.mounts.findLast((mount) => mount.path === path);
  }

  /** All mounts of a filesystem. */
  of(device: string): readonly HostMount[] {
    return this.mounts.filter((mount) => mount.device === device);
  }
}

/** `36 35 98:0 /root /path rw,noatime shared:1 - xfs /dev/sdb rw,prjquota`; between options and the dash are any number of fields. */
function parseLine(line: string): HostMount | undefined {
  const fields = line.split(' ');
  const dash = fields.indexOf('-', 6);
  const [, , device, root, path, options] = fields;
  const [type, , filesystemOptions] = fields.slice(dash + 1);
  if (dash === -1 || device === undefined || root === undefined || path === undefined) return undefined;
  return {
    device,
    root: unescaped(root),
    path: unescaped(path),
    options: (options ?? '').split(','),
    type: type ?? '',
    filesystemOptions: (filesystemOptions ?? '').split(','),
  };
}

/** The kernel writes spaces, tabs, line ends and backslashes as three octal digits. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
