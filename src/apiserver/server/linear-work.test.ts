import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ServedCluster, serveCluster } from './testing/served-cluster.ts';

let cluster: ServedCluster;
beforeAll(async () => {
  cluster = await serveCluster();
});
afterAll(async () => await cluster.close());

const pods = '/api/v1/namespaces/default/pods?dryRun=All';

interface HostileRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: object;
}

/** Requests with a long run of one piece of text. */
const requests: readonly (readonly [string, number, (count: number) => HostileRequest])[] = [
  ['slashes in a path', 404, (count) => ({ method: 'GET', path: `/a${'/'.repeat(count)}b` })],
  ['brackets in a field path', 422, (count) => pod(variable(`a${"['".repeat(count)}`))],
  ['slashes in the path of a file', 201, (count) => pod({}, files(`a${'/'.repeat(count)}b`))],
  ['digits of a quantity', 400, (count) => pod(cpuLimit('9'.repeat(count)))],
  ['digits and a wrong suffix', 400, (count) => pod(cpuLimit(`${'9'.repeat(count)}x`))],
];

/**
 * The functions that read these texts themselves are counted in the tests of `trim.ts` and `quantity.ts`. The others use
 * methods of strings such as `indexOf`, whose work is linear, and regular expressions, whose work depends on the pattern.
 */
describe('no regular expression backtracks over a long run of', () => {
  test.each(requests)('%s', async (_what, status, requestOf) => {
    for (const count of [6_000, 60_000]) {
      const { method, path, body } = requestOf(count);
      const spy = spyOnRegularExpressions();
      try {
        const reply = await cluster.call(method, path, { body });
        expect(reply.status).toBe(status);
      } finally {
        spy.restore();
      }
      expect([...spy.patterns].filter((pattern) => !isLinear(pattern))).toEqual([]);
      expect(spy.characters).toBeLessThan(10 * (path.length + JSON.stringify(body ?? '').length));
    }
  });

  test.each([
    [/^\/+|\/+$/g, false],
    [/\*+$/, false],
    [/^(.+?)\['(.*)'\]$/s, false],
    [/^(a+)*$/, false],
    [/[<>&]/g, true],
    [/^[+-]?[0-9.]+/, true],
    [/^[^*+]*$/, true],
  ])('a pattern is judged by its quantifiers: %s', (pattern, expected) => {
    expect(isLinear(pattern.source)).toBe(expected);
  });
});

/**
 * Whether a pattern reads each character of any text at most a few times: it repeats nothing, or only one thing from the start
 * of the text on. Other patterns may be linear too, but that takes a proof.
 */
function isLinear(pattern: string): boolean {
  const plain = pattern.replaceAll(/\\./g, 'x').replaceAll(/\[[^\]]*\]/g, 'x');
  const repeated = plain.match(/[*+{]/g)?.length ?? 0;
  return repeated === 0 || (repeated === 1 && plain.startsWith('^') && !plain.includes('|'));
}

interface RegExpSpy {
  /** The sources of all patterns that were applied to a long text. */
  readonly patterns: Set<string>;
  /** How many characters of long texts they read without backtracking. */
  characters: number;
  restore(): void;
}

/** Once `exec` is replaced, `test`, `match`, `replace` and `split` call the replacement too. */
function spyOnRegularExpressions(): RegExpSpy {
  const original = RegExp.prototype.exec;
  const spy: RegExpSpy = {
    patterns: new Set(),
    characters: 0,
    restore() {
      RegExp.prototype.exec = original;
    },
  };
  RegExp.prototype.exec = function (text) {
    const start = this.global || this.sticky ? this.lastIndex : 0;
    const found = original.call(this, text);
    if (text.length > 1_000) {
      spy.patterns.add(this.source);
      spy.characters += (found === null ? text.length : found.index + found[0].length) - start;
    }
    return found;
  };
  return spy;
}

function pod(container: object, spec: object = {}): HostileRequest {
  const containers = [{ name: 'c', image: 'x', ...container }];
  return { method: 'POST', path: pods, body: { metadata: { name: 'x' }, spec: { containers, ...spec } } };
}

function variable(fieldPath: string): object {
  return { env: [{ name: 'A', valueFrom: { fieldRef: { fieldPath } } }] };
}

function files(path: string): object {
  return { volumes: [{ name: 'v', configMap: { name: 'c', items: [{ key: 'k', path }] } }] };
}

function cpuLimit(cpu: string): object {
  return { resources: { limits: { cpu } } };
}
