import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { projectRoot } from '../project-root.ts';

/** The programs that tests can use. */
export const programNames = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubectl',
  'kwok',
  'csi-sanity',
  'csi-mock',
  'kubelet',
  'helm',
  'alert-check',
] as const;
export type ProgramName = (typeof programNames)[number];

/**
 * The Go module of each Kubernetes release that `stowage run` and the extender are tested with. The embedded cluster and the profile
 * `upstream` follow 1.36; the others are built only on request.
 */
const kubernetesModules = {
  '1.36': 'kubernetes',
  '1.35': 'kubernetes-1.35',
  '1.34': 'kubernetes-1.34',
} as const;
export type KubernetesRelease = keyof typeof kubernetesModules;

/** The value of STOWAGE_KUBERNETES, or 1.36. */
export function kubernetesRelease(env: NodeJS.ProcessEnv): KubernetesRelease {
  const { STOWAGE_KUBERNETES: named = '', KUBEBUILDER_ASSETS: assets = '' } = env;
  if (named === '') return '1.36';
  if (!isRelease(named)) {
    const releases = Object.keys(kubernetesModules).sort().join(', ');
    throw new Error(`STOWAGE_KUBERNETES=${named}: unknown release; must be one of ${releases}, or unset`);
  }
  // The release in that folder is unknown and would be mistaken for the named one.
  if (assets !== '') throw new Error('STOWAGE_KUBERNETES and KUBEBUILDER_ASSETS are both set: unset one');
  return named;
}

function isRelease(name: string): name is KubernetesRelease {
  return Object.hasOwn(kubernetesModules, name);
}

/** How a program is built: the pinned module that requires it, its package, and the linker flags. */
export interface Recipe {
  readonly name: ProgramName;
  readonly moduleFolder: string;
  readonly package: string;
  readonly flags: readonly string[];
  /** A hash of everything that affects the program; another version pin gives another hash. */
  readonly fingerprint: string;
}

const modules = join(projectRoot, 'test/kubernetes/modules');

const packages: Readonly<Record<ProgramName, { readonly module: string; readonly package: string }>> = {
  etcd: { module: 'etcd', package: '.' },
  'kube-apiserver': { module: 'kubernetes', package: 'k8s.io/kubernetes/cmd/kube-apiserver' },
  'kube-controller-manager': {
    module: 'kubernetes',
    package: 'k8s.io/kubernetes/cmd/kube-controller-manager',
  },
  'kube-scheduler': { module: 'kubernetes', package: 'k8s.io/kubernetes/cmd/kube-scheduler' },
  kubectl: { module: 'kubernetes', package: 'k8s.io/kubernetes/cmd/kubectl' },
  kwok: { module: 'kwok', package: 'sigs.k8s.io/kwok/cmd/kwok' },
  'csi-sanity': { module: 'csi-sanity', package: 'github.com/kubernetes-csi/csi-test/v5/cmd/csi-sanity' },
  'csi-mock': { module: 'csi-mock', package: '.' },
  // A module of its own: it needs packages that the other programs do not, and a change of their module builds all of them again.
  kubelet: { module: 'kubelet', package: 'k8s.io/kubernetes/cmd/kubelet' },
  helm: { module: 'helm', package: 'helm.sh/helm/v4/cmd/helm' },
  // Prometheus' parser and engine for our alerts; promtool would need most of Prometheus.
  'alert-check': { module: 'alert-check', package: '.' },
};

/** `folder` contains the modules; tests use another one. */
export function recipeOf(name: ProgramName, release: KubernetesRelease, folder = modules): Recipe {
  const { module, package: goPackage } = packages[name];
  const moduleFolder = join(folder, module === 'kubernetes' ? kubernetesModules[release] : module);
  const flags = ['-buildvcs=false', '-ldflags', linkerFlags(module, moduleFolder)];
  return { name, moduleFolder, package: goPackage, flags, fingerprint: fingerprint(moduleFolder, flags) };
}

/** The linker sets the version of Kubernetes' programs; without it, clients see v0.0.0. */
function linkerFlags(module: string, moduleFolder: string): string {
  const small = '-s -w';
  if (module !== 'kubernetes' && module !== 'kubelet') return small;
  const goMod = readFileSync(join(moduleFolder, 'go.mod'), 'utf8');
  const [, version, major, minor] = /k8s\.io\/kubernetes (v(\d+)\.(\d+)\.\d+)/.exec(goMod) ?? [];
  if (version === undefined) throw new Error(`${moduleFolder}/go.mod does not pin k8s.io/kubernetes`);
  const set = (name: string, value = '') => `-X k8s.io/component-base/version.${name}=${value}`;
  return [small, set('gitVersion', version), set('gitMajor', major), set('gitMinor', minor)].join(' ');
}

function fingerprint(moduleFolder: string, flags: readonly string[]): string {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch} ${flags.join(' ')}\n`);
  for (const file of readdirSync(moduleFolder).sort()) {
    hash.update(`${file}\n`).update(readFileSync(join(moduleFolder, file)));
  }
  return hash.digest('hex').slice(0, 16);
}
