import { describe, expect, test } from 'vitest';
import { KindCatalog } from '../../kinds/kind-catalog.ts';
import { servedKinds } from '../testing/served-cluster.ts';
import { type ResourceTarget, type Route, Router, verbOfRequest } from './router.ts';

const router = new Router(new KindCatalog(servedKinds));

describe('a path', () => {
  test.each([
    ['/', 'page index'],
    ['/version', 'page version'],
    ['/version/', 'page version'],
    ['/healthz', 'page healthz'],
    ['/readyz/ping', 'page readyz ping'],
    ['/openapi/v3', 'page openapi/v3'],
    ['/openapi/v3/apis/apps/v1', 'page openapi/v3 apis/apps/v1'],
    ['/openapi/v2', 'page openapi/v2'],
    ['/openapi/v2/more', 'missing page'],
    ['/metrics', 'page metrics'],
    ['/metrics/more', 'missing page'],
    ['/api', 'discovery core'],
    ['/api/', 'discovery core'],
    ['/apis/', 'discovery groups'],
    ['/apis/apps', 'discovery group'],
    ['/apis/apps/v1/', 'discovery version'],
    ['/apis/nope', 'missing page'],
    ['/apis/nope/v1', 'missing page'],
    ['/apis/apps/v9', 'missing status'],
    ['/api/v2', 'missing status'],
    ['/api/v1/foos', 'missing status'],
    ['/api/v1/pods', 'pods'],
    ['/api/v1/pods/', 'pods'],
    ['/api/v1/pods/x', 'missing status'],
    ['/api/v1/namespaces', 'namespaces'],
    ['/api/v1/namespaces/a', 'namespaces name=a'],
    ['/api/v1/namespaces/a/status', 'namespaces name=a part=status'],
    ['/api/v1/namespaces/a/finalize', 'namespaces name=a part=finalize'],
    ['/api/v1/namespaces/a/pods', 'pods in=a'],
    ['/api/v1/namespaces/a/pods/b', 'pods in=a name=b'],
    ['/api/v1/namespaces/a/pods/b%3Ac', 'pods in=a name=b:c'],
    ['/api/v1/namespaces/a/pods/b/status', 'pods in=a name=b part=status'],
    ['/api/v1/namespaces/a/pods/b/scale', 'missing status'],
    ['/api/v1/namespaces/a/pods/b/status/c', 'missing status'],
    ['/api/v1/namespaces/a/nodes', 'missing status'],
    ['/api/v1/namespaces/a/nodes/b', 'missing status'],
    ['/api/v1/nodes/b', 'nodes name=b'],
    ['/apis/apps/v1/namespaces/a/statefulsets/b/scale', 'statefulsets in=a name=b part=scale'],
    ['/api/v1/watch/pods', 'pods watched'],
    ['/api/v1/watch/namespaces/a/pods/b', 'pods in=a name=b watched'],
    ['/api/v1/watch/nodes/b/status', 'missing status'],
    ['/apis/authorization.k8s.io/v1/subjectaccessreviews', 'review SubjectAccessReview'],
    ['/apis/authorization.k8s.io/v1/subjectaccessreviews/x', 'missing status'],
    ['/apis/authorization.k8s.io/v1/localsubjectaccessreviews', 'missing status'],
    [
      '/apis/authorization.k8s.io/v1/namespaces/a/localsubjectaccessreviews',
      'review LocalSubjectAccessReview a',
    ],
  ])('%s is %s', (path, expected) => {
    expect(describeRoute(router.route(path))).toBe(expected);
  });

  test.each([
    ['/apis/metrics.k8s.io', 'discovery group'],
    ['/apis/metrics.k8s.io/v1beta1', 'discovery version'],
    ['/apis/metrics.k8s.io/v1beta1/nodes', 'metrics nodes'],
    ['/apis/metrics.k8s.io/v1beta1/namespaces/a/pods/b', 'metrics pods a b'],
    ['/apis/metrics.k8s.io/v1beta1/services', 'missing status'],
    ['/apis/metrics.k8s.io/v1', 'missing status'],
  ])('of metrics, %s, is %s', (path, expected) => {
    expect(describeRoute(router.route(path))).toBe(expected);
  });

  test.each([
    ['//api/v1/pods', 'missing page'],
    ['/api//v1/pods', 'missing status'],
    ['/api/v1//pods', 'missing status'],
    ['/api/v1/namespaces//pods', 'missing status'],
    ['/api/v1/../v1/nodes', 'missing status'],
    ['/api/v1/./nodes', 'missing status'],
    ['/../etc/passwd', 'missing page'],
    ['/api/v1/namespaces/a/pods/b%2fc', 'missing status'],
    ['/api/v1/namespaces/a/pods/b%2Fstatus', 'missing status'],
    ['/api/v1/namespaces/a%2fpods/b', 'missing status'],
    ['/api/v1/namespaces/a/pods/%zz', 'malformed'],
    ['/api/v1/namespaces/a/pods/%ff', 'malformed'],
    ['http://elsewhere/api', 'malformed'],
    ['*', 'malformed'],
    ['', 'malformed'],
    ['//', 'missing page'],
    ['/apis//', 'missing status'],
  ])('with a malicious form, %s, is %s', (path, expected) => {
    expect(describeRoute(router.route(path))).toBe(expected);
  });
});

describe('a method', () => {
  test.each([
    ['GET', '/api/v1/namespaces/a/pods', 'list'],
    ['GET', '/api/v1/namespaces/a/pods?watch', 'watch'],
    ['GET', '/api/v1/namespaces/a/pods/b?watch', 'get'],
    ['GET', '/api/v1/watch/pods', 'watch'],
    ['POST', '/api/v1/watch/pods', undefined],
    ['POST', '/api/v1/namespaces/a/pods', 'create'],
    ['POST', '/api/v1/pods', undefined],
    ['POST', '/api/v1/namespaces/a/pods/b', undefined],
    ['POST', '/api/v1/namespaces/a/pods/b/binding', 'create'],
    ['GET', '/api/v1/namespaces/a/pods/b/binding', undefined],
    ['POST', '/api/v1/namespaces/a/pods/b/status', undefined],
    ['PUT', '/api/v1/namespaces/a/pods/b/status', 'update'],
    ['PUT', '/api/v1/namespaces/a/pods', undefined],
    ['PATCH', '/api/v1/nodes/b', 'patch'],
    ['DELETE', '/api/v1/nodes/b', 'delete'],
    ['DELETE', '/api/v1/nodes/b/status', undefined],
    ['DELETE', '/api/v1/nodes', 'deletecollection'],
    ['DELETE', '/api/v1/namespaces', undefined],
    ['DELETE', '/api/v1/pods', undefined],
    ['HEAD', '/api/v1/nodes', undefined],
    ['OPTIONS', '/api/v1/nodes', undefined],
  ])('%s of %s is %s', (method, url, expected) => {
    const [path = '', query] = url.split('?');
    expect(verbOfRequest(method, target(path), query === 'watch')).toBe(expected);
  });
});

function target(path: string): ResourceTarget {
  const route = router.route(path);
  if (route.kind !== 'resource') throw new Error(`${path} is not a resource`);
  return route.target;
}

function describeRoute(route: Route): string {
  switch (route.kind) {
    case 'page':
      return ['page', route.page, route.rest].filter((part) => part !== '').join(' ');
    case 'discovery':
      return `discovery ${route.target.kind}`;
    case 'missing':
      return `missing ${route.style}`;
    case 'missingSubresource':
      return `missing part of ${route.resource.plural}/${route.name}`;
    case 'simulated':
      return `simulated ${route.target.kind.plural}/${route.target.subresource} of ${route.target.name}`;
    case 'metrics':
      return ['metrics', route.resource.plural, route.key.namespace, route.key.name]
        .filter(Boolean)
        .join(' ');
    case 'malformed':
      return 'malformed';
    case 'review':
      return ['review', route.review.kind, route.namespace].filter((part) => part !== undefined).join(' ');
    case 'resource':
      return resourceText(route.target);
  }
}

function resourceText({ kind, namespace, name, subresource, isWatchPath }: ResourceTarget): string {
  return [
    kind.plural,
    ...(namespace === undefined ? [] : [`in=${namespace}`]),
    ...(name === undefined ? [] : [`name=${name}`]),
    ...(subresource === undefined ? [] : [`part=${subresource}`]),
    ...(isWatchPath ? ['watched'] : []),
  ].join(' ');
}
