import { describe, expect, test } from 'vitest';
import { attributesOf } from './attributes.ts';

function describeAttributes(method: string, url: string): string | undefined {
  const [path = '', query = ''] = url.split('?');
  const params = new URLSearchParams(query);
  const attributes = attributesOf({ method, path, query: params, isWatch: params.has('watch') });
  if (attributes === undefined) return undefined;
  if (attributes.kind === 'path') return `${attributes.verb} path ${attributes.path}`;
  const { verb, group, resource, subresource, namespace, name } = attributes;
  return [verb, `${resource}.${group}`, subresource, namespace && `in=${namespace}`, name && `name=${name}`]
    .filter((part) => part !== '')
    .join(' ');
}

describe('the attributes of a request', () => {
  test.each([
    ['GET', '/', 'get path /'],
    ['GET', '/healthz/ping', 'get path /healthz/ping'],
    ['POST', '/version', 'post path /version'],
    ['GET', '/api', 'get path /api'],
    ['GET', '/api/v1', 'get path /api/v1'],
    ['GET', '/api/v1/', 'get path /api/v1/'],
    ['GET', '/apis/apps', 'get path /apis/apps'],
    ['GET', '/apis/apps/v1', 'get path /apis/apps/v1'],
    ['DELETE', '/apis/apps/v1', 'delete path /apis/apps/v1'],
    ['GET', '/api/v1/namespaces', 'list namespaces.'],
    ['GET', '/api/v1/namespaces/a', 'get namespaces. in=a name=a'],
    ['DELETE', '/api/v1/namespaces/a', 'delete namespaces. in=a name=a'],
    ['PUT', '/api/v1/namespaces/a/finalize', 'update namespaces. finalize in=a name=a'],
    ['GET', '/api/v1/namespaces/a/pods', 'list pods. in=a'],
    ['GET', '/api/v1/namespaces/a/pods/', 'list pods. in=a'],
    ['HEAD', '/api/v1/namespaces/a/pods', 'list pods. in=a'],
    ['GET', '/api/v1/namespaces/a/pods?watch=true', 'watch pods. in=a'],
    ['GET', '/api/v1/watch/namespaces/a/pods', 'watch pods. in=a'],
    ['GET', '/api/v1/watch/namespaces/a/pods/b', 'watch pods. in=a name=b'],
    ['GET', '/api/v1/pods', 'list pods.'],
    ['GET', '/api/v1/pods?fieldSelector=metadata.name%3Db', 'list pods. name=b'],
    ['GET', '/api/v1/pods?watch=1&fieldSelector=a%3Db,metadata.name%3D%3Db', 'watch pods. name=b'],
    ['GET', '/api/v1/pods?fieldSelector=metadata.name!%3Db', 'list pods.'],
    ['GET', '/api/v1/pods?fieldSelector=metadata.name%3Da%2Fb', 'list pods.'],
    ['GET', '/api/v1/pods?fieldSelector=%5C', 'list pods.'],
    ['DELETE', '/api/v1/namespaces/a/pods?fieldSelector=metadata.name%3Db', 'deletecollection pods. in=a'],
    ['POST', '/api/v1/namespaces/a/pods', 'create pods. in=a'],
    ['POST', '/api/v1/namespaces/a/pods/b/eviction', 'create pods. eviction in=a name=b'],
    ['PATCH', '/apis/apps/v1/namespaces/a/deployments/b/scale', 'patch deployments.apps scale in=a name=b'],
    ['GET', '/apis/apps/v1/namespaces/a/deployments/b/c/d/e', 'get deployments.apps c in=a name=b'],
    ['OPTIONS', '/api/v1/nodes', ' nodes.'.trim()],
    ['GET', '/api/v1/nodes/a%20b', 'get nodes. name=a b'],
    ['GET', '/apis/x.example/v1/things', 'list things.x.example'],
    ['GET', '/api/v1/%zz', undefined],
  ])('%s %s: %s', (method, url, expected) => {
    expect(describeAttributes(method, url)).toBe(expected);
  });
});
