import { isRecord } from '../../../kube/wire.ts';
import { badRequest } from '../../api-error.ts';

/** Where a list goes on: after which key, and as of which revision (-1: whatever is there then). */
export interface Continuation {
  readonly revision: number;
  readonly after: string;
}

const tokenVersion = 'meta.k8s.io/v1';

/** Opaque to callers, in the shape of Kubernetes': the key that comes right after the last one. */
export function encodeContinue({ revision, after }: Continuation): string {
  const token = { v: tokenVersion, rv: revision, start: `${after}\u0000` };
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

export function decodeContinue(text: string): Continuation {
  const token = parsed(text);
  if (token.v !== tokenVersion) {
    throw refused(`server does not recognize this encoded version ${String(token.v ?? '')}`);
  }
  const { rv, start } = token;
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv === 0) {
    throw refused('incorrect encoded start resourceVersion (version meta.k8s.io/v1)');
  }
  if (typeof start !== 'string' || start === '') {
    throw refused('encoded start key empty (version meta.k8s.io/v1)');
  }
  return { revision: rv, after: start.endsWith('\u0000') ? start.slice(0, -1) : start };
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const token: unknown = JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
    if (isRecord(token)) return token;
  } catch {
    // Whatever it is, it is not one of our tokens; the sentence below says so.
  }
  throw badRequest('invalid continue token: continue key is not valid');
}

function refused(why: string) {
  return badRequest(`invalid continue token: continue key is not valid: ${why}`);
}
