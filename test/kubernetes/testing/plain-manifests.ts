import type { ChartValues } from './helm.ts';

/** The files of `deploy/` that are rendered from the chart, each with its first lines and its values. */
export const plainManifests: Readonly<
  Record<string, { readonly title: string; readonly values: ChartValues }>
> = {
  'stowage.yaml': {
    title: 'The Stowage scheduler, for pods with `schedulerName: stowage`. See docs/on-a-real-cluster.md.',
    values: {},
  },
  'extender.yaml': {
    title: `The extender for kube-scheduler. See docs/extender.md. It needs a Secret stowage-extender-tls with tls.crt, tls.key and ca.crt,
# the authority of kube-scheduler's client certificate.`,
    values: {
      scheduler: { enabled: false },
      extender: { enabled: true, tls: { existingSecret: 'stowage-extender-tls' } },
    },
  },
  'console.yaml': {
    title: 'The web console. See docs/console.md.',
    values: { scheduler: { enabled: false }, console: { enabled: true } },
  },
  'csi.yaml': {
    title: `The account and the rights for \`stowage run\` with your CSI driver. See docs/csi-drivers.md. Start Stowage beside the controller
# service of your driver, with this service account.`,
    values: { scheduler: { enabled: false }, csi: { enabled: true, workload: 'none' } },
  },
  'drives.yaml': {
    title: 'The driver of local drives with its class. See docs/drives.md. Install deploy/crds first.',
    values: { scheduler: { enabled: false }, drives: { enabled: true } },
  },
  'disks.yaml': {
    title: 'The driver of disks with its class. See docs/disks.md. Install deploy/crds first.',
    values: { scheduler: { enabled: false }, disks: { enabled: true } },
  },
};

/** Leaves out what only Helm needs. */
export function plainManifest(title: string, text: string): string {
  const lines = text
    .split('\n')
    .filter((line) => !/^# Source: |^ +(helm\.sh\/chart|app\.kubernetes\.io\/managed-by): /.test(line));
  const objects = lines
    .join('\n')
    .split(/^---$/m)
    .map((object) => object.trim())
    .filter((object) => object !== '');
  const note = 'Rendered from deploy/chart: change it there, and put the image that your nodes find.';
  return `# ${title}\n# ${note}\n${objects.join('\n---\n')}\n`;
}
