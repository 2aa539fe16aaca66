/** A Drive, as far as it matters for which of several Drives a filesystem belongs to. */
export interface FilesystemUser {
  readonly name: string;
  readonly uid: string;
  /** Equal for Drives of one filesystem; empty if the Drive names none. */
  readonly filesystem: string;
  /** `metadata.creationTimestamp`; empty if there is none. */
  readonly createdAt: string;
}

/**
 * Several Drives of one node can name one filesystem. Its bytes exist once, so one of them counts: the oldest, then the one with the
 * smallest uid. Every component decides alike, because neither can change. Undefined if there is none.
 */
export function ownerOfFilesystem<T extends FilesystemUser>(users: Iterable<T>): T | undefined {
  let owner: T | undefined;
  for (const user of users) if (owner === undefined || isOlder(user, owner)) owner = user;
  return owner;
}

/** The Drives that name the filesystem of another Drive, each with the name of the Drive that it belongs to. */
export function duplicateDrives(drives: Iterable<FilesystemUser>): ReadonlyMap<string, string> {
  const all = [...drives].filter(({ filesystem }) => filesystem !== '');
  const owners = new Map<string, FilesystemUser>();
  for (const user of all)
    owners.set(user.filesystem, ownerOfFilesystem([owners.get(user.filesystem) ?? user, user])!);
  const duplicates = new Map<string, string>();
  for (const user of all) {
    const owner = owners.get(user.filesystem)!;
    if (owner !== user) duplicates.set(user.name, owner.name);
  }
  return duplicates;
}

/** Equal for Drives of one filesystem. UUIDs are equal in any letter case. */
export function filesystemKey(nodeName: string, uuid: string): string {
  return uuid === '' ? '' : `${nodeName} ${uuid.toLowerCase()}`;
}

/** Times have one format, in UTC, so that they can be compared as text. Names are for files, whose objects have no uid. */
function isOlder(a: FilesystemUser, b: FilesystemUser): boolean {
  if (a.createdAt !== b.createdAt) return a.createdAt < b.createdAt;
  return a.uid === b.uid ? a.name < b.name : a.uid < b.uid;
}
