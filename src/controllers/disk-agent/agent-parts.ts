import type { ControllerContext } from '../../reconcile/controller.ts';
import type { DiskAgentCaches } from './agent-caches.ts';
import { DataFolder, type DataKind } from './files/data-folder.ts';
import type { HostFiles } from './files/host-files.ts';
import type { AgentDisk, AgentDisks } from './status/agent-disks.ts';

/** The parts that the loops of one agent share. */
export interface AgentParts {
  readonly nodeName: string;
  readonly context: ControllerContext;
  readonly files: HostFiles;
  readonly disks: AgentDisks;
  readonly caches: DiskAgentCaches;
  /** For other agents; only its hash is stored. */
  readonly newToken: () => string;
  /** Called after files were made, grown or removed. */
  readonly onFilesChanged: () => void;
}

/** The folder of a replica or image on one disk. */
export function dataFolderOn(
  { files }: Pick<AgentParts, 'files'>,
  { path: diskPath }: Pick<AgentDisk, 'path'>,
  { kind, name }: { readonly kind: DataKind; readonly name: string },
): DataFolder {
  return new DataFolder(files, { diskPath, kind, name });
}
