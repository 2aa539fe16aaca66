/** The resources that should be served, by group and version. Discovery and OpenAPI documents are compared for these only. */
const servedResources: Readonly<Record<string, readonly string[]>> = {
  v1: [
    'bindings',
    'configmaps',
    'endpoints',
    'events',
    'limitranges',
    'namespaces',
    'nodes',
    'persistentvolumeclaims',
    'persistentvolumes',
    'pods',
    'podtemplates',
    'replicationcontrollers',
    'resourcequotas',
    'secrets',
    'serviceaccounts',
    'services',
  ],
  'apiextensions.k8s.io/v1': ['customresourcedefinitions'],
  'apps/v1': ['controllerrevisions', 'daemonsets', 'deployments', 'replicasets', 'statefulsets'],
  'authentication.k8s.io/v1': ['selfsubjectreviews', 'tokenreviews'],
  'authorization.k8s.io/v1': [
    'localsubjectaccessreviews',
    'selfsubjectaccessreviews',
    'selfsubjectrulesreviews',
    'subjectaccessreviews',
  ],
  'batch/v1': ['cronjobs', 'jobs'],
  'coordination.k8s.io/v1': ['leases'],
  'discovery.k8s.io/v1': ['endpointslices'],
  'events.k8s.io/v1': ['events'],
  'node.k8s.io/v1': ['runtimeclasses'],
  'policy/v1': ['poddisruptionbudgets'],
  'rbac.authorization.k8s.io/v1': ['clusterrolebindings', 'clusterroles', 'rolebindings', 'roles'],
  'resource.k8s.io/v1': ['deviceclasses', 'resourceclaims', 'resourceclaimtemplates', 'resourceslices'],
  'scheduling.k8s.io/v1': ['priorityclasses'],
  'storage.k8s.io/v1': [
    'csidrivers',
    'csinodes',
    'csistoragecapacities',
    'storageclasses',
    'volumeattachments',
    'volumeattributesclasses',
  ],
};

export const servedVersions = Object.keys(servedResources);

export function isServed(apiVersion: string, resource: string): boolean {
  const [plural = ''] = resource.split('/');
  return servedResources[apiVersion]?.includes(plural) === true;
}

export function isServedGroup(group: string): boolean {
  return servedVersions.some((apiVersion) => groupOf(apiVersion) === group);
}

/** `/api/v1`, `/apis/apps/v1`. */
export function pathOf(apiVersion: string): string {
  return apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
}

function groupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
}
