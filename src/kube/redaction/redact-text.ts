/** Replaces each removed secret. */
export const removed = '(removed)';

interface Pattern {
  readonly find: RegExp;
  readonly replacement: string;
}

/** Words that name a secret, in the keys of settings and in messages. */
export const secretWords =
  'pass(?:word|wd|phrase)?|pwd|token|secret|credentials?|authorization|bearer|api[-_]?key|access[-_]?key|private[-_]?key|client[-_]?key|keyring|cookie';

/**
 * Each pattern takes linear time, because a match that fails reads no character that a later match reads again. Logs come
 * from programs that we do not know.
 */
const patterns: readonly Pattern[] = [
  // Blocks first: their lines look like nothing in particular.
  {
    find: /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
    replacement: removed,
  },
  // Tokens of service accounts, of users, and of bootstrapping nodes; access keys of clouds.
  { find: /\beyJ(?:\w|-(?!eyJ)){4,}\.[\w-]{4,}(?:\.[\w-]*)?/g, replacement: removed },
  { find: /\b(?:AKIA|ASIA)[0-9A-Z]{16}\b/g, replacement: removed },
  { find: /\b[a-z0-9]{6}\.[a-z0-9]{16}\b/g, replacement: removed },
  { find: /\b(bearer|basic)\s+[\w+/=.~-]{6,}/gi, replacement: `$1 ${removed}` },
  // The user of a URL up to the last @ of its host part, and its query: signed addresses carry their signature there.
  { find: /(?<=[a-z0-9+.-]:\/\/)[^\s/?#"'<>]*@/gi, replacement: `${removed}@` },
  {
    find: /(?<=[a-z0-9+.-])(:\/\/(?:[^\s?"'<>:]|:(?!\/\/))*)\?[^\s"'<>]*/gi,
    replacement: `$1?${removed}`,
  },
  // password=…, "token": "…", --secret=…; up to the end of the value.
  {
    find: new RegExp(
      `((?:${secretWords})["']?\\s*[:=]\\s*)(?:"(?:[^"\\\\]|\\\\.)*"|'[^']*'|[^\\s,;&"'{}\\[\\]]+)`,
      'gi',
    ),
    replacement: `$1${removed}`,
  },
];

/** Removes what looks like a secret from a log, a message or any other text. */
export function redactedText(text: string): string {
  return patterns.reduce((clean, { find, replacement }) => clean.replace(find, replacement), text);
}
