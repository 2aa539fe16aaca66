/**
 * `Always` if the tag is `latest` or absent, because such an image can change; otherwise `IfNotPresent`. As in
 * Kubernetes, text that is not an image reference counts as one with a fixed tag.
 */
export function defaultPullPolicy(image: string): 'Always' | 'IfNotPresent' {
  return imageTag(image) === 'latest' ? 'Always' : 'IfNotPresent';
}

/** The tag of a reference; `latest` if it has neither tag nor digest; undefined if the text is not a reference. */
function imageTag(image: string): string | undefined {
  if (imageId.test(image)) return undefined;
  const normalised = withDomain(image);
  if (normalised === undefined) return undefined;
  const match = reference.exec(normalised);
  if (match === null) return undefined;
  const [, path = '', tag, digest] = match;
  if (path.length > repositoryLengthMax) return undefined;
  if (digest !== undefined && !isKnownDigest(digest)) return undefined;
  return tag ?? (digest === undefined ? 'latest' : '');
}

/** `nginx:1` becomes `docker.io/library/nginx:1`. Undefined if the repository has upper case letters. */
function withDomain(image: string): string | undefined {
  const slash = image.indexOf('/');
  const first = slash < 0 ? '' : image.slice(0, slash);
  const isDomain = slash >= 0 && (first === 'localhost' || /[.:A-Z]/.test(first));
  const domain = isDomain && first !== 'index.docker.io' ? first : hub;
  const rest = isDomain ? image.slice(slash + 1) : image;
  const [repository = ''] = rest.split(':', 1);
  if (repository !== repository.toLowerCase()) return undefined;
  return `${domain}/${domain === hub && !rest.includes('/') ? 'library/' : ''}${rest}`;
}

function isKnownDigest(digest: string): boolean {
  const [algorithm = '', hash = ''] = digest.split(':');
  return digestLengths[algorithm] === hash.length && hash === hash.toLowerCase();
}

const hub = 'docker.io';
const repositoryLengthMax = 255;
const imageId = /^[a-f0-9]{64}$/;
const digestLengths: Readonly<Record<string, number>> = { sha256: 64, sha384: 96, sha512: 128 };

const domainPart = '(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])';
const domainPattern = `(?:${domainPart}(?:\\.${domainPart})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`;
const pathPart = '[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*';
const tagPattern = '[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}';
const digestPattern = '[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}';
const reference = new RegExp(
  `^${domainPattern}/(${pathPart}(?:/${pathPart})*)(?::(${tagPattern}))?(?:@(${digestPattern}))?$`,
);
