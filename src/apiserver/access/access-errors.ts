import { type ApiError, failure, forbidden } from '../../kube/api-error.ts';
import { goQuoted } from '../../kube/go/quote.ts';
import type { Attributes } from './attributes.ts';
import type { User } from './user.ts';

export function unauthorizedError(): ApiError {
  return failure(401, 'Unauthorized', 'Unauthorized');
}

/** The user may not do what the attributes describe; `reason` adds details. */
export function forbiddenError(user: User, attributes: Attributes, reason: string): ApiError {
  const why = escapeHtml(sentence(user, attributes)) + (reason === '' ? '' : `: ${reason}`);
  if (attributes.kind === 'path') return failure(403, 'Forbidden', `forbidden: ${why}`, {});
  const { group, resource, name } = attributes;
  return forbidden({ group, plural: resource }, name, why);
}

function sentence({ name }: User, attributes: Attributes): string {
  const who = `User ${goQuoted(name)} cannot ${attributes.verb}`;
  if (attributes.kind === 'path') return `${who} path ${goQuoted(attributes.path)}`;
  const { group, resource, subresource, namespace } = attributes;
  const what = subresource === '' ? resource : `${resource}/${subresource}`;
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${goQuoted(namespace)}`;
  return `${who} resource ${goQuoted(what)} in API group ${goQuoted(group)} ${where}`;
}

/** Escaped, so that a browser never renders the message as HTML. */
function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
