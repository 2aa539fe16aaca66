import { describe, expect, test } from 'vitest';
import { parseJsonPath } from './json-path.ts';

const pod = {
  metadata: { labels: { 'example.com/a': 'yes' } },
  spec: {
    size: 3,
    ports: [
      { name: 'web', port: 80, tls: true },
      { name: 'admin', port: 8080 },
    ],
  },
};

describe('a JSON path', () => {
  test.each([
    ['.spec.size', [3]],
    ['$.spec.size', [3]],
    ["['spec'].size", [3]],
    ['.spec.nothing', []],
    ['.spec.size.deeper', []],
    ['.spec.constructor', []],
    ['.metadata.labels.example\\.com/a', ['yes']],
    ['.spec.ports[0].port', [80]],
    ['.spec.ports[-1].port', [8080]],
    ['.spec.ports[5].port', []],
    ['.spec.ports[0:1].name', ['web']],
    ['.spec.ports[*].name', ['web', 'admin']],
    ['.spec.ports[?(@.name=="admin")].port', [8080]],
    ["[ 'spec' ].ports[?(@.name!='web')].port", [8080]],
    ['.spec.ports[?(@.port > 100)].name', ['admin']],
    ['.spec.ports[?(@.port <= 80)].name', ['web']],
    ['.spec.ports[?(@.tls)].name', ['web']],
    ['.spec.ports[?(@.tls==true)].name', ['web']],
    ['.spec.ports[?(@.port=="80")].name', []],
    ['..port', [80, 8080]],
    ['.spec.*', [3, pod.spec.ports]],
  ])('%s finds %j', (path, found) => {
    expect(parseJsonPath(path)?.find(pod)).toEqual(found);
  });

  test.each(['spec', '.spec[', '.spec[]', '.spec[?(', '.a b', '.x[?(@.y=~"z")]'])('%j is invalid', (path) => {
    expect(parseJsonPath(path)).toBeUndefined();
  });
});
