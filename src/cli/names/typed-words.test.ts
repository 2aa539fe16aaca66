import { expect, test } from 'vitest';
import { askedIn } from './typed-words.ts';

test.each<[string, object]>([
  ['explain pod', { kind: 'pod', namespace: undefined, readsFiles: false }],
  ['explain -n shop claim', { kind: 'claim', namespace: 'shop' }],
  ['explain pod --namespace=shop --context other', { namespace: 'shop', context: 'other' }],
  ['explain pod --kubeconfig = /a/b --context', { kubeconfig: '/a/b', context: undefined }],
  ['explain pod --kubeconfig=/a=b', { kubeconfig: '/a=b' }],
  ['explain pod --from -', { readsFiles: true }],
  ['explain sts', { kind: 'statefulset' }],
  ['explain deploy', { kind: 'deployment' }],
  ['explain pod --from new.yaml --context other', { readsFiles: false }],
  ['capacity', { kind: undefined }],
])('%s', (line, expected) => {
  expect(askedIn(line.split(' '))).toMatchObject(expected);
});
