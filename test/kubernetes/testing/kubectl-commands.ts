/** Commands that run against two clusters, in this order; the output must be equal. `-f -` reads the manifest in `input`. */
export interface TypedCommand {
  readonly line: string;
  readonly input?: string;
}

const volume = `
apiVersion: v1
kind: PersistentVolume
metadata: { name: extra }
spec:
  capacity: { storage: 5Gi }
  accessModes: [ReadWriteOnce]
  storageClassName: fast
  local: { path: /mnt/a }
`;

const misspelled = `
apiVersion: v1
kind: Pod
metadata: { name: misspelled }
spec:
  contaners: []
  containers: [{ name: main, image: nginx, image: nginx }]
`;

const config = (value: string) => `
apiVersion: v1
kind: ConfigMap
metadata: { name: settings }
data: { key: ${value} }
`;

const budget = `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: { name: web }
spec: { minAvailable: 1, selector: { matchLabels: { app: web } } }
`;

/** What kubectl validates itself, because no server validates a List. */
const gadgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: gadgets.shop.example.com }
spec:
  group: shop.example.com
  scope: Namespaced
  names: { plural: gadgets, kind: Gadget }
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              required: [port]
              properties:
                port: { x-kubernetes-int-or-string: true }
                size: { type: integer, nullable: true }
                free: { type: object, x-kubernetes-preserve-unknown-fields: true, properties: { a: { type: string } } }
                parts: { type: array, items: { type: object, properties: { name: { type: string } } } }
`;

const list = (size: string) => `
apiVersion: v1
kind: List
items:
  - { apiVersion: v1, kind: ConfigMap, metadata: { name: listed }, data: { size: '${size}' } }
  - { apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: { name: listed }, provisioner: example.com/none }
  - apiVersion: shop.example.com/v1
    kind: Gadget
    metadata: { name: listed }
    spec: { port: http, size: ${size}, free: { b: 1 }, parts: [{ name: a }] }
  - apiVersion: apps/v1
    kind: Deployment
    metadata: { name: listed }
    spec:
      replicas: 0
      selector: { matchLabels: { app: listed } }
      strategy: { rollingUpdate: { maxSurge: 25%, maxUnavailable: 1 } }
      template:
        metadata: { labels: { app: listed } }
        spec: { containers: [{ name: main, image: nginx, resources: { limits: { cpu: 1 } } }] }
`;

const wrongList = `
apiVersion: v1
kind: List
items:
  - { apiVersion: v1, kind: ConfigMap, metadata: { name: wrong, nam: x }, date: {} }
  - { apiVersion: v1, kind: Pod, metadata: { name: wrong }, spec: { containers: { name: main }, hostNetwork: 'yes' } }
  - { apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: { name: wrong } }
  - { apiVersion: shop.example.com/v1, kind: Gadget, metadata: { name: wrong }, spec: { parts: [{ nam: a }] } }
`;

const lines = (text: string): readonly TypedCommand[] =>
  text
    .trim()
    .split('\n')
    .map((line) => ({ line: line.trim() }));

export const typedCommands: readonly TypedCommand[] = [
  // First, because the real server publishes the schema with a delay.
  { line: 'create -f -', input: gadgets },
  ...lines(`
    get pods
    get pods -o wide
    get pods --show-labels
    get pods -l app=web
    get pods -l app!=web,app
    get pods --field-selector spec.nodeName=node-a
    get pods --field-selector status.phase=Pending -o name
    get pods --sort-by .metadata.name -o custom-columns=NAME:.metadata.name,NODE:.spec.nodeName
    get pods -o jsonpath={.items[*].spec.containers[*].image}
    get pod web -o jsonpath={.spec.tolerations}
    get pods,pvc,pv,sc,sts
    get pv -o wide
    get pvc -o wide
    get sc
    get sts -o wide
    get nodes
    get nodes -o wide
    get ns
    get svc
    get priorityclasses
    get all
    get pods absent
    get pods -n nowhere
    get nosuchthing
    get pods --field-selector spec.colour=red
    get pods -l a===b
    describe pod web
    describe pvc data
    describe pv pv-a
    describe sc fast
    describe sts
    describe node node-a
    describe ns default
    describe pod absent
    explain persistentvolume.spec.nodeAffinity.required
    explain pod.spec.volumes.persistentVolumeClaim
    explain statefulset.spec --recursive
    explain storageclass
    explain pod.spec.nosuchfield
    label pod web tier=front
    label pod web tier=back
    label pod web tier=back --overwrite
    label pod web tier-
    label pod web bad/label/key=x
    annotate pod web note=hello
    annotate pod web note-
    taint nodes node-a dedicated=db:NoSchedule
    taint nodes node-a dedicated=db:NoSchedule
    taint nodes node-a dedicated:NoSchedule-
    taint nodes node-a bad=effect:Never
    cordon node-a
    cordon node-a
    get nodes
    uncordon node-a
    patch pod web --type merge -p {"metadata":{"labels":{"a":"b"}}}
    patch pod web --type json -p [{"op":"remove","path":"/metadata/labels/a"}]
    patch pod web --type json -p [{"op":"remove","path":"/metadata/labels/none"}]
    patch pod web -p {"spec":{"containers":[{"name":"main","image":"nginx:1.28"}]}}
    patch pod web -p {"spec":{"nodeName":"other"}}
    patch pv pv-a --subresource=status --type merge -p {"status":{"phase":"Available"}}
    patch pvc data -p {"spec":{"resources":{"requests":{"storage":"500Mi"}}}}
    patch sc fast -p {"provisioner":"other"}
    patch pod web -p notjson
    scale sts db --replicas=3
    scale sts db --replicas=1 --current-replicas=7
    scale sts absent --replicas=1
    scale pod web --replicas=1
    rollout history sts db
    create configmap literal --from-literal=a=b
    create configmap literal --from-literal=a=b
    create secret generic hidden --from-literal=a=b
    create namespace extra
    create namespace Bad_Name
    create deployment site --image=nginx --replicas=2
    create deployment site --image=nginx --dry-run=server
    create serviceaccount robot
    create service clusterip front --tcp=80:8080
    create priorityclass high --value=1000
    create poddisruptionbudget few --selector=app=web --min-available=1
    create quota limits --hard=pods=10
    run once --image=busybox --restart=Never
    get deploy,cm,secret,sa,svc,pdb
    set image deployment/site nginx=nginx:1.28
    get deploy site -o jsonpath={.spec.template.spec.containers[0].image}
    autoscale deployment nosuch --max=2
    wait pod/web --for=jsonpath={.status.phase}=Pending --timeout=300s
    wait pod/web --for=condition=Ready --timeout=1s
    wait pod/absent --for=delete --timeout=1s
    auth can-i create pods
    auth can-i --list --namespace nowhere -q
    auth whoami -o jsonpath={.status.userInfo.groups}
    api-versions --no-headers
    version -o json --client=false --short
  `),
  { line: 'apply -f -', input: config('one') },
  { line: 'diff -f -', input: config('two') },
  { line: 'apply -f -', input: config('two') },
  { line: 'apply -f -', input: config('two') },
  { line: 'apply --dry-run=server -f -', input: config('three') },
  { line: 'replace -f -', input: config('four') },
  { line: 'get cm settings -o jsonpath={.data}' },
  { line: 'create -f -', input: volume },
  { line: 'create -f -', input: misspelled },
  { line: 'create --validate=ignore --dry-run=server -o name -f -', input: misspelled },
  { line: 'create --validate=warn --dry-run=server -o name -f -', input: misspelled },
  { line: 'create -f -', input: budget },
  { line: 'get pdb' },
  { line: 'apply -f -', input: wrongList },
  { line: 'create --dry-run=server -f -', input: wrongList },
  { line: 'apply -f -', input: list('1') },
  { line: 'apply -f -', input: list('1') },
  { line: 'diff -f -', input: list('2') },
  { line: 'apply -f -', input: list('null') },
  { line: 'replace -f -', input: list('3') },
  { line: 'apply --server-side --force-conflicts -f -', input: list('4') },
  { line: 'get cm/listed gadget/listed -o jsonpath={.items[*].data}{.items[*].spec}' },
  { line: 'explain gadget.spec --output plaintext-openapiv2' },
  { line: 'explain pod.spec.affinity --output plaintext-openapiv2' },
  { line: 'delete -f -', input: list('4') },
  ...lines(`
    delete pod once --now
    delete configmap literal absent
    delete cm -l absent=yes
    delete secret --all --dry-run=server
    delete deployment site --cascade=background
    delete pvc data --wait=false
    get pvc data -o jsonpath={.metadata.finalizers}
    delete pod web --grace-period=0 --force
    delete pod web
    delete sc fast
    delete ns default
    delete node node-a
    get pods
  `),
];
