import { readFile } from 'node:fs/promises';
import { packageFile } from '../../io/files/package-files.ts';

/** The permissions that a component needs. */
export interface ComponentRights {
  /** The name of its service account in the manifests. */
  readonly account: string;
  /** The label of its service account in the chart. */
  readonly component: string;
  readonly rules: readonly ComponentRule[];
}

export interface ComponentRule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
  readonly resourceNames?: readonly string[];
  /** Only in this namespace. */
  readonly namespace?: string;
}

/** One right, as an access review asks for it. */
export interface Right {
  readonly verb: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly name: string;
  readonly namespace: string;
}

/** The rights of all components: what the roles of `deploy` grant, in a form that is read in a moment. */
export async function componentRights(): Promise<readonly ComponentRights[]> {
  const lines = await readFile(packageFile('deploy/rights.ndjson'), 'utf8');
  return lines
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

export function rightsOf({ rules }: ComponentRights): readonly Right[] {
  return rules.flatMap(({ apiGroups, resources, verbs, resourceNames = [''], namespace = '' }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((path) => {
        const [resource = '', subresource = ''] = path.split('/');
        return resourceNames.flatMap((name) =>
          verbs.map((verb) => ({ verb, group, resource, subresource, name, namespace })),
        );
      }),
    ),
  );
}

/** `patch persistentvolumeclaims/status`, `update leases stowage-scheduler in kube-system`. */
export function rightText({ verb, group, resource, subresource, name, namespace }: Right): string {
  const isCore = group === '' || group.endsWith('.k8s.io') || group === 'apps';
  const plural = isCore ? resource : `${resource}.${group}`;
  const path = subresource === '' ? plural : `${plural}/${subresource}`;
  const named = name === '' ? path : `${path} ${name}`;
  return `${verb} ${named}${namespace === '' ? '' : ` in ${namespace}`}`;
}
