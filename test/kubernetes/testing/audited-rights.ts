import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { TestBed } from '../test-bed.ts';

/**
 * Example: `kube-system: get coordination.k8s.io/leases stowage-scheduler` has the namespace (`*` is all), the verb, the resource, and the
 * object if the right is limited to one.
 */
export type Right = string;

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly rules?: readonly Rule[];
}

/** Verbs of no request: the admission policies ask for them, and chart-ledgers.test.ts fails if one is missing. */
const policyVerbs = ['write-ledger', 'write-verdicts'];

/** All rights that the roles in a manifest grant, or only those with the given names. */
export function grantedRights(path: string, roles?: readonly string[]): readonly Right[] {
  const manifests = parseAllDocuments(readFileSync(path, 'utf8')).map((each) => each.toJS() as Manifest);
  const rights = manifests
    .filter(({ kind, metadata }) => /^(Cluster)?Role$/.test(kind) && (roles?.includes(metadata.name) ?? true))
    .flatMap(({ metadata, rules = [] }) =>
      rules.flatMap((rule) => rightsOf(rule, metadata.namespace ?? '*')),
    );
  return rights.toSorted();
}

function rightsOf(
  { apiGroups, resources, resourceNames = [''], verbs }: Rule,
  where: string,
): readonly Right[] {
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) =>
      resourceNames.flatMap((name) =>
        verbs
          .filter((verb) => !policyVerbs.includes(verb))
          .map((verb) => `${where}: ${verb} ${group}/${resource} ${name}`.trimEnd()),
      ),
    ),
  );
}

interface AuditLine {
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly requestURI: string;
  readonly objectRef?: {
    readonly apiGroup?: string;
    readonly resource: string;
    readonly subresource?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly annotations?: Readonly<Record<string, string>>;
  readonly responseStatus?: { readonly code?: number; readonly message?: string };
}

export interface AuditedRequests {
  /** The requests in the form of granted permissions; only Leases have namespaces and object names. */
  readonly rights: readonly Right[];
  /** The same, with the namespace of each request that has one. */
  readonly namespacedRights: readonly Right[];
  /** Requests without a resource: discovery, and others that every user may make. */
  readonly paths: readonly string[];
  readonly forbidden: readonly string[];
  /** The two forms of each right that was used: without and with the namespace. */
  readonly forms: readonly (readonly [Right, Right])[];
}

/** All requests of a user up to now, from the audit log of the API server. */
export function auditedRequestsOf(user: string, auditLog: string): AuditedRequests {
  const lines = readFileSync(auditLog, 'utf8')
    .split('\n')
    // After the last line break there is nothing, or a line that is still being written.
    .slice(0, -1)
    .filter((line) => line.includes(user))
    .map((line) => JSON.parse(line) as AuditLine)
    .filter((line) => line.user.username === user)
    .flatMap(withCreation);
  return {
    rights: distinct(lines.flatMap((line) => rightOf(line) ?? [])),
    namespacedRights: distinct(lines.flatMap((line) => rightOf(line, line.objectRef?.namespace) ?? [])),
    forms: formsIn(lines),
    paths: distinct(
      lines.flatMap(({ objectRef, requestURI }) => (objectRef === undefined ? [requestURI] : [])),
    ),
    forbidden: distinct(lines.filter(isForbidden).map(({ verb, requestURI }) => `${verb} ${requestURI}`)),
  };
}

/** A patch that creates its object needs the right to create it, too: the API server asks for that right, and records the patch alone. */
function withCreation(line: AuditLine): readonly AuditLine[] {
  const isCreation = line.verb === 'patch' && line.responseStatus?.code === 201;
  return isCreation ? [line, { ...line, verb: 'create' }] : [line];
}

/** The decision is the one about the recorded verb; only the answer says that the right to create was missing. */
function isForbidden({ verb, annotations = {}, responseStatus = {} }: AuditLine): boolean {
  const { code, message = '' } = responseStatus;
  if (annotations['authorization.k8s.io/decision'] === 'forbid') return true;
  return verb === 'patch' && code === 403 && message.includes('cannot create resource');
}

function formsIn(lines: readonly AuditLine[]): AuditedRequests['forms'] {
  const forms = lines.flatMap((line) => {
    const right = rightOf(line);
    return right === undefined ? [] : [[right, rightOf(line, line.objectRef?.namespace) ?? right] as const];
  });
  return [...new Map(forms.map((form) => [form.join(), form])).values()];
}

/**
 * The requests that these rights do not allow. An account may have another role that allows them: without this, a right that is missing in one of
 * the two would not be noticed.
 */
export function requestsBeyond(granted: readonly Right[], { forms }: AuditedRequests): readonly Right[] {
  const allowed = new Set(granted);
  return forms.filter((form) => !form.some((right) => allowed.has(right))).map(([right]) => right);
}

const allUsedWithinMs = 240_000;

/**
 * Waits for requests that are still to come: a Lease is first updated seconds after it was created, and a request is in the audit log only
 * after its answer.
 */
export async function untilAllUsed(unused: () => readonly Right[]): Promise<void> {
  const giveUpAt = Date.now() + allUsedWithinMs;
  let remaining = unused();
  while (remaining.length > 0 && Date.now() < giveUpAt) {
    await sleep(500);
    remaining = unused();
  }
  expect(remaining).toEqual([]);
}

/**
 * Waits until the user has all of the rights: the API server reads roles and bindings by watches, some time after they were created. A request
 * before that would be forbidden.
 */
export async function untilGranted(bed: TestBed, user: string, rights: readonly Right[]): Promise<void> {
  const isGranted = async () => (await grantedCount(bed, user, rights)) === rights.length;
  for (const giveUpAt = Date.now() + allUsedWithinMs; !(await isGranted()); await sleep(200))
    if (Date.now() > giveUpAt)
      throw new Error(`${user} does not get all of these rights: ${rights.join(', ')}`);
}

/** How many of the rights the API server says that the user has. */
async function grantedCount(bed: TestBed, user: string, rights: readonly Right[]): Promise<number> {
  const items = rights.map((right) => reviewOf(user, right));
  const { stdout, stderr, code } = await bed.kubectl(
    ['create', '-f', '-', '-o', 'jsonpath={.status.allowed} '],
    JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
  );
  if (code !== 0) throw new Error(stderr);
  return stdout.split(' ').filter((allowed) => allowed === 'true').length;
}

/** Takes one right of all namespaces away from the ClusterRole of a service account in kube-system, and waits until the API server knows it. */
export async function withdraw(bed: TestBed, role: string, right: Right): Promise<void> {
  const { stdout } = await bed.kubectl(['get', 'clusterrole', role, '-o', 'json']);
  const object = JSON.parse(stdout) as Manifest;
  const rules = (object.rules ?? []).map((rule) => {
    const verbs = rule.verbs.filter((verb) => !rightsOf({ ...rule, verbs: [verb] }, '*').includes(right));
    return { ...rule, verbs };
  });
  const { stderr, code } = await bed.kubectl(['replace', '-f', '-'], JSON.stringify({ ...object, rules }));
  if (code !== 0) throw new Error(stderr);
  const user = `system:serviceaccount:kube-system:${role}`;
  for (const giveUpAt = Date.now() + allUsedWithinMs; (await grantedCount(bed, user, [right])) > 0; ) {
    if (Date.now() > giveUpAt) throw new Error(`${user} still has the right: ${right}`);
    await sleep(200);
  }
}

function reviewOf(user: string, right: Right): object {
  const [, where = '', verb, group, resource, subresource, name] =
    /^(\S+): (\S+) ([^/]*)\/([^/ ]+)(?:\/(\S+))?(?: (\S+))?$/.exec(right) ?? [];
  const namespace = where === '*' ? '' : where;
  const resourceAttributes = { namespace, verb, group, resource, subresource, name };
  return {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user, resourceAttributes },
  };
}

function rightOf({ verb, objectRef }: AuditLine, where = '*'): Right | undefined {
  if (objectRef === undefined) return undefined;
  const { apiGroup = '', resource, subresource, namespace = '', name = '' } = objectRef;
  const what = subresource === undefined ? resource : `${resource}/${subresource}`;
  if (resource !== 'leases') return `${where}: ${verb} ${apiGroup}/${what}`;
  // No role can limit creation to a name.
  return `${namespace}: ${verb} ${apiGroup}/${what} ${verb === 'create' ? '' : name}`.trimEnd();
}

function distinct(values: readonly string[]): readonly string[] {
  return [...new Set(values)].sort();
}
