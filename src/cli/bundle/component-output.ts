import type { KubernetesCluster } from '../../cluster/kubernetes/client.ts';
import type { Pod } from '../../kube/api/core.ts';
import { ApiError } from '../../kube/api-error.ts';
import { listOf, textOf } from '../../kube/wire.ts';
import type { BundleFiles } from './bundle-files.ts';

/** The last lines and bytes of each log. */
const logLinesMax = 5_000;
const logBytesMax = 2 * 1024 * 1024;
/** The names of ports with metrics: those of the chart, and of the manifests of older versions. */
const metricsPorts: ReadonlySet<string> = new Set(['ops', 'ops-driver', 'http', 'metrics']);

/** Logs and metrics of one pod of ours: what may be read, and what not. */
export async function addComponentOutput(
  cluster: KubernetesCluster,
  pod: Pod,
  files: BundleFiles,
): Promise<void> {
  const namespace = textOf(pod.metadata?.namespace);
  const name = textOf(pod.metadata?.name);
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`;
  for (const { name: container = '' } of listOf(pod.spec?.containers)) {
    const query = `container=${encodeURIComponent(container)}&tailLines=${logLinesMax}&limitBytes=${logBytesMax}`;
    const file = `${fileName(namespace, name)}.${container}`;
    const what = `log of container ${container} of pod ${namespace}/${name}`;
    await addPage(cluster, `${path}/log?${query}`, { file: `logs/${file}.log`, what }, files);
    const status = listOf(pod.status?.containerStatuses).find((one) => one.name === container);
    if ((status?.restartCount ?? 0) > 0)
      await addPage(
        cluster,
        `${path}/log?${query}&previous=true`,
        { file: `logs/${file}.previous.log`, what: `${what}, before its last restart` },
        files,
      );
  }
  for (const { container, port } of metricsPortsOf(pod)) {
    const what = `metrics of container ${container} of pod ${namespace}/${name}`;
    const page = { file: `metrics/${fileName(namespace, name)}.${container}.txt`, what };
    await addPage(cluster, `${path}:${port}/proxy/metrics`, page, files);
  }
}

/** One text of the API server, or a note that it could not be read. */
export async function addPage(
  cluster: KubernetesCluster,
  path: string,
  { file, what }: { readonly file: string; readonly what: string },
  files: BundleFiles,
): Promise<void> {
  try {
    files.addText(file, what, (await cluster.page(path)).text);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    files.missed(what, error.message);
  }
}

/** Names of pods are longer than tar takes; their ends distinguish them. */
const fileNameMax = 60;

function fileName(namespace: string, name: string): string {
  return `${namespace}_${name}`.slice(-fileNameMax);
}

function metricsPortsOf({ spec }: Pod): readonly { readonly container: string; readonly port: number }[] {
  return listOf(spec?.containers).flatMap(({ name: container = '', ports }) =>
    listOf(ports).flatMap(({ name, containerPort: port }) =>
      port !== undefined && metricsPorts.has(textOf(name)) ? [{ container, port }] : [],
    ),
  );
}
