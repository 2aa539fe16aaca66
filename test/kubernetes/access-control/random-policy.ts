import { type Random, seededRandom } from '../../../src/runtime/random.ts';

/** Roles and bindings, and questions about them, generated from a seed. */
export interface Policy {
  readonly prefix: string;
  readonly objects: readonly PolicyObject[];
  readonly questions: readonly AccessQuestion[];
  readonly grants: readonly Grant[];
}

export interface PolicyObject {
  readonly path: string;
  readonly body: object;
}

export interface Requester {
  readonly user: string;
  readonly groups: readonly string[];
}

/** May this user make this request? */
export interface AccessQuestion extends Requester {
  readonly attributes: object;
}

/** A role or binding that a user tries to create. */
export interface Grant extends Requester, PolicyObject {}

const rbac = '/apis/rbac.authorization.k8s.io/v1';
const namespaces = ['default', 'kube-public'] as const;
const verbs = ['get', 'list', 'watch', 'create', 'delete', 'bind', 'escalate', '*'];
const groups = ['', 'apps', 'rbac.authorization.k8s.io', '*'];
const resources = [
  'pods',
  'pods/log',
  '*/status',
  'deployments',
  'roles',
  'rolebindings',
  'clusterroles',
  '*',
];
const paths = ['/healthz', '/metrics', '/logs', '/logs/*', '/l*', '*'];

export function randomPolicy(seed: number, size: number): Policy {
  const random = seededRandom(`access ${seed}`);
  const prefix = `m${seed}`;
  const maker = new PolicyMaker(random, prefix);
  return {
    prefix,
    objects: maker.objects(size),
    questions: Array.from({ length: size * 6 }, () => maker.question()),
    grants: Array.from({ length: size }, () => maker.grant()),
  };
}

class PolicyMaker {
  readonly #random: Random;
  readonly #prefix: string;
  #count = 0;

  constructor(random: Random, prefix: string) {
    this.#random = random;
    this.#prefix = prefix;
  }

  objects(size: number): readonly PolicyObject[] {
    const roles = Array.from({ length: size }, () => this.#role());
    const bindings = Array.from({ length: size }, () => this.#binding());
    return [...roles, ...bindings];
  }

  question(): AccessQuestion {
    const who = this.#who();
    if (this.#random.next() < 0.15) {
      const path = this.#one(['/healthz', '/metrics', '/logs', '/logs/a', '/version', '/x']);
      return { ...who, attributes: { nonResourceAttributes: { path, verb: this.#one(['get', 'post']) } } };
    }
    const [resource = '', subresource = ''] = this.#one([
      'pods',
      'pods/log',
      'pods/status',
      'nodes',
      'roles',
    ]).split('/');
    const resourceAttributes = {
      verb: this.#one(verbs.slice(0, 6)),
      group: this.#one(groups.slice(0, 3)),
      resource,
      subresource,
      namespace: this.#one(['', ...namespaces]),
      name: this.#one(['', 'a', 'b']),
    };
    return { ...who, attributes: { resourceAttributes } };
  }

  grant(): Grant {
    const { path, body } = this.#random.next() < 0.5 ? this.#role() : this.#binding();
    return { ...this.#who(), path, body };
  }

  #role(): PolicyObject {
    const isWide = this.#random.next() < 0.5;
    const metadata = { name: isWide ? this.#sharedName() : this.#newName() };
    const rules = Array.from({ length: 1 + this.#random.int(2) }, () => this.#rule(isWide));
    return { path: this.#path('roles', isWide), body: { metadata, rules } };
  }

  #rule(isWide: boolean): object {
    if (isWide && this.#random.next() < 0.2)
      return { verbs: this.#some(verbs), nonResourceURLs: this.#some(paths) };
    return {
      verbs: this.#some(verbs),
      apiGroups: this.#some(groups),
      resources: this.#some(resources),
      ...(this.#random.next() < 0.25 ? { resourceNames: this.#some(['a', 'b']) } : {}),
    };
  }

  #binding(): PolicyObject {
    const isWide = this.#random.next() < 0.4;
    const roleRef = {
      kind: 'ClusterRole',
      name: this.#one([this.#sharedName(), 'cluster-admin', 'system:basic-user']),
    };
    const isLocal = !isWide && this.#random.next() < 0.5;
    const bound = isLocal ? { kind: 'Role', name: `${this.#prefix}-${this.#random.int(12)}` } : roleRef;
    const subjects = Array.from({ length: 1 + this.#random.int(2) }, () => this.#subject());
    const body = { metadata: { name: this.#newName() }, roleRef: bound, subjects };
    return { path: this.#path('rolebindings', isWide), body };
  }

  #subject(): object {
    const name = this.#one(['ann', 'bob']);
    switch (this.#random.int(3)) {
      case 0:
        return { kind: 'User', name: `${this.#prefix}-${name}` };
      case 1:
        return { kind: 'Group', name: `${this.#prefix}-staff` };
      default:
        return { kind: 'ServiceAccount', name: `${this.#prefix}-${name}`, namespace: this.#one(namespaces) };
    }
  }

  #who(): Requester {
    const name = this.#one(['ann', 'bob', 'eve']);
    const account = `system:serviceaccount:${this.#one(namespaces)}:${this.#prefix}-${name}`;
    const user = this.#random.next() < 0.3 ? account : `${this.#prefix}-${name}`;
    const more = this.#random.next() < 0.3 ? [`${this.#prefix}-staff`] : [];
    return { user, groups: [...more, 'system:authenticated'] };
  }

  #path(plural: string, isWide: boolean): string {
    return isWide ? `${rbac}/cluster${plural}` : `${rbac}/namespaces/${this.#one(namespaces)}/${plural}`;
  }

  /** Names of objects that may or may not exist. */
  #sharedName(): string {
    return `${this.#prefix}-shared-${this.#random.int(4)}`;
  }

  #newName(): string {
    this.#count += 1;
    return `${this.#prefix}-${this.#count}`;
  }

  #some(texts: readonly string[]): readonly string[] {
    return [...new Set([this.#one(texts), this.#one(texts)])];
  }

  #one<T>(items: readonly T[]): T {
    return items[this.#random.int(items.length)] as T;
  }
}
