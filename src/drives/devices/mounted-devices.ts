/** One line of /proc/self/mountinfo. */
export interface DeviceMount {
  readonly majorMinor: string;
  /** The directory of the filesystem that is mounted; `/` unless it is a bind mount. */
  readonly root: string;
  readonly mountPoint: string;
  /** The device, as it was named when it was mounted. */
  readonly source: string;
}

/** Parses /proc/self/mountinfo; see proc_pid_mountinfo(5). Lines of another form are ignored. */
export function parseDeviceMounts(text: string): readonly DeviceMount[] {
  return text.split('\n').flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ', 2);
    const [, , majorMinor, root, mountPoint] = before.split(' ');
    if (majorMinor === undefined || root === undefined || mountPoint === undefined) return [];
    const source = unescaped(after.split(' ')[1] ?? '');
    return [{ majorMinor, root: unescaped(root), mountPoint: unescaped(mountPoint), source }];
  });
}

/** The devices in /proc/swaps. */
export function parseSwapDevices(text: string): readonly string[] {
  const [, ...lines] = text.split('\n');
  return lines.flatMap((line) => {
    const [path = ''] = line.split(/\s/, 1);
    return path === '' ? [] : [unescaped(path)];
  });
}

/** The kernel writes spaces and other special characters as octal numbers: `\040`. */
function unescaped(text: string): string {
  return text.replace(/\\([0-7]{3})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 8)),
  );
}
