import { parse } from 'yaml';
import type { Status } from '../../../src/kube/api/meta.ts';
import type { AttackReply } from './attacked-server.ts';

/** How a response differs from what a Kubernetes server would send; undefined if it does not. */
export function responseProblem(reply: AttackReply): string | undefined {
  const problem = statusProblem(reply);
  return (
    problem && `${reply.status} ${reply.headers['content-type']} ${reply.text.slice(0, 500)}: ${problem}`
  );
}

function statusProblem({ status, headers, text }: AttackReply): string | undefined {
  // A real server also answers some malformed patches and versions with 500; an internal error of ours has this message.
  if (status >= 500 && text.includes('a condition that it did not expect')) return 'the server failed';
  if (status < 400) return undefined;
  const type = headers['content-type'] ?? '';
  if (type.startsWith('text/plain')) return plainTextProblem(status, text);
  // As for paths below /openapi/v3.
  if (status === 404 && type === '' && text === '') return undefined;
  if (!/^application\/(json|yaml)/.test(type)) return 'no type of the API';
  const body = type.startsWith('application/json') ? JSON.parse(text) : parse(text);
  const { kind, apiVersion, status: verdict, code, message, reason } = body as Status;
  if (kind !== 'Status' || apiVersion !== 'v1' || verdict !== 'Failure') return 'no Status of a failure';
  if (code !== status) return 'the code differs';
  if (typeof message !== 'string' || message === '') return 'no message';
  if (reason === undefined && status !== 500) return 'no reason';
  return undefined;
}

/** Pages outside the API have plain text errors, as those of Go's HTTP server. */
function plainTextProblem(status: number, text: string): string | undefined {
  const known: Readonly<Record<number, string>> = { 404: '404 page not found\n', 400: '400 Bad Request' };
  return known[status] === text ? undefined : 'no page that a Kubernetes server has';
}
