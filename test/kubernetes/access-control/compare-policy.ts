import { setTimeout as sleep } from 'node:timers/promises';
import { HttpClient, type ServerAddress } from '../../fidelity/http-client.ts';
import type { AccessQuestion, Grant, Policy, Requester } from './random-policy.ts';

/** Readable differences between the two servers; empty if they agree. */
export interface PolicyComparison {
  readonly differences: readonly string[];
  readonly allowed: number;
  readonly refused: number;
}

const reviews = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
const sentinelTriesMax = 4_800;
const sentinelPauseMs = 25;

/** Creates the policy on both servers, sends the same questions to both, and removes the policy. */
export async function comparePolicy(
  servers: { readonly real: ServerAddress; readonly ours: ServerAddress },
  policy: Policy,
): Promise<PolicyComparison> {
  const [real, ours] = await Promise.all([answersOf(servers.real, policy), answersOf(servers.ours, policy)]);
  const asked = [...policy.questions, ...policy.grants];
  const differences = asked.flatMap((question, i) =>
    real[i] === ours[i]
      ? []
      : [`${policy.prefix} ${JSON.stringify(question)}\n  real: ${real[i]}\n  ours: ${ours[i]}`],
  );
  const allowed = real.filter((answer) => /^(?:true|20\d)/.test(answer)).length;
  return { differences, allowed, refused: real.length - allowed };
}

async function answersOf(server: ServerAddress, policy: Policy): Promise<readonly string[]> {
  const client = new HttpClient(server);
  const made: string[] = [];
  try {
    for (const { path, body } of [...policy.objects, ...sentinel(policy)]) {
      const { status } = await send(client, 'POST', path, body);
      const { name } = (body as { metadata: { name: string } }).metadata;
      if (status === 201) made.push(`${path}/${name}`);
    }
    await settled(client, policy);
    const answers: string[] = [];
    for (const question of policy.questions) answers.push(await reviewOf(client, question));
    for (const grant of policy.grants) answers.push(await attempt(client, grant));
    return answers;
  } finally {
    for (const path of made.reverse()) await send(client, 'DELETE', path);
    client.close();
  }
}

/**
 * The complete reason is compared if the request is denied. If it is allowed, which of several bindings the reason names depends on chance.
 */
async function reviewOf(client: HttpClient, { user, groups, attributes }: AccessQuestion): Promise<string> {
  const { text } = await send(client, 'POST', reviews, { spec: { user, groups, ...attributes } });
  const { status } = JSON.parse(text) as { status: { allowed: boolean; reason?: string } };
  return status.allowed ? 'true' : `false ${sortedProblems(status.reason ?? '')}`;
}

async function attempt(client: HttpClient, { path, body, ...who }: Grant): Promise<string> {
  const { status, text } = await send(client, 'POST', `${path}?dryRun=All`, body, headersOf(who));
  const { message = '' } = JSON.parse(text) as { message?: string };
  return `${status} ${sortedProblems(message)}`;
}

/** The server reads bindings in the order of a Go map. */
function sortedProblems(text: string): string {
  return text.replaceAll(
    /\[+([^[\]]*not found[^[\]]*)\]+/g,
    (_, list: string) => `[${list.split(', ').sort().join(', ')}]`,
  );
}

function headersOf({ user, groups }: Requester): Readonly<Record<string, string>> {
  const [group = ''] = groups;
  return { 'impersonate-user': user, 'impersonate-group': group };
}

/** Created last: when it takes effect, so has everything that was created before. */
function sentinel({ prefix }: Policy): readonly { path: string; body: object }[] {
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const kinds = ['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings'];
  return kinds.map((plural) => {
    const isWide = plural.startsWith('cluster');
    const metadata = { name: `${prefix}-sentinel` };
    const rules = [{ verbs: ['get'], apiGroups: ['sentinel'], resources: [isWide ? 'wide' : 'local'] }];
    const roleRef = { kind: isWide ? 'ClusterRole' : 'Role', name: metadata.name };
    const subjects = [{ kind: 'User', name: `${prefix}-sentinel` }];
    const body = plural.endsWith('bindings') ? { metadata, roleRef, subjects } : { metadata, rules };
    return { path: isWide ? `${rbac}/${plural}` : `${rbac}/namespaces/default/${plural}`, body };
  });
}

async function settled(client: HttpClient, { prefix }: Policy): Promise<void> {
  for (const resource of ['wide', 'local']) {
    const resourceAttributes = { verb: 'get', group: 'sentinel', resource, namespace: 'default' };
    const question = { user: `${prefix}-sentinel`, groups: [], attributes: { resourceAttributes } };
    for (let tries = 0; (await reviewOf(client, question)) !== 'true'; tries += 1) {
      if (tries === sentinelTriesMax) throw new Error(`${prefix}: the policy has no effect`);
      await sleep(sentinelPauseMs);
    }
  }
}

async function send(
  client: HttpClient,
  method: string,
  path: string,
  body?: object,
  headers: Readonly<Record<string, string>> = {},
) {
  const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body));
  const type = body === undefined ? {} : { 'content-type': 'application/json' };
  return await client.call({
    method,
    path,
    headers: { accept: 'application/json', ...type, ...headers },
    body: bytes,
  });
}
