import { appendFileSync } from 'node:fs';
import { test } from 'vitest';
import { attackedServer } from './testing/attacked-server.ts';

const M = 3_000_000;
const rep = (s: string, n: number) => s.repeat(n);
const bodies: [string, string, string, string, string][] = [];
const cm = '/api/v1/namespaces/default/configmaps';
const pods = '/api/v1/namespaces/default/pods';
const y = 'application/yaml',
  j = 'application/json';
bodies.push(['json [', 'POST', cm, j, rep('[', M)]);
bodies.push(['yaml [', 'POST', cm, y, rep('[', M)]);
bodies.push(['yaml - ', 'POST', cm, y, rep('- ', M / 2)]);
bodies.push(['yaml {', 'POST', cm, y, rep('{a: ', M / 4)]);
bodies.push([
  'yaml nested indent',
  'POST',
  cm,
  y,
  Array.from({ length: 2000 }, (_, i) => ' '.repeat(i) + 'a:').join('\n'),
]);
bodies.push([
  'yaml many keys',
  'POST',
  cm,
  y,
  'data:\n' + Array.from({ length: 150000 }, (_, i) => `  k${i}: v`).join('\n'),
]);
bodies.push([
  'yaml anchors',
  'POST',
  cm,
  y,
  'data:\n' + Array.from({ length: 60000 }, (_, i) => `  k${i}: &a${i} [*a${Math.max(0, i - 1)}]`).join('\n'),
]);
bodies.push([
  'yaml many aliases',
  'POST',
  cm,
  y,
  'x: &a 1\ndata:\n' + Array.from({ length: 100000 }, (_, i) => `  k${i}: *a`).join('\n'),
]);
bodies.push(['yaml quotes', 'POST', cm, y, '"' + rep('\\', M)]);
bodies.push(['yaml !', 'POST', cm, y, rep('!', M)]);
bodies.push(['yaml %', 'POST', cm, y, rep('%TAG ! x\n', M / 9)]);
bodies.push(['yaml #', 'POST', cm, y, rep('# a\n', M / 4)]);
bodies.push(['yaml nl', 'POST', cm, y, 'a: |\n' + rep('\n', M)]);
bodies.push(['yaml docs', 'POST', cm, y, rep('---\n', M / 4)]);
bodies.push(['yaml ?', 'POST', cm, y, rep('? ', M / 2)]);
bodies.push([
  'json dup keys',
  'POST',
  cm,
  j,
  '{' + Array.from({ length: 200000 }, () => '"a":1').join(',') + '}',
]);
bodies.push([
  'json unknown fields',
  'POST',
  cm,
  j,
  '{' + Array.from({ length: 150000 }, (_, i) => `"x${i}":1`).join(',') + '}',
]);
bodies.push([
  'cm many keys',
  'POST',
  cm,
  j,
  JSON.stringify({
    metadata: { name: 'many' },
    data: Object.fromEntries(Array.from({ length: 60000 }, (_, i) => ['k' + i, 'v'])),
  }),
]);
bodies.push([
  'cm many bad keys',
  'POST',
  cm,
  j,
  JSON.stringify({
    metadata: { name: 'many2' },
    data: Object.fromEntries(Array.from({ length: 60000 }, (_, i) => ['k ' + i, 'v'])),
  }),
]);
bodies.push([
  'labels many bad',
  'POST',
  cm,
  j,
  JSON.stringify({
    metadata: {
      name: 'many3',
      labels: Object.fromEntries(Array.from({ length: 60000 }, (_, i) => ['k ' + i, 'v v'])),
    },
  }),
]);
bodies.push(['long name', 'POST', cm, j, JSON.stringify({ metadata: { name: rep('a.', M / 3) } })]);
bodies.push([
  'long label',
  'POST',
  cm,
  j,
  JSON.stringify({ metadata: { name: 'x', labels: { [rep('a-', 500000)]: rep('a-', 500000) } } }),
]);
bodies.push([
  'many owners',
  'POST',
  cm,
  j,
  JSON.stringify({
    metadata: {
      name: 'x',
      ownerReferences: Array.from({ length: 20000 }, (_, i) => ({
        apiVersion: 'v1',
        kind: 'Pod',
        name: 'a' + i,
        uid: 'u' + i,
      })),
    },
  }),
]);
bodies.push([
  'many finalizers',
  'POST',
  cm,
  j,
  JSON.stringify({
    metadata: { name: 'x2', finalizers: Array.from({ length: 100000 }, (_, i) => 'a.b/c' + i) },
  }),
]);
const pod = (spec: object) => JSON.stringify({ metadata: { name: 'p' + bodies.length }, spec });
bodies.push([
  'pod many containers',
  'POST',
  pods,
  j,
  pod({ containers: Array.from({ length: 20000 }, (_, i) => ({ name: 'c' + i, image: 'x' })) }),
]);
bodies.push([
  'pod many env',
  'POST',
  pods,
  j,
  pod({
    containers: [
      {
        name: 'c',
        image: 'x',
        env: Array.from({ length: 60000 }, (_, i) => ({ name: 'A' + i, value: 'x' })),
      },
    ],
  }),
]);
bodies.push([
  'pod many volumes',
  'POST',
  pods,
  j,
  pod({
    containers: [
      {
        name: 'c',
        image: 'x',
        volumeMounts: Array.from({ length: 15000 }, (_, i) => ({ name: 'v' + i, mountPath: '/' + i })),
      },
    ],
    volumes: Array.from({ length: 15000 }, (_, i) => ({ name: 'v' + i, emptyDir: {} })),
  }),
]);
bodies.push([
  'pod many tolerations',
  'POST',
  pods,
  j,
  pod({
    containers: [{ name: 'c', image: 'x' }],
    tolerations: Array.from({ length: 50000 }, (_, i) => ({ key: 'k' + i, operator: 'Exists' })),
  }),
]);
bodies.push([
  'pod many ports',
  'POST',
  pods,
  j,
  pod({
    containers: [
      {
        name: 'c',
        image: 'x',
        ports: Array.from({ length: 40000 }, (_, i) => ({ containerPort: 1 + i, hostPort: 1 + i })),
      },
    ],
  }),
]);
bodies.push([
  'pod long image',
  'POST',
  pods,
  j,
  pod({ containers: [{ name: 'c', image: rep('a/', 1000000) }] }),
]);
bodies.push([
  'pod spread',
  'POST',
  pods,
  j,
  pod({
    containers: [{ name: 'c', image: 'x' }],
    topologySpreadConstraints: Array.from({ length: 10000 }, (_, i) => ({
      maxSkew: 1,
      topologyKey: 'k' + i,
      whenUnsatisfiable: 'DoNotSchedule',
      labelSelector: { matchLabels: { a: 'b' } },
    })),
  }),
]);
bodies.push([
  'quantity long',
  'POST',
  '/api/v1/namespaces/default/persistentvolumeclaims',
  j,
  JSON.stringify({
    metadata: { name: 'q' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: rep('9', 1000000) } } },
  }),
]);
bodies.push([
  'quantity exp',
  'POST',
  '/api/v1/namespaces/default/persistentvolumeclaims',
  j,
  JSON.stringify({
    metadata: { name: 'q' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1e999999999' } } },
  }),
]);
bodies.push([
  'json number long',
  'POST',
  '/api/v1/namespaces/default/persistentvolumeclaims',
  j,
  '{"metadata":{"name":"q","generation":' + rep('9', 1000000) + '}}',
]);
bodies.push([
  'cron long',
  'POST',
  '/apis/batch/v1/namespaces/default/cronjobs',
  j,
  JSON.stringify({
    metadata: { name: 'q' },
    spec: {
      schedule: rep('*/1,', 300000) + ' * * * *',
      jobTemplate: {
        spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'x' }] } } },
      },
    },
  }),
]);
bodies.push([
  'time long',
  'POST',
  cm,
  j,
  JSON.stringify({ metadata: { name: 'q', creationTimestamp: rep('2', 1000000) } }),
]);
bodies.push([
  'merge patch many',
  'PATCH',
  cm + '/many',
  'application/merge-patch+json',
  JSON.stringify({ data: Object.fromEntries(Array.from({ length: 60000 }, (_, i) => ['z' + i, 'v'])) }),
]);
bodies.push([
  'strategic many containers',
  'PATCH',
  pods + '/pp',
  'application/strategic-merge-patch+json',
  JSON.stringify({
    spec: { containers: Array.from({ length: 20000 }, (_, i) => ({ name: 'c' + i, image: 'x' })) },
  }),
]);
bodies.push([
  'strategic order',
  'PATCH',
  pods + '/pp',
  'application/strategic-merge-patch+json',
  JSON.stringify({
    metadata: {
      finalizers: Array.from({ length: 40000 }, (_, i) => 'a.b/c' + i),
      '$setElementOrder/finalizers': Array.from({ length: 40000 }, (_, i) => 'a.b/c' + (40000 - i)),
    },
  }),
]);
bodies.push([
  'apply many env',
  'PATCH',
  pods + '/pp2?fieldManager=x',
  'application/apply-patch+yaml',
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'pp2' },
    spec: {
      containers: [
        {
          name: 'c',
          image: 'x',
          env: Array.from({ length: 40000 }, (_, i) => ({ name: 'A' + i, value: 'x' })),
        },
      ],
    },
  }),
]);
bodies.push([
  'apply finalizers',
  'PATCH',
  cm + '/pp3?fieldManager=x',
  'application/apply-patch+yaml',
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'pp3', finalizers: Array.from({ length: 40000 }, (_, i) => 'a.b/c' + i) },
  }),
]);
bodies.push([
  'apply finalizers 2',
  'PATCH',
  cm + '/pp3?fieldManager=y',
  'application/apply-patch+yaml',
  JSON.stringify({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'pp3', finalizers: Array.from({ length: 40000 }, (_, i) => 'a.b/c' + (40000 - i)) },
  }),
]);
bodies.push([
  'managed fields',
  'POST',
  cm,
  j,
  JSON.stringify({
    metadata: {
      name: 'mf',
      managedFields: Array.from({ length: 10000 }, (_, i) => ({
        manager: 'm' + i,
        operation: 'Update',
        apiVersion: 'v1',
        time: '2020-01-01T00:00:00Z',
        fieldsType: 'FieldsV1',
        fieldsV1: { 'f:data': { ['f:a' + i]: {} } },
      })),
    },
  }),
]);
bodies.push([
  'jsonpatch many add front',
  'PATCH',
  pods + '/pp',
  'application/json-patch+json',
  JSON.stringify(
    Array.from({ length: 9999 }, () => ({
      op: 'add',
      path: '/spec/tolerations/0',
      value: { key: 'a', operator: 'Exists' },
    })),
  ),
]);
bodies.push([
  'jsonpatch copy bomb',
  'PATCH',
  pods + '/pp',
  'application/json-patch+json',
  JSON.stringify(
    Array.from({ length: 9999 }, (_, i) => ({ op: 'copy', from: '', path: '/metadata/annotations' })),
  ),
]);
bodies.push([
  'selector many',
  'GET',
  cm + '?labelSelector=' + encodeURIComponent(Array.from({ length: 3000 }, (_, i) => 'a' + i).join(',')),
  j,
  '',
]);
bodies.push([
  'selector in',
  'GET',
  cm +
    '?labelSelector=' +
    encodeURIComponent('a in (' + Array.from({ length: 10000 }, (_, i) => 'a' + i).join(',') + ')'),
  j,
  '',
]);
bodies.push(['accept long', 'GET', cm + '?x=1', 'accept', '']);
test('x', async () => {
  const a = await attackedServer();
  await a.call('POST', pods, {
    body: {
      metadata: { name: 'pp' },
      spec: { containers: [{ name: 'c', image: 'x' }], tolerations: [{ key: 'a', operator: 'Exists' }] },
    },
  });
  for (const [what, method, path, type, body] of bodies) {
    const t = performance.now();
    let s: string;
    try {
      const r = await a.call(
        method,
        path,
        type === 'accept'
          ? { headers: { accept: 'a/b;q=0.5,'.repeat(5000) } }
          : method === 'GET'
            ? {}
            : { body, headers: { 'content-type': type } },
      );
      s = `${r.status} ${r.text.length > 150 ? r.text.length + ' ' : ''}${r.text.slice(0, 120)}`;
    } catch (e) {
      s = String(e);
    }
    const ms = performance.now() - t;
    appendFileSync(
      '/tmp/pout.txt',
      '\n' + `${ms > 700 ? 'SLOW ' : ''}${what}: ${Math.round(ms)} ms ${s.replace(/\s+/g, ' ')}`,
    );
  }
  console.log(
    'bugs',
    a.bugs.map((b) => b.slice(0, 400)),
  );
  await a.close();
}, 300000);
