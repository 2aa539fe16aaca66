import type { Cluster } from '../../cluster/cluster.ts';
import type { SelfSubjectAccessReview, SubjectAccessReview } from '../../kube/api/authorization.ts';
import type { ServiceAccount } from '../../kube/api/core.ts';
import { isReason } from '../../kube/api-error.ts';
import type { Resource } from '../../kube/resource.ts';
import { textOf } from '../../kube/wire.ts';
import type { AccountRights, Fact } from '../../queries/doctor/facts.ts';
import { type ComponentRights, type Right, rightsOf, rightText } from './component-rights.ts';

/** The maximum number of concurrent reviews. */
const reviewsAtOnce = 8;

const authorization = { group: 'authorization.k8s.io', version: 'v1', namespaced: false } as const;
const selfReviews: Resource<SelfSubjectAccessReview> = {
  ...authorization,
  kind: 'SelfSubjectAccessReview',
  plural: 'selfsubjectaccessreviews',
};
const subjectReviews: Resource<SubjectAccessReview> = {
  ...authorization,
  kind: 'SubjectAccessReview',
  plural: 'subjectaccessreviews',
};

const cluster = { subresource: '', name: '', namespace: '' };

/** The main permissions for `helm install` and `kubectl apply` of the files in `deploy`; an administrator has all of them, other users lack most. */
const installation: readonly Right[] = [
  { ...cluster, verb: 'create', group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions' },
  { ...cluster, verb: 'create', group: 'rbac.authorization.k8s.io', resource: 'clusterroles' },
  { ...cluster, verb: 'create', group: 'rbac.authorization.k8s.io', resource: 'clusterrolebindings' },
  { ...cluster, verb: 'create', group: 'storage.k8s.io', resource: 'csidrivers' },
  { ...cluster, verb: 'create', group: 'storage.k8s.io', resource: 'storageclasses' },
  { ...cluster, verb: 'create', group: 'apps', resource: 'deployments', namespace: 'kube-system' },
  { ...cluster, verb: 'create', group: 'apps', resource: 'daemonsets', namespace: 'kube-system' },
  { ...cluster, verb: 'create', group: '', resource: 'serviceaccounts', namespace: 'kube-system' },
];

/** Returns the permissions that an installation needs and the caller lacks. Every authenticated user may create such a review. */
export async function missingCallerRights(server: Cluster): Promise<Fact<readonly string[]>> {
  const isAllowed = async (right: Right) => {
    const review = await server
      .resource(selfReviews)
      .create({ metadata: {}, spec: { resourceAttributes: right } });
    return review.status?.allowed === true;
  };
  return await asFact('your own rights', async () => await missingOf(installation, isAllowed));
}

/** The permissions that the installed service accounts lack; only users that may review the access of others can see them. */
export async function missingAccountRights(
  server: Cluster,
  accounts: readonly ServiceAccount[],
  components: readonly ComponentRights[],
): Promise<Fact<readonly AccountRights[]>> {
  const installed = components.flatMap((component) =>
    accounts.filter((account) => belongsTo(account, component)).map((account) => ({ account, component })),
  );
  return await asFact('the rights of service accounts', async () => {
    const found: AccountRights[] = [];
    for (const { account, component } of installed) {
      const namespace = textOf(account.metadata?.namespace);
      const name = textOf(account.metadata?.name);
      const user = `system:serviceaccount:${namespace}:${name}`;
      const groups = [
        'system:serviceaccounts',
        `system:serviceaccounts:${namespace}`,
        'system:authenticated',
      ];
      const isAllowed = async (right: Right) => {
        const spec = { user, groups, resourceAttributes: right };
        const review = await server.resource(subjectReviews).create({ metadata: {}, spec });
        return review.status?.allowed === true;
      };
      found.push({ namespace, name, missing: await missingOf(rightsOf(component), isAllowed) });
    }
    return found;
  });
}

/** Recognises the account by its name in the manifests of `deploy`, or by the labels of the chart. */
function belongsTo({ metadata }: ServiceAccount, { account, component }: ComponentRights): boolean {
  const labels = metadata?.labels ?? {};
  const isOurs = labels['app.kubernetes.io/name'] === 'stowage';
  return metadata?.name === account || (isOurs && labels['app.kubernetes.io/component'] === component);
}

async function missingOf(
  rights: readonly Right[],
  isAllowed: (right: Right) => Promise<boolean>,
): Promise<readonly string[]> {
  const missing: string[] = [];
  for (let at = 0; at < rights.length; at += reviewsAtOnce) {
    const some = rights.slice(at, at + reviewsAtOnce);
    const answers = await Promise.all(some.map(isAllowed));
    missing.push(...some.filter((_, place) => !answers[place]).map(rightText));
  }
  return [...new Set(missing)];
}

async function asFact<T>(what: string, read: () => Promise<T>): Promise<Fact<T>> {
  try {
    return { value: await read() };
  } catch (error) {
    if (!isReason(error, 'Forbidden', 'NotFound', 'MethodNotAllowed')) throw error;
    return { unread: `no right to review ${what}` };
  }
}
