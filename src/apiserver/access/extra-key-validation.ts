import { FieldErrors } from '../validation/field-errors.ts';
import { dnsSubdomainProblems } from '../validation/names.ts';

/** An error message for invalid extra fields of an impersonated user; undefined if they are valid. */
export function extraError(extra: Readonly<Record<string, readonly string[]>>): string | undefined {
  for (const [key, values] of Object.entries(extra)) {
    if (key === '') return 'impersonating the empty string key in extra is not allowed';
    const problem = keyProblem(key);
    if (problem !== undefined) return `impersonating an invalid key in extra is not allowed: ${problem}`;
    if (key !== key.toLowerCase()) {
      return `impersonating a non-lowercase key in extra is not allowed: ${JSON.stringify(key)}`;
    }
    if (values.includes('')) return 'impersonating the empty string value in extra is not allowed';
  }
  return undefined;
}

const pathFormat = String.raw`[A-Za-z0-9/\-._~%!$&'()*+,;=:]+`;
const pathPattern = new RegExp(`^${pathFormat}$`);

/** A valid key consists of a domain, a slash and a path. */
function keyProblem(key: string): string | undefined {
  const errors = new FieldErrors();
  const slash = key.indexOf('/');
  const [host, path] = [key.slice(0, Math.max(0, slash)), key.slice(slash + 1)];
  if (host === '' || path === '') {
    errors.invalid('extra.key', key, 'must be a domain-prefixed path (such as "acme.io/foo")');
  } else {
    errors.invalidFor('extra.key', host, dnsSubdomainProblems(host));
    if (!pathPattern.test(path)) {
      errors.invalid('extra.key', path, `Invalid path (regex used for validation is '${pathFormat}')`);
    }
  }
  const messages = errors.causes.map(({ field, message }) => `${field}: ${message}`);
  return messages.length > 1 ? `[${messages.join(', ')}]` : messages[0];
}
