/**
 * Limits of directories. An implementation stores what it needs with the directory itself, so that it survives a restart, a reboot and a move
 * of the drive. Calls for one mount must not run at the same time: two directories could get one project.
 */
export interface ProjectQuota {
  /** The mount option that the filesystem needs; undefined if sizes are not enforced. */
  readonly mountOption: string | undefined;
  /** Gives the directory of a volume a project without a limit. Everything that is made in it afterwards belongs to it, also links and pipes. */
  assign(directory: VolumeDirectory): Promise<void>;
  /** Limits the directory of a volume, and everything in it, to so many bytes. Another call changes the limit. */
  limit(directory: VolumeDirectory, bytes: number): Promise<void>;
  /** Ends the limit of a directory that is about to be removed. Does nothing if it has none. */
  lift(directory: VolumeDirectory): Promise<void>;
}

export interface VolumeDirectory {
  /** The mount point of the drive. */
  readonly mount: string;
  readonly path: string;
  readonly volume: string;
}

/** For kernels without project quota: a volume can take more than its size, up to the whole drive. */
export const unenforcedQuota: ProjectQuota = {
  mountOption: undefined,
  assign: async () => {},
  limit: async () => {},
  lift: async () => {},
};
