// Generated from the bootstrap policy of Kubernetes; do not edit. To regenerate: npm run generate
import type { BootstrapBinding, BootstrapRole } from '../bootstrap-types.ts';

export const bootstrapRoles: readonly BootstrapRole[] = [
  { name: 'admin', aggregates: [{ 'rbac.authorization.k8s.io/aggregate-to-admin': 'true' }], rules: [] },
  {
    name: 'cluster-admin',
    rules: [
      { apiGroups: ['*'], resources: ['*'], verbs: ['*'] },
      { nonResourceURLs: ['*'], verbs: ['*'] },
    ],
  },
  {
    name: 'edit',
    labels: { 'rbac.authorization.k8s.io/aggregate-to-admin': 'true' },
    aggregates: [{ 'rbac.authorization.k8s.io/aggregate-to-edit': 'true' }],
    rules: [],
  },
  {
    name: 'system:aggregate-to-admin',
    labels: { 'rbac.authorization.k8s.io/aggregate-to-admin': 'true' },
    rules: [
      { apiGroups: ['authorization.k8s.io'], resources: ['localsubjectaccessreviews'], verbs: ['create'] },
      {
        apiGroups: ['rbac.authorization.k8s.io'],
        resources: ['rolebindings', 'roles'],
        verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
      },
    ],
  },
  {
    name: 'system:aggregate-to-edit',
    labels: { 'rbac.authorization.k8s.io/aggregate-to-edit': 'true' },
    rules: [
      {
        apiGroups: [''],
        resources: [
          'pods/attach',
          'pods/exec',
          'pods/portforward',
          'pods/proxy',
          'secrets',
          'services/proxy',
        ],
        verbs: ['get', 'list', 'watch'],
      },
      { apiGroups: [''], resources: ['serviceaccounts'], verbs: ['impersonate'] },
      {
        apiGroups: [''],
        resources: ['pods', 'pods/attach', 'pods/exec', 'pods/portforward', 'pods/proxy'],
        verbs: ['create', 'delete', 'deletecollection', 'patch', 'update'],
      },
      { apiGroups: [''], resources: ['pods/eviction'], verbs: ['create'] },
      {
        apiGroups: [''],
        resources: [
          'configmaps',
          'persistentvolumeclaims',
          'replicationcontrollers',
          'replicationcontrollers/scale',
          'secrets',
          'serviceaccounts',
          'services',
          'services/proxy',
        ],
        verbs: ['create', 'delete', 'deletecollection', 'patch', 'update'],
      },
      { apiGroups: [''], resources: ['serviceaccounts/token'], verbs: ['create'] },
      {
        apiGroups: ['', 'events.k8s.io'],
        resources: ['events'],
        verbs: ['create', 'delete', 'deletecollection', 'patch', 'update'],
      },
      {
        apiGroups: ['apps'],
        resources: [
          'daemonsets',
          'deployments',
          'deployments/rollback',
          'deployments/scale',
          'replicasets',
          'replicasets/scale',
          'statefulsets',
          'statefulsets/scale',
        ],
        verbs: ['create', 'delete', 'deletecollection', 'patch', 'update'],
      },
      {
        apiGroups: ['autoscaling'],
        resources: ['horizontalpodautoscalers'],
        verbs: ['create', 'delete', 'deletecollection', 'patch', 'update'],
      },
      {
        apiGroups: ['batch'],
        resources: ['cronjobs', 'jobs'],
        verbs: ['create', 'delete', 'deletecollection', 'patch', 'update'],
      },
      {
        apiGroups: ['extensions'],
        resources: [
          'daemonsets',
          'deployments',
          'deployments/rollback',
          'deployments/scale',
          'ingresses',
          'networkpolicies',
          'replicasets',
          'replicasets/scale',
          'replicationcontrollers/scale',
        ],
        verbs: ['create', 'delete', 'deletecollection', 'patch', 'update'],
      },
      {
        apiGroups: ['policy'],
        resources: ['poddisruptionbudgets'],
        verbs: ['create', 'delete', 'deletecollection', 'patch', 'update'],
      },
      {
        apiGroups: ['networking.k8s.io'],
        resources: ['ingresses', 'networkpolicies'],
        verbs: ['create', 'delete', 'deletecollection', 'patch', 'update'],
      },
      {
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
      },
      {
        apiGroups: ['resource.k8s.io'],
        resources: ['resourceclaims', 'resourceclaimtemplates'],
        verbs: ['create', 'delete', 'deletecollection', 'patch', 'update'],
      },
    ],
  },
  {
    name: 'system:aggregate-to-view',
    labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' },
    rules: [
      {
        apiGroups: [''],
        resources: [
          'configmaps',
          'endpoints',
          'persistentvolumeclaims',
          'persistentvolumeclaims/status',
          'pods',
          'replicationcontrollers',
          'replicationcontrollers/scale',
          'serviceaccounts',
          'services',
          'services/status',
        ],
        verbs: ['get', 'list', 'watch'],
      },
      {
        apiGroups: [''],
        resources: [
          'bindings',
          'limitranges',
          'namespaces/status',
          'pods/log',
          'pods/status',
          'replicationcontrollers/status',
          'resourcequotas',
          'resourcequotas/status',
        ],
        verbs: ['get', 'list', 'watch'],
      },
      { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['get', 'list', 'watch'] },
      {
        apiGroups: ['apps'],
        resources: [
          'controllerrevisions',
          'daemonsets',
          'daemonsets/status',
          'deployments',
          'deployments/scale',
          'deployments/status',
          'replicasets',
          'replicasets/scale',
          'replicasets/status',
          'statefulsets',
          'statefulsets/scale',
          'statefulsets/status',
        ],
        verbs: ['get', 'list', 'watch'],
      },
      {
        apiGroups: ['autoscaling'],
        resources: ['horizontalpodautoscalers', 'horizontalpodautoscalers/status'],
        verbs: ['get', 'list', 'watch'],
      },
      {
        apiGroups: ['batch'],
        resources: ['cronjobs', 'cronjobs/status', 'jobs', 'jobs/status'],
        verbs: ['get', 'list', 'watch'],
      },
      {
        apiGroups: ['extensions'],
        resources: [
          'daemonsets',
          'daemonsets/status',
          'deployments',
          'deployments/scale',
          'deployments/status',
          'ingresses',
          'ingresses/status',
          'networkpolicies',
          'replicasets',
          'replicasets/scale',
          'replicasets/status',
          'replicationcontrollers/scale',
        ],
        verbs: ['get', 'list', 'watch'],
      },
      {
        apiGroups: ['policy'],
        resources: ['poddisruptionbudgets', 'poddisruptionbudgets/status'],
        verbs: ['get', 'list', 'watch'],
      },
      {
        apiGroups: ['networking.k8s.io'],
        resources: ['ingresses', 'ingresses/status', 'networkpolicies'],
        verbs: ['get', 'list', 'watch'],
      },
      {
        apiGroups: ['resource.k8s.io'],
        resources: ['resourceclaims', 'resourceclaims/status', 'resourceclaimtemplates'],
        verbs: ['get', 'list', 'watch'],
      },
    ],
  },
  {
    name: 'system:auth-delegator',
    rules: [
      { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
      { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
    ],
  },
  {
    name: 'system:basic-user',
    rules: [
      {
        apiGroups: ['authorization.k8s.io'],
        resources: ['selfsubjectaccessreviews', 'selfsubjectrulesreviews'],
        verbs: ['create'],
      },
      { apiGroups: ['authentication.k8s.io'], resources: ['selfsubjectreviews'], verbs: ['create'] },
    ],
  },
  {
    name: 'system:certificates.k8s.io:certificatesigningrequests:nodeclient',
    rules: [
      {
        apiGroups: ['certificates.k8s.io'],
        resources: ['certificatesigningrequests/nodeclient'],
        verbs: ['create'],
      },
    ],
  },
  {
    name: 'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient',
    rules: [
      {
        apiGroups: ['certificates.k8s.io'],
        resources: ['certificatesigningrequests/selfnodeclient'],
        verbs: ['create'],
      },
    ],
  },
  {
    name: 'system:certificates.k8s.io:kube-apiserver-client-approver',
    rules: [
      {
        apiGroups: ['certificates.k8s.io'],
        resourceNames: ['kubernetes.io/kube-apiserver-client'],
        resources: ['signers'],
        verbs: ['approve'],
      },
    ],
  },
  {
    name: 'system:certificates.k8s.io:kube-apiserver-client-kubelet-approver',
    rules: [
      {
        apiGroups: ['certificates.k8s.io'],
        resourceNames: ['kubernetes.io/kube-apiserver-client-kubelet'],
        resources: ['signers'],
        verbs: ['approve'],
      },
    ],
  },
  {
    name: 'system:certificates.k8s.io:kubelet-serving-approver',
    rules: [
      {
        apiGroups: ['certificates.k8s.io'],
        resourceNames: ['kubernetes.io/kubelet-serving'],
        resources: ['signers'],
        verbs: ['approve'],
      },
    ],
  },
  {
    name: 'system:certificates.k8s.io:legacy-unknown-approver',
    rules: [
      {
        apiGroups: ['certificates.k8s.io'],
        resourceNames: ['kubernetes.io/legacy-unknown'],
        resources: ['signers'],
        verbs: ['approve'],
      },
    ],
  },
  {
    name: 'system:controller:attachdetach-controller',
    rules: [
      {
        apiGroups: [''],
        resources: ['persistentvolumeclaims', 'persistentvolumes'],
        verbs: ['list', 'watch'],
      },
      { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['nodes/status'], verbs: ['patch', 'update'] },
      { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
      {
        apiGroups: ['storage.k8s.io'],
        resources: ['volumeattachments'],
        verbs: ['create', 'delete', 'get', 'list', 'watch'],
      },
      { apiGroups: ['storage.k8s.io'], resources: ['csidrivers'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['storage.k8s.io'], resources: ['csinodes'], verbs: ['get', 'list', 'watch'] },
    ],
  },
  {
    name: 'system:controller:certificate-controller',
    rules: [
      {
        apiGroups: ['certificates.k8s.io'],
        resources: ['certificatesigningrequests'],
        verbs: ['delete', 'get', 'list', 'watch'],
      },
      {
        apiGroups: ['certificates.k8s.io'],
        resources: ['certificatesigningrequests/approval', 'certificatesigningrequests/status'],
        verbs: ['update'],
      },
      {
        apiGroups: ['certificates.k8s.io'],
        resourceNames: ['kubernetes.io/kube-apiserver-client-kubelet'],
        resources: ['signers'],
        verbs: ['approve'],
      },
      {
        apiGroups: ['certificates.k8s.io'],
        resourceNames: [
          'kubernetes.io/kube-apiserver-client',
          'kubernetes.io/kube-apiserver-client-kubelet',
          'kubernetes.io/kubelet-serving',
          'kubernetes.io/legacy-unknown',
        ],
        resources: ['signers'],
        verbs: ['sign'],
      },
      { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    name: 'system:controller:clusterrole-aggregation-controller',
    rules: [
      {
        apiGroups: ['rbac.authorization.k8s.io'],
        resources: ['clusterroles'],
        verbs: ['escalate', 'get', 'list', 'patch', 'update', 'watch'],
      },
    ],
  },
  {
    name: 'system:controller:cronjob-controller',
    rules: [
      { apiGroups: ['batch'], resources: ['cronjobs'], verbs: ['get', 'list', 'update', 'watch'] },
      {
        apiGroups: ['batch'],
        resources: ['jobs'],
        verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
      },
      { apiGroups: ['batch'], resources: ['cronjobs/status'], verbs: ['update'] },
      { apiGroups: ['batch'], resources: ['cronjobs/finalizers'], verbs: ['update'] },
      { apiGroups: [''], resources: ['pods'], verbs: ['delete', 'list', 'watch'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    name: 'system:controller:daemon-set-controller',
    rules: [
      { apiGroups: ['apps', 'extensions'], resources: ['daemonsets'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['apps', 'extensions'], resources: ['daemonsets/status'], verbs: ['update'] },
      { apiGroups: ['apps', 'extensions'], resources: ['daemonsets/finalizers'], verbs: ['update'] },
      { apiGroups: [''], resources: ['nodes'], verbs: ['list', 'watch'] },
      { apiGroups: [''], resources: ['pods'], verbs: ['create', 'delete', 'list', 'patch', 'watch'] },
      { apiGroups: [''], resources: ['pods/binding'], verbs: ['create'] },
      {
        apiGroups: ['apps'],
        resources: ['controllerrevisions'],
        verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
      },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    name: 'system:controller:deployment-controller',
    rules: [
      {
        apiGroups: ['apps', 'extensions'],
        resources: ['deployments'],
        verbs: ['get', 'list', 'update', 'watch'],
      },
      { apiGroups: ['apps', 'extensions'], resources: ['deployments/status'], verbs: ['update'] },
      { apiGroups: ['apps', 'extensions'], resources: ['deployments/finalizers'], verbs: ['update'] },
      {
        apiGroups: ['apps', 'extensions'],
        resources: ['replicasets'],
        verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
      },
      { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'update', 'watch'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    name: 'system:controller:device-taint-eviction-controller',
    rules: [
      { apiGroups: [''], resources: ['pods'], verbs: ['delete', 'get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['pods/status'], verbs: ['patch', 'update'] },
      { apiGroups: ['resource.k8s.io'], resources: ['resourceclaims'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['resource.k8s.io'], resources: ['resourceslices'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['resource.k8s.io'], resources: ['deviceclasses'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    name: 'system:controller:disruption-controller',
    rules: [
      { apiGroups: ['apps', 'extensions'], resources: ['deployments'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['apps', 'extensions'], resources: ['replicasets'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['replicationcontrollers'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['apps'], resources: ['statefulsets'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['policy'], resources: ['poddisruptionbudgets/status'], verbs: ['update'] },
      { apiGroups: [''], resources: ['pods/status'], verbs: ['patch', 'update'] },
      { apiGroups: ['*'], resources: ['*/scale'], verbs: ['get'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    name: 'system:controller:endpoint-controller',
    rules: [
      { apiGroups: [''], resources: ['pods', 'services'], verbs: ['get', 'list', 'watch'] },
      {
        apiGroups: [''],
        resources: ['endpoints'],
        verbs: ['create', 'delete', 'get', 'list', 'update', 'watch'],
      },
      { apiGroups: [''], resources: ['endpoints/restricted'], verbs: ['create'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    name: 'system:controller:endpointslice-controller',
    rules: [
      { apiGroups: [''], resources: ['nodes', 'pods', 'services'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['services/finalizers'], verbs: ['update'] },
      {
        apiGroups: ['discovery.k8s.io'],
        resources: ['endpointslices'],
        verbs: ['create', 'delete', 'get', 'list', 'update', 'watch'],
      },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    name: 'system:controller:endpointslicemirroring-controller',
    rules: [
      { apiGroups: [''], resources: ['endpoints', 'services'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['services/finalizers'], verbs: ['update'] },
      { apiGroups: [''], resources: ['endpoints/finalizers'], verbs: ['update'] },
      {
        apiGroups: ['discovery.k8s.io'],
        resources: ['endpointslices'],
        verbs: ['create', 'delete', 'get', 'list', 'update', 'watch'],
      },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    name: 'system:controller:ephemeral-volume-controller',
    rules: [
      { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['pods/finalizers'], verbs: ['update'] },
      { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: ['create', 'get', 'list', 'watch'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    name: 'system:controller:expand-controller',
    rules: [
      {
        apiGroups: [''],
        resources: ['persistentvolumes'],
        verbs: ['get', 'list', 'patch', 'update', 'watch'],
      },
      { apiGroups: [''], resources: ['persistentvolumeclaims/status'], verbs: ['patch', 'update'] },
      { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    name: 'system:controller:generic-garbage-collector',
    rules: [
      { apiGroups: ['*'], resources: ['*'], verbs: ['delete', 'get', 'list', 'patch', 'update', 'watch'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    name: 'system:controller:horizontal-pod-autoscaler',
    rules: [
      {
        apiGroups: ['autoscaling'],
        resources: ['horizontalpodautoscalers'],
        verbs: ['get', 'list', 'watch'],
      },
      { apiGroups: ['autoscaling'], resources: ['horizontalpodautoscalers/status'], verbs: ['update'] },
      { apiGroups: ['*'], resources: ['*/scale'], verbs: ['get', 'update'] },
      { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] },
      { apiGroups: ['metrics.k8s.io'], resources: ['pods'], verbs: ['list', 'watch'] },
      { apiGroups: ['custom.metrics.k8s.io'], resources: ['*'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['external.metrics.k8s.io'], resources: ['*'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    name: 'system:controller:job-controller',
    rules: [
      { apiGroups: ['batch'], resources: ['jobs'], verbs: ['get', 'list', 'patch', 'update', 'watch'] },
      { apiGroups: ['batch'], resources: ['jobs/status'], verbs: ['update'] },
      { apiGroups: ['batch'], resources: ['jobs/finalizers'], verbs: ['update'] },
      { apiGroups: [''], resources: ['pods'], verbs: ['create', 'delete', 'list', 'patch', 'watch'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    name: 'system:controller:legacy-service-account-token-cleaner',
    rules: [
      {
        apiGroups: [''],
        resourceNames: ['kube-apiserver-legacy-service-account-token-tracking'],
        resources: ['configmaps'],
        verbs: ['get'],
      },
      { apiGroups: [''], resources: ['secrets'], verbs: ['delete', 'patch'] },
    ],
  },
  {
    name: 'system:controller:namespace-controller',
    rules: [
      { apiGroups: [''], resources: ['namespaces'], verbs: ['delete', 'get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['namespaces/finalize', 'namespaces/status'], verbs: ['update'] },
      { apiGroups: ['*'], resources: ['*'], verbs: ['delete', 'deletecollection', 'get', 'list', 'watch'] },
    ],
  },
  {
    name: 'system:controller:node-controller',
    rules: [
      { apiGroups: [''], resources: ['nodes'], verbs: ['delete', 'get', 'list', 'patch', 'update', 'watch'] },
      { apiGroups: [''], resources: ['nodes/status'], verbs: ['patch', 'update'] },
      { apiGroups: [''], resources: ['pods/status'], verbs: ['patch', 'update'] },
      { apiGroups: [''], resources: ['pods'], verbs: ['delete', 'get', 'list', 'watch'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    name: 'system:controller:persistent-volume-binder',
    rules: [
      {
        apiGroups: [''],
        resources: ['persistentvolumes'],
        verbs: ['create', 'delete', 'get', 'list', 'update', 'watch'],
      },
      { apiGroups: [''], resources: ['persistentvolumes/status'], verbs: ['update'] },
      { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: ['get', 'list', 'update', 'watch'] },
      { apiGroups: [''], resources: ['persistentvolumeclaims/status'], verbs: ['update'] },
      { apiGroups: [''], resources: ['pods'], verbs: ['create', 'delete', 'get', 'list', 'watch'] },
      { apiGroups: ['storage.k8s.io'], resources: ['storageclasses'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['nodes'], verbs: ['list', 'watch'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
      { apiGroups: [''], resources: ['events'], verbs: ['watch'] },
    ],
  },
  {
    name: 'system:controller:pod-garbage-collector',
    rules: [
      { apiGroups: [''], resources: ['pods'], verbs: ['delete', 'list', 'watch'] },
      { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['pods/status'], verbs: ['patch'] },
    ],
  },
  {
    name: 'system:controller:pv-protection-controller',
    rules: [
      { apiGroups: [''], resources: ['persistentvolumes'], verbs: ['get', 'list', 'update', 'watch'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    name: 'system:controller:pvc-protection-controller',
    rules: [
      { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: ['get', 'list', 'update', 'watch'] },
      { apiGroups: [''], resources: ['persistentvolumeclaims/status'], verbs: ['update'] },
      { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    name: 'system:controller:replicaset-controller',
    rules: [
      {
        apiGroups: ['apps', 'extensions'],
        resources: ['replicasets'],
        verbs: ['get', 'list', 'update', 'watch'],
      },
      { apiGroups: ['apps', 'extensions'], resources: ['replicasets/status'], verbs: ['update'] },
      { apiGroups: ['apps', 'extensions'], resources: ['replicasets/finalizers'], verbs: ['update'] },
      { apiGroups: [''], resources: ['pods'], verbs: ['create', 'delete', 'list', 'patch', 'watch'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    name: 'system:controller:replication-controller',
    rules: [
      { apiGroups: [''], resources: ['replicationcontrollers'], verbs: ['get', 'list', 'update', 'watch'] },
      { apiGroups: [''], resources: ['replicationcontrollers/status'], verbs: ['update'] },
      { apiGroups: [''], resources: ['replicationcontrollers/finalizers'], verbs: ['update'] },
      { apiGroups: [''], resources: ['pods'], verbs: ['create', 'delete', 'list', 'patch', 'watch'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    name: 'system:controller:resource-claim-controller',
    rules: [
      { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['pods/finalizers'], verbs: ['update'] },
      {
        apiGroups: ['resource.k8s.io'],
        resources: ['resourceclaims'],
        verbs: ['create', 'delete', 'get', 'list', 'watch'],
      },
      {
        apiGroups: ['resource.k8s.io'],
        resources: ['resourceclaims', 'resourceclaims/status'],
        verbs: ['patch', 'update'],
      },
      { apiGroups: [''], resources: ['pods/status'], verbs: ['patch', 'update'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
      { apiGroups: ['resource.k8s.io'], resources: ['resourceclaims/binding'], verbs: ['patch', 'update'] },
    ],
  },
  {
    name: 'system:controller:resourcequota-controller',
    rules: [
      { apiGroups: ['*'], resources: ['*'], verbs: ['list', 'watch'] },
      { apiGroups: [''], resources: ['resourcequotas/status'], verbs: ['update'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    name: 'system:controller:root-ca-cert-publisher',
    rules: [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'update'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    name: 'system:controller:route-controller',
    rules: [
      { apiGroups: [''], resources: ['nodes'], verbs: ['list', 'watch'] },
      { apiGroups: [''], resources: ['nodes/status'], verbs: ['patch'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    name: 'system:controller:selinux-warning-controller',
    rules: [
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
      { apiGroups: [''], resources: ['persistentvolumes'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['storage.k8s.io'], resources: ['csidrivers'], verbs: ['get', 'list', 'watch'] },
    ],
  },
  {
    name: 'system:controller:service-account-controller',
    rules: [
      { apiGroups: [''], resources: ['serviceaccounts'], verbs: ['create'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    name: 'system:controller:service-cidrs-controller',
    rules: [
      {
        apiGroups: ['networking.k8s.io'],
        resources: ['servicecidrs'],
        verbs: ['get', 'list', 'patch', 'update', 'watch'],
      },
      {
        apiGroups: ['networking.k8s.io'],
        resources: ['servicecidrs/finalizers'],
        verbs: ['patch', 'update'],
      },
      { apiGroups: ['networking.k8s.io'], resources: ['servicecidrs/status'], verbs: ['patch', 'update'] },
      { apiGroups: ['networking.k8s.io'], resources: ['ipaddresses'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    name: 'system:controller:service-controller',
    rules: [
      { apiGroups: [''], resources: ['services'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['services/status'], verbs: ['patch', 'update'] },
      { apiGroups: [''], resources: ['nodes'], verbs: ['list', 'watch'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    name: 'system:controller:statefulset-controller',
    rules: [
      { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] },
      { apiGroups: ['apps'], resources: ['statefulsets'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['apps'], resources: ['statefulsets/status'], verbs: ['update'] },
      { apiGroups: ['apps'], resources: ['statefulsets/finalizers'], verbs: ['update'] },
      { apiGroups: [''], resources: ['pods'], verbs: ['create', 'delete', 'get', 'patch', 'update'] },
      {
        apiGroups: ['apps'],
        resources: ['controllerrevisions'],
        verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
      },
      { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: ['create', 'get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: ['delete', 'update'] },
      { apiGroups: [''], resources: ['pods/finalizers'], verbs: ['update'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    name: 'system:controller:ttl-after-finished-controller',
    rules: [
      { apiGroups: ['batch'], resources: ['jobs'], verbs: ['delete', 'get', 'list', 'watch'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    name: 'system:controller:ttl-controller',
    rules: [
      { apiGroups: [''], resources: ['nodes'], verbs: ['list', 'patch', 'update', 'watch'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    name: 'system:controller:validatingadmissionpolicy-status-controller',
    rules: [
      {
        apiGroups: ['admissionregistration.k8s.io'],
        resources: ['validatingadmissionpolicies'],
        verbs: ['get', 'list', 'watch'],
      },
      {
        apiGroups: ['admissionregistration.k8s.io'],
        resources: ['validatingadmissionpolicies/status'],
        verbs: ['get', 'patch', 'update'],
      },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    name: 'system:controller:volumeattributesclass-protection-controller',
    rules: [
      { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['persistentvolumes'], verbs: ['get', 'list', 'watch'] },
      {
        apiGroups: ['storage.k8s.io'],
        resources: ['volumeattributesclasses'],
        verbs: ['get', 'list', 'update', 'watch'],
      },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    name: 'system:discovery',
    rules: [
      {
        nonResourceURLs: [
          '/api',
          '/api/*',
          '/apis',
          '/apis/*',
          '/healthz',
          '/livez',
          '/openapi',
          '/openapi/*',
          '/readyz',
          '/version',
          '/version/',
        ],
        verbs: ['get'],
      },
    ],
  },
  {
    name: 'system:heapster',
    rules: [
      {
        apiGroups: [''],
        resources: ['events', 'namespaces', 'nodes', 'pods'],
        verbs: ['get', 'list', 'watch'],
      },
      { apiGroups: ['extensions'], resources: ['deployments'], verbs: ['get', 'list', 'watch'] },
    ],
  },
  {
    name: 'system:kube-aggregator',
    rules: [{ apiGroups: [''], resources: ['endpoints', 'services'], verbs: ['get', 'list', 'watch'] }],
  },
  {
    name: 'system:kube-controller-manager',
    rules: [
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
      {
        apiGroups: ['coordination.k8s.io'],
        resourceNames: ['kube-controller-manager'],
        resources: ['leases'],
        verbs: ['get', 'update'],
      },
      { apiGroups: [''], resources: ['secrets', 'serviceaccounts'], verbs: ['create'] },
      { apiGroups: [''], resources: ['secrets'], verbs: ['delete'] },
      {
        apiGroups: [''],
        resources: ['configmaps', 'namespaces', 'secrets', 'serviceaccounts'],
        verbs: ['get'],
      },
      { apiGroups: [''], resources: ['secrets', 'serviceaccounts'], verbs: ['update'] },
      { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
      { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
      { apiGroups: ['*'], resources: ['*'], verbs: ['list', 'watch'] },
      { apiGroups: [''], resources: ['serviceaccounts/token'], verbs: ['create'] },
    ],
  },
  {
    name: 'system:kube-dns',
    rules: [{ apiGroups: [''], resources: ['endpoints', 'services'], verbs: ['list', 'watch'] }],
  },
  {
    name: 'system:kube-scheduler',
    rules: [
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
      {
        apiGroups: ['coordination.k8s.io'],
        resourceNames: ['kube-scheduler'],
        resources: ['leases'],
        verbs: ['get', 'list', 'update', 'watch'],
      },
      {
        apiGroups: ['coordination.k8s.io'],
        resources: ['leasecandidates'],
        verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
      },
      { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['pods'], verbs: ['delete', 'get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['bindings', 'pods/binding'], verbs: ['create'] },
      { apiGroups: [''], resources: ['pods/status'], verbs: ['patch', 'update'] },
      { apiGroups: [''], resources: ['replicationcontrollers', 'services'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['apps', 'extensions'], resources: ['replicasets'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['apps'], resources: ['statefulsets'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['policy'], resources: ['poddisruptionbudgets'], verbs: ['get', 'list', 'watch'] },
      {
        apiGroups: [''],
        resources: ['persistentvolumeclaims', 'persistentvolumes'],
        verbs: ['get', 'list', 'watch'],
      },
      { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
      { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
      { apiGroups: ['storage.k8s.io'], resources: ['csinodes'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['storage.k8s.io'], resources: ['volumeattachments'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['namespaces'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['storage.k8s.io'], resources: ['csidrivers'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['storage.k8s.io'], resources: ['csistoragecapacities'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['resource.k8s.io'], resources: ['deviceclasses'], verbs: ['get', 'list', 'watch'] },
      {
        apiGroups: ['resource.k8s.io'],
        resources: ['resourceclaims'],
        verbs: ['get', 'list', 'patch', 'update', 'watch'],
      },
      {
        apiGroups: ['resource.k8s.io'],
        resources: ['resourceclaims/status'],
        verbs: ['get', 'list', 'patch', 'update', 'watch'],
      },
      { apiGroups: [''], resources: ['pods/finalizers'], verbs: ['update'] },
      { apiGroups: ['resource.k8s.io'], resources: ['resourceslices'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['resource.k8s.io'], resources: ['resourceclaims'], verbs: ['create', 'delete'] },
      { apiGroups: ['resource.k8s.io'], resources: ['resourceclaims/binding'], verbs: ['patch', 'update'] },
    ],
  },
  {
    name: 'system:kubelet-api-admin',
    rules: [
      { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['nodes'], verbs: ['proxy'] },
      {
        apiGroups: [''],
        resources: ['nodes/log', 'nodes/metrics', 'nodes/proxy', 'nodes/stats'],
        verbs: ['*'],
      },
      { apiGroups: [''], resources: ['nodes/configz', 'nodes/healthz', 'nodes/pods'], verbs: ['*'] },
    ],
  },
  {
    name: 'system:monitoring',
    rules: [
      {
        nonResourceURLs: [
          '/flagz',
          '/healthz',
          '/healthz/*',
          '/livez',
          '/livez/*',
          '/metrics',
          '/metrics/slis',
          '/readyz',
          '/readyz/*',
          '/statusz',
        ],
        verbs: ['get'],
      },
      { apiGroups: [''], resources: ['nodes/metrics'], verbs: ['get'] },
    ],
  },
  {
    name: 'system:node',
    rules: [
      { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
      {
        apiGroups: ['authorization.k8s.io'],
        resources: ['localsubjectaccessreviews', 'subjectaccessreviews'],
        verbs: ['create'],
      },
      { apiGroups: [''], resources: ['services'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['nodes'], verbs: ['create', 'get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['nodes/status'], verbs: ['patch', 'update'] },
      { apiGroups: [''], resources: ['nodes'], verbs: ['patch', 'update'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
      { apiGroups: [''], resources: ['pods'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['pods'], verbs: ['create', 'delete'] },
      { apiGroups: [''], resources: ['pods/status'], verbs: ['patch', 'update'] },
      { apiGroups: [''], resources: ['pods/eviction'], verbs: ['create'] },
      { apiGroups: [''], resources: ['configmaps', 'secrets'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['persistentvolumeclaims', 'persistentvolumes'], verbs: ['get'] },
      { apiGroups: [''], resources: ['endpoints'], verbs: ['get'] },
      {
        apiGroups: ['certificates.k8s.io'],
        resources: ['certificatesigningrequests'],
        verbs: ['create', 'get', 'list', 'watch'],
      },
      {
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        verbs: ['create', 'delete', 'get', 'patch', 'update'],
      },
      { apiGroups: ['storage.k8s.io'], resources: ['volumeattachments'], verbs: ['get'] },
      { apiGroups: [''], resources: ['serviceaccounts/token'], verbs: ['create'] },
      { apiGroups: [''], resources: ['persistentvolumeclaims/status'], verbs: ['get', 'patch', 'update'] },
      { apiGroups: ['storage.k8s.io'], resources: ['csidrivers'], verbs: ['get', 'list', 'watch'] },
      {
        apiGroups: ['storage.k8s.io'],
        resources: ['csinodes'],
        verbs: ['create', 'delete', 'get', 'patch', 'update'],
      },
      { apiGroups: ['node.k8s.io'], resources: ['runtimeclasses'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['resource.k8s.io'], resources: ['resourceclaims'], verbs: ['get'] },
      { apiGroups: ['resource.k8s.io'], resources: ['resourceslices'], verbs: ['deletecollection'] },
      { apiGroups: [''], resources: ['serviceaccounts'], verbs: ['get'] },
    ],
  },
  {
    name: 'system:node-bootstrapper',
    rules: [
      {
        apiGroups: ['certificates.k8s.io'],
        resources: ['certificatesigningrequests'],
        verbs: ['create', 'get', 'list', 'watch'],
      },
    ],
  },
  {
    name: 'system:node-problem-detector',
    rules: [
      { apiGroups: [''], resources: ['nodes'], verbs: ['get'] },
      { apiGroups: [''], resources: ['nodes/status'], verbs: ['patch'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    name: 'system:node-proxier',
    rules: [
      { apiGroups: [''], resources: ['endpoints', 'services'], verbs: ['list', 'watch'] },
      { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
      { apiGroups: ['networking.k8s.io'], resources: ['servicecidrs'], verbs: ['list', 'watch'] },
      { apiGroups: ['discovery.k8s.io'], resources: ['endpointslices'], verbs: ['list', 'watch'] },
    ],
  },
  {
    name: 'system:persistent-volume-provisioner',
    rules: [
      {
        apiGroups: [''],
        resources: ['persistentvolumes'],
        verbs: ['create', 'delete', 'get', 'list', 'watch'],
      },
      { apiGroups: [''], resources: ['persistentvolumeclaims'], verbs: ['get', 'list', 'update', 'watch'] },
      { apiGroups: ['storage.k8s.io'], resources: ['storageclasses'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resources: ['events'], verbs: ['watch'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    name: 'system:public-info-viewer',
    rules: [{ nonResourceURLs: ['/healthz', '/livez', '/readyz', '/version', '/version/'], verbs: ['get'] }],
  },
  {
    name: 'system:service-account-issuer-discovery',
    rules: [
      {
        nonResourceURLs: [
          '/.well-known/openid-configuration',
          '/.well-known/openid-configuration/',
          '/openid/v1/jwks',
          '/openid/v1/jwks/',
        ],
        verbs: ['get'],
      },
    ],
  },
  {
    name: 'system:volume-scheduler',
    rules: [
      {
        apiGroups: [''],
        resources: ['persistentvolumes'],
        verbs: ['get', 'list', 'patch', 'update', 'watch'],
      },
      { apiGroups: ['storage.k8s.io'], resources: ['storageclasses'], verbs: ['get', 'list', 'watch'] },
      {
        apiGroups: [''],
        resources: ['persistentvolumeclaims'],
        verbs: ['get', 'list', 'patch', 'update', 'watch'],
      },
    ],
  },
  {
    name: 'view',
    labels: { 'rbac.authorization.k8s.io/aggregate-to-edit': 'true' },
    aggregates: [{ 'rbac.authorization.k8s.io/aggregate-to-view': 'true' }],
    rules: [],
  },
  {
    name: 'system:controller:bootstrap-signer',
    namespace: 'kube-public',
    rules: [
      { apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list', 'watch'] },
      { apiGroups: [''], resourceNames: ['cluster-info'], resources: ['configmaps'], verbs: ['update'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
  {
    name: 'extension-apiserver-authentication-reader',
    namespace: 'kube-system',
    rules: [
      {
        apiGroups: [''],
        resourceNames: ['extension-apiserver-authentication'],
        resources: ['configmaps'],
        verbs: ['get', 'list', 'watch'],
      },
    ],
  },
  {
    name: 'system::leader-locking-kube-controller-manager',
    namespace: 'kube-system',
    rules: [
      {
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        verbs: ['create', 'get', 'list', 'update', 'watch'],
      },
      {
        apiGroups: ['coordination.k8s.io'],
        resources: ['leasecandidates'],
        verbs: ['create', 'get', 'list', 'update', 'watch'],
      },
    ],
  },
  {
    name: 'system::leader-locking-kube-scheduler',
    namespace: 'kube-system',
    rules: [
      {
        apiGroups: ['coordination.k8s.io'],
        resources: ['leases'],
        verbs: ['create', 'get', 'list', 'update', 'watch'],
      },
      {
        apiGroups: ['coordination.k8s.io'],
        resources: ['leasecandidates'],
        verbs: ['create', 'get', 'list', 'update', 'watch'],
      },
    ],
  },
  {
    name: 'system:controller:bootstrap-signer',
    namespace: 'kube-system',
    rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['get', 'list', 'watch'] }],
  },
  {
    name: 'system:controller:cloud-provider',
    namespace: 'kube-system',
    rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'get', 'list', 'watch'] }],
  },
  {
    name: 'system:controller:token-cleaner',
    namespace: 'kube-system',
    rules: [
      { apiGroups: [''], resources: ['secrets'], verbs: ['delete', 'get', 'list', 'watch'] },
      { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch', 'update'] },
    ],
  },
];

export const bootstrapBindings: readonly BootstrapBinding[] = [
  {
    name: 'cluster-admin',
    role: 'ClusterRole/cluster-admin',
    subjects: [{ kind: 'Group', name: 'system:masters' }],
  },
  {
    name: 'system:basic-user',
    role: 'ClusterRole/system:basic-user',
    subjects: [{ kind: 'Group', name: 'system:authenticated' }],
  },
  {
    name: 'system:controller:attachdetach-controller',
    role: 'ClusterRole/system:controller:attachdetach-controller',
    subjects: [{ kind: 'ServiceAccount', name: 'attachdetach-controller', namespace: 'kube-system' }],
  },
  {
    name: 'system:controller:certificate-controller',
    role: 'ClusterRole/system:controller:certificate-controller',
    subjects: [{ kind: 'ServiceAccount', name: 'certificate-controller', namespace: 'kube-system' }],
  },
  {
    name: 'system:controller:clusterrole-aggregation-controller',
    role: 'ClusterRole/system:controller:clusterrole-aggregation-controller',
    subjects: [
      { kind: 'ServiceAccount', name: 'clusterrole-aggregation-controller', namespace: 'kube-system' },
    ],
  },
  {
    name: 'system:controller:cronjob-controller',
    role: 'ClusterRole/system:controller:cronjob-controller',
    subjects: [{ kind: 'ServiceAccount', name: 'cronjob-controller', namespace: 'kube-system' }],
  },
  {
    name: 'system:controller:daemon-set-controller',
    role: 'ClusterRole/system:controller:daemon-set-controller',
    subjects: [{ kind: 'ServiceAccount', name: 'daemon-set-controller', namespace: 'kube-system' }],
  },
  {
    name: 'system:controller:deployment-controller',
    role: 'ClusterRole/system:controller:deployment-controller',
    subjects: [{ kind: 'ServiceAccount', name: 'deployment-controller', namespace: 'kube-system' }],
  },
  {
    name: 'system:controller:device-taint-eviction-controller',
    role: 'ClusterRole/system:controller:device-taint-eviction-controller',
    subjects: [
      { kind: 'ServiceAccount', name: 'device-taint-eviction-controller', namespace: 'kube-system' },
    ],
  },
  {
    name: 'system:controller:disruption-controller',
    role: 'ClusterRole/system:controller:disruption-controller',
    subjects: [{ kind: 'ServiceAccount', name: 'disruption-controller', namespace: 'kube-system' }],
  },
  {
    name: 'system:controller:endpoint-controller',
    role: 'ClusterRole/system:controller:endpoint-controller',
    subjects: [{ kind: 'ServiceAccount', name: 'endpoint-controller', namespace: 'kube-system' }],
  },
  {
    name: 'system:controller:endpointslice-controller',
    role: 'ClusterRole/system:controller:endpointslice-controller',
    subjects: [{ kind: 'ServiceAccount', name: 'endpointslice-controller', namespace: 'kube-system' }],
  },
  {
    name: 'system:controller:endpointslicemirroring-controller',
    role: 'ClusterRole/system:controller:endpointslicemirroring-controller',
    subjects: [
      { kind: 'ServiceAccount', name: 'endpointslicemirroring-controller', namespace: 'kube-system' },
    ],
  },
  {
    name: 'system:controller:ephemeral-volume-controller',
    role: 'ClusterRole/system:controller:ephemeral-volume-controller',
    subjects: [{ kind: 'ServiceAccount', name: 'ephemeral-volume-controller', namespace: 'kube-system' }],
  },
  {
    name: 'system:controller:expand-controller',
    role: 'ClusterRole/system:controller:expand-controller',
    subjects: [{ kind: 'ServiceAccount', name: 'expand-controller', namespace: 'kube-system' }],
  },
  {
    name: 'system:controller:generic-garbage-collector',
    role: 'ClusterRole/system:controller:generic-garbage-collector',
    subjects: [{ kind: 'ServiceAccount', name: 'generic-garbage-collector', namespace: 'kube-system' }],
  },
  {
    name: 'system:controller:horizontal-pod-autoscaler',
    role: 'ClusterRole/system:controller:horizontal-pod-autoscaler',
    subjects: [{ kind: 'ServiceAccount', name: 'horizontal-pod-autoscaler', namespace: 'kube-system' }],
  },
  {
    name: 'system:controller:job-controller',
    role: 'ClusterRole/system:controller:job-controller',
    subjects: [{ kind: 'ServiceAccount', name: 'job-controller', namespace: 'kube-system' }],
  },
  {
    name: 'system:controller:legacy-service-account-token-cleaner',
    role: 'ClusterRole/system:controller:legacy-service-account-token-cleaner',
    subjects: [
      { kind: 'ServiceAccount', name: 'legacy-service-account-token-cleaner', namespace: 'kube-system' },
    ],
  },
  {
    name: 'system:controller:namespace-controller',
    role: 'ClusterRole/system:controller:namespace-controller',
    subjects: [{ kind: 'ServiceAccount', name: 'namespace-controller', namespace: 'kube-system' }],
  },
  {
    name: 'system:controller:node-controller',
    role: 'ClusterRole/system:controller:node-controller',
    subjects: [{ kind: 'ServiceAccount', name: 'node-controller', namespace: 'kube-system' }],
  },
  {
    name: 'system:controller:persistent-volume-binder',
    role: 'ClusterRole/system:controller:persistent-volume-binder',
    subjects: [{ kind: 'ServiceAccount', name: 'persistent-volume-binder', namespace: 'kube-system' }],
  },
  {
    name: 'system:controller:pod-garbage-collector',
    role: 'ClusterRole/system:controller:pod-garbage-collector',
    subjects: [{ kind: 'ServiceAccount', name: 'pod-garbage-collector', namespace: 'kube-system' }],
  },
  {
    name: 'system:controller:pv-protection-controller',
    role: 'ClusterRole/system:controller:pv-protection-controller',
    subjects: [{ kind: 'ServiceAccount', name: 'pv-protection-controller', namespace: 'kube-system' }],
  },
  {
    name: 'system:controller:pvc-protection-controller',
    role: 'ClusterRole/system:controller:pvc-protection-controller',
    subjects: [{ kind: 'ServiceAccount', name: 'pvc-protection-controller', namespace: 'kube-system' }],
  },
  {
    name: 'system:controller:replicaset-controller',
    role: 'ClusterRole/system:controller:replicaset-controller',
    subjects: [{ kind: 'ServiceAccount', name: 'replicaset-controller', namespace: 'kube-system' }],
  },
  {
    name: 'system:controller:replication-controller',
    role: 'ClusterRole/system:controller:replication-controller',
    subjects: [{ kind: 'ServiceAccount', name: 'replication-controller', namespace: 'kube-system' }],
  },
  {
    name: 'system:controller:resource-claim-controller',
    role: 'ClusterRole/system:controller:resource-claim-controller',
    subjects: [{ kind: 'ServiceAccount', name: 'resource-claim-controller', namespace: 'kube-system' }],
  },
  {
    name: 'system:controller:resourcequota-controller',
    role: 'ClusterRole/system:controller:resourcequota-controller',
    subjects: [{ kind: 'ServiceAccount', name: 'resourcequota-controller', namespace: 'kube-system' }],
  },
  {
    name: 'system:controller:root-ca-cert-publisher',
    role: 'ClusterRole/system:controller:root-ca-cert-publisher',
    subjects: [{ kind: 'ServiceAccount', name: 'root-ca-cert-publisher', namespace: 'kube-system' }],
  },
  {
    name: 'system:controller:route-controller',
    role: 'ClusterRole/system:controller:route-controller',
    subjects: [{ kind: 'ServiceAccount', name: 'route-controller', namespace: 'kube-system' }],
  },
  {
    name: 'system:controller:selinux-warning-controller',
    role: 'ClusterRole/system:controller:selinux-warning-controller',
    subjects: [{ kind: 'ServiceAccount', name: 'selinux-warning-controller', namespace: 'kube-system' }],
  },
  {
    name: 'system:controller:service-account-controller',
    role: 'ClusterRole/system:controller:service-account-controller',
    subjects: [{ kind: 'ServiceAccount', name: 'service-account-controller', namespace: 'kube-system' }],
  },
  {
    name: 'system:controller:service-cidrs-controller',
    role: 'ClusterRole/system:controller:service-cidrs-controller',
    subjects: [{ kind: 'ServiceAccount', name: 'service-cidrs-controller', namespace: 'kube-system' }],
  },
  {
    name: 'system:controller:service-controller',
    role: 'ClusterRole/system:controller:service-controller',
    subjects: [{ kind: 'ServiceAccount', name: 'service-controller', namespace: 'kube-system' }],
  },
  {
    name: 'system:controller:statefulset-controller',
    role: 'ClusterRole/system:controller:statefulset-controller',
    subjects: [{ kind: 'ServiceAccount', name: 'statefulset-controller', namespace: 'kube-system' }],
  },
  {
    name: 'system:controller:ttl-after-finished-controller',
    role: 'ClusterRole/system:controller:ttl-after-finished-controller',
    subjects: [{ kind: 'ServiceAccount', name: 'ttl-after-finished-controller', namespace: 'kube-system' }],
  },
  {
    name: 'system:controller:ttl-controller',
    role: 'ClusterRole/system:controller:ttl-controller',
    subjects: [{ kind: 'ServiceAccount', name: 'ttl-controller', namespace: 'kube-system' }],
  },
  {
    name: 'system:controller:validatingadmissionpolicy-status-controller',
    role: 'ClusterRole/system:controller:validatingadmissionpolicy-status-controller',
    subjects: [
      {
        kind: 'ServiceAccount',
        name: 'validatingadmissionpolicy-status-controller',
        namespace: 'kube-system',
      },
    ],
  },
  {
    name: 'system:controller:volumeattributesclass-protection-controller',
    role: 'ClusterRole/system:controller:volumeattributesclass-protection-controller',
    subjects: [
      {
        kind: 'ServiceAccount',
        name: 'volumeattributesclass-protection-controller',
        namespace: 'kube-system',
      },
    ],
  },
  {
    name: 'system:discovery',
    role: 'ClusterRole/system:discovery',
    subjects: [{ kind: 'Group', name: 'system:authenticated' }],
  },
  {
    name: 'system:kube-controller-manager',
    role: 'ClusterRole/system:kube-controller-manager',
    subjects: [{ kind: 'User', name: 'system:kube-controller-manager' }],
  },
  {
    name: 'system:kube-dns',
    role: 'ClusterRole/system:kube-dns',
    subjects: [{ kind: 'ServiceAccount', name: 'kube-dns', namespace: 'kube-system' }],
  },
  {
    name: 'system:kube-scheduler',
    role: 'ClusterRole/system:kube-scheduler',
    subjects: [{ kind: 'User', name: 'system:kube-scheduler' }],
  },
  {
    name: 'system:monitoring',
    role: 'ClusterRole/system:monitoring',
    subjects: [{ kind: 'Group', name: 'system:monitoring' }],
  },
  { name: 'system:node', role: 'ClusterRole/system:node', subjects: [] },
  {
    name: 'system:node-proxier',
    role: 'ClusterRole/system:node-proxier',
    subjects: [{ kind: 'User', name: 'system:kube-proxy' }],
  },
  {
    name: 'system:public-info-viewer',
    role: 'ClusterRole/system:public-info-viewer',
    subjects: [
      { kind: 'Group', name: 'system:authenticated' },
      { kind: 'Group', name: 'system:unauthenticated' },
    ],
  },
  {
    name: 'system:service-account-issuer-discovery',
    role: 'ClusterRole/system:service-account-issuer-discovery',
    subjects: [{ kind: 'Group', name: 'system:serviceaccounts' }],
  },
  {
    name: 'system:volume-scheduler',
    role: 'ClusterRole/system:volume-scheduler',
    subjects: [{ kind: 'User', name: 'system:kube-scheduler' }],
  },
  {
    name: 'system:controller:bootstrap-signer',
    namespace: 'kube-public',
    role: 'Role/system:controller:bootstrap-signer',
    subjects: [{ kind: 'ServiceAccount', name: 'bootstrap-signer', namespace: 'kube-system' }],
  },
  {
    name: 'system::extension-apiserver-authentication-reader',
    namespace: 'kube-system',
    role: 'Role/extension-apiserver-authentication-reader',
    subjects: [
      { kind: 'User', name: 'system:kube-controller-manager' },
      { kind: 'User', name: 'system:kube-scheduler' },
    ],
  },
  {
    name: 'system::leader-locking-kube-controller-manager',
    namespace: 'kube-system',
    role: 'Role/system::leader-locking-kube-controller-manager',
    subjects: [
      { kind: 'User', name: 'system:kube-controller-manager' },
      { kind: 'ServiceAccount', name: 'kube-controller-manager', namespace: 'kube-system' },
      { kind: 'ServiceAccount', name: 'leader-election-controller', namespace: 'kube-system' },
    ],
  },
  {
    name: 'system::leader-locking-kube-scheduler',
    namespace: 'kube-system',
    role: 'Role/system::leader-locking-kube-scheduler',
    subjects: [
      { kind: 'User', name: 'system:kube-scheduler' },
      { kind: 'ServiceAccount', name: 'kube-scheduler', namespace: 'kube-system' },
    ],
  },
  {
    name: 'system:controller:bootstrap-signer',
    namespace: 'kube-system',
    role: 'Role/system:controller:bootstrap-signer',
    subjects: [{ kind: 'ServiceAccount', name: 'bootstrap-signer', namespace: 'kube-system' }],
  },
  {
    name: 'system:controller:cloud-provider',
    namespace: 'kube-system',
    role: 'Role/system:controller:cloud-provider',
    subjects: [{ kind: 'ServiceAccount', name: 'cloud-provider', namespace: 'kube-system' }],
  },
  {
    name: 'system:controller:token-cleaner',
    namespace: 'kube-system',
    role: 'Role/system:controller:token-cleaner',
    subjects: [{ kind: 'ServiceAccount', name: 'token-cleaner', namespace: 'kube-system' }],
  },
];
