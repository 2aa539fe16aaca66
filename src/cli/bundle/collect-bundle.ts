import type { KubernetesCluster } from '../../cluster/kubernetes/client.ts';
import { packageVersion } from '../../io/files/package-version.ts';
import type { ArchiveFile } from '../../io/files/tar-archive.ts';
import type { Lease } from '../../kube/api/coordination.ts';
import type { KubeObject } from '../../kube/api/meta.ts';
import { ApiError } from '../../kube/api-error.ts';
import { apiVersionOf, qualifiedPlural } from '../../kube/resource.ts';
import { leases } from '../../kube/resources.ts';
import { textOf } from '../../kube/wire.ts';
import { examine } from '../../queries/doctor/examine.ts';
import { factItems } from '../../queries/doctor/facts.ts';
import { explainPendingPods } from '../../queries/explain/pending/explain-many.ts';
import { announcementOf } from '../../reconcile/leases/component-lease.ts';
import type { Clock } from '../../runtime/clock.ts';
import { messageOf } from '../../runtime/error-message.ts';
import { readFacts, readList, readOwnPods } from '../doctor/read-facts.ts';
import { renderDoctor } from '../doctor/render.ts';
import { renderedPending } from '../explain/pending/render.ts';
import { plainTerminal } from '../output/terminal.ts';
import { loadCluster } from '../source/load-cluster.ts';
import { BundleFiles } from './bundle-files.ts';
import { type BundledKind, bundledKinds } from './bundled-kinds.ts';
import { addComponentOutput, addPage } from './component-output.ts';

export interface CollectOptions {
  readonly clock: Clock;
  readonly onProgress: (text: string) => void;
}

export interface CollectedBundle {
  readonly files: readonly ArchiveFile[];
  readonly notReadCount: number;
}

/** Reads everything that a bundle contains. Rejects only if the server does not answer: what may not be read is in the manifest. */
export async function collectBundle(
  cluster: KubernetesCluster,
  options: CollectOptions,
): Promise<CollectedBundle> {
  const { clock, onProgress } = options;
  const files = new BundleFiles();
  const serverVersion = await cluster.serverVersion();
  onProgress('examining the cluster');
  const facts = await readFacts(cluster, options);
  const report = examine(facts);
  files.addJson('doctor.json', 'what stowage doctor found', report);
  const table = renderDoctor(report, { terminal: plainTerminal, isWide: true });
  files.addText('doctor.txt', 'the same for people', table);
  for (const kind of bundledKinds) await addObjects(cluster, kind, files, options);
  onProgress('explaining pending pods');
  await addExplanations(cluster, files, options);
  for (const pod of factItems(await readOwnPods(cluster))) {
    onProgress(`reading the log of ${textOf(pod.metadata?.name)}`);
    await addComponentOutput(cluster, pod, files);
  }
  if (facts.server.isEmbedded)
    await addPage(cluster, '/metrics', { file: 'metrics/server.txt', what: 'metrics of stowage up' }, files);
  const versions = {
    server: serverVersion,
    stowage: packageVersion(),
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    ...(await componentVersions(cluster)),
  };
  const createdAt = new Date(clock.nowMs()).toISOString();
  return { files: files.finish({ createdAt, versions }), notReadCount: files.notReadCount };
}

async function addObjects(
  cluster: KubernetesCluster,
  { resource, short = (object) => object, isWanted = () => true }: BundledKind,
  files: BundleFiles,
  { onProgress }: CollectOptions,
): Promise<void> {
  const plural = qualifiedPlural(resource);
  onProgress(`reading ${plural}`);
  const what = `all ${plural}`;
  try {
    const fact = await readList(cluster, resource);
    if ('unread' in fact) return files.missed(what, fact.unread);
    const apiVersion = apiVersionOf(resource);
    const items = fact.value.filter(isWanted).map((object: KubeObject) => {
      const { apiVersion: _, kind: __, ...rest } = object;
      return short({ apiVersion, kind: resource.kind, ...rest });
    });
    if (items.length === 0) return;
    files.addJson(`objects/${plural}.json`, what, { apiVersion: 'v1', kind: 'List', items });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    files.missed(what, error.message);
  }
}

/** Explaining is extra: whatever goes wrong with it, the rest of the bundle is worth having. */
async function addExplanations(
  cluster: KubernetesCluster,
  files: BundleFiles,
  { clock, onProgress }: CollectOptions,
): Promise<void> {
  const { server, source, namespace } = cluster;
  try {
    const serverVersion = () => cluster.serverVersion();
    const view = await loadCluster(cluster, { namespace }, { server, source, onProgress, serverVersion });
    const options = { nowMs: clock.nowMs(), profile: undefined, onProgress, where: server };
    const pending = explainPendingPods(view, undefined, options);
    files.addJson('explain.json', 'why pods are pending', pending);
    files.addText('explain.txt', 'the same for people', renderedPending(pending, 'wide', plainTerminal));
  } catch (error) {
    files.missed('why pods are pending', messageOf(error));
  }
}

/** As the components announce them on their Leases. */
async function componentVersions(cluster: KubernetesCluster): Promise<Readonly<Record<string, string>>> {
  const fact = await readList(cluster, leases, { namespace: 'kube-system' });
  const announced = factItems<Lease>(fact).flatMap((lease): [string, string][] => {
    const { version } = announcementOf(lease);
    return version === '' ? [] : [[textOf(lease.metadata?.name), version]];
  });
  return Object.fromEntries(announced);
}
