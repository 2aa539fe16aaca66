import { badRequest } from '../../../kube/api-error.ts';
import { isRecord } from '../../../kube/wire.ts';
import { JsonSyntaxError, readJson } from '../../schema/json-reader.ts';

/** Where a list continues: after which key, and at which revision (-1: the current one). */
export interface Continuation {
  readonly revision: number;
  readonly after: string;
}

const tokenVersion = 'meta.k8s.io/v1';

/** Opaque to clients, in Kubernetes' format: the start is the key right after the last one. */
export function encodeContinue({ revision, after }: Continuation): string {
  const token = { v: tokenVersion, rv: revision, start: `${after}\u0000` };
  return Buffer.from(JSON.stringify(token)).toString('base64url');
}

export function decodeContinue(text: string): Continuation {
  const token = parseToken(text);
  if (token.v !== tokenVersion) {
    throw invalidToken(`server does not recognize this encoded version ${String(token.v ?? '')}`);
  }
  const { rv, start } = token;
  if (typeof rv !== 'number' || !Number.isSafeInteger(rv) || rv === 0) {
    throw invalidToken('incorrect encoded start resourceVersion (version meta.k8s.io/v1)');
  }
  if (typeof start !== 'string' || start === '') {
    throw invalidToken('encoded start key empty (version meta.k8s.io/v1)');
  }
  // As in kube-apiserver: rejects keys that would lead out of the collection.
  if (start.split('/').some((part) => part === '' || part === '.' || part === '..'))
    throw invalidToken(start);
  return { revision: rv, after: start.endsWith('\u0000') ? start.slice(0, -1) : start };
}

function parseToken(text: string): Readonly<Record<string, unknown>> {
  const wrong = text.search(/[^\w-]/);
  if (wrong >= 0) throw invalidToken(`illegal base64 data at input byte ${wrong}`);
  try {
    const { value } = readJson(Buffer.from(text, 'base64url'));
    if (isRecord(value)) return value;
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw invalidToken(error.message);
    throw error;
  }
  throw invalidToken('it is not an object');
}

function invalidToken(why: string) {
  return badRequest(`invalid continue token: continue key is not valid: ${why}`);
}
