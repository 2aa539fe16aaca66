import { parseAllDocuments } from 'yaml';
import type { PodTemplateSpec } from '../../../src/kube/api/core.ts';
import type { TestBed } from '../test-bed.ts';
import { applied } from './audited-bed.ts';

const namespace = 'kube-system';

/** A Deployment or DaemonSet of the chart. */
export interface InstalledWorkload {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly spec: { readonly selector: object; readonly template: PodTemplateSpec };
}

/** The only workload of this kind in a manifest. */
export function workloadIn(manifest: string, kind: 'Deployment' | 'DaemonSet'): InstalledWorkload {
  const found = parseAllDocuments(manifest)
    .map((each) => each.toJS() as InstalledWorkload | null)
    .find((object) => object?.kind === kind);
  if (found === undefined || found === null) throw new Error(`the manifest has no ${kind}`);
  return found;
}

/** The arguments of a container, for a process on this machine: free ports, and another socket. */
export function argumentsOf(
  { spec }: InstalledWorkload,
  container: string,
  csiAddress?: string,
): readonly string[] {
  const { args = [] } = spec.template.spec?.containers?.find(({ name }) => name === container) ?? {};
  return args.map((flag) => {
    if (csiAddress !== undefined && flag.startsWith('--csi-address=')) return `--csi-address=${csiAddress}`;
    return flag.replace(/^(--[a-z-]*address=):\d+$/, '$1127.0.0.1:0');
  });
}

/** The environment that the pod of {@link makePodOf} gives its containers. */
export function environmentOf({ metadata }: InstalledWorkload): Readonly<Record<string, string>> {
  return { POD_NAME: podNameOf(metadata.name), NAMESPACE: namespace };
}

/** As Kubernetes' controllers make it; publishers of capacity look for their owner above their pod. */
export async function makePodOf(bed: TestBed, { kind, metadata, spec }: InstalledWorkload): Promise<void> {
  const ownerOf = async (owner: string, name: string) => ({
    apiVersion: 'apps/v1',
    kind: owner,
    name,
    uid: await applied(bed, ['-n', namespace, 'get', owner, name, '-o', 'jsonpath={.metadata.uid}']),
    controller: true,
  });
  const { selector, template } = spec;
  const set = `${metadata.name}-1`;
  if (kind === 'Deployment') {
    const ownerReferences = [await ownerOf(kind, metadata.name)];
    await create(bed, {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: { name: set, namespace, ownerReferences },
      spec: { replicas: 1, selector, template },
    });
  }
  const ownerReferences = [
    kind === 'Deployment' ? await ownerOf('ReplicaSet', set) : await ownerOf(kind, metadata.name),
  ];
  await create(bed, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: podNameOf(metadata.name), namespace, ownerReferences },
    spec: template.spec,
  });
}

function podNameOf(workload: string): string {
  return `${workload}-1-x`;
}

async function create(bed: TestBed, object: object): Promise<void> {
  await applied(bed, ['create', '-f', '-'], JSON.stringify(object));
}
