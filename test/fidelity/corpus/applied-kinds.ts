import { get, patch, type Scenario, scenario } from '../scenario.ts';
import { placeOf, type Sample } from './lifecycle.ts';

/** Server-side apply to any kind: by one manager, by two managers without and with conflicts, and by a manager that gives its fields up. */
export function appliedKind(sample: Sample): Scenario {
  const { rich: path, names } = placeOf(sample);
  const { apiVersion, kind } = sample;
  const metadata = { name: names[1], labels: { by: 'one' } };
  const whole = { apiVersion, kind, metadata, ...sample.rich };
  const changed = { apiVersion, kind, metadata: { name: names[1], labels: { by: 'two' } }, ...sample.change };
  const bare = { apiVersion, kind, metadata: { name: names[1] } };
  return scenario(
    `${sample.kind} of ${sample.apiVersion}, applied`,
    patch('apply', `${path}?fieldManager=one`, whole),
    patch('apply', `${path}?fieldManager=one`, whole, { form: 'metadata' }),
    patch('apply', `${path}?fieldManager=two`, whole, { form: 'metadata' }),
    patch('apply', `${path}?fieldManager=two`, changed),
    patch('apply', `${path}?fieldManager=two&force=true`, changed),
    ...statusSteps(sample, path, bare),
    patch('merge', `${path}?fieldManager=three`, { metadata: { labels: { by: 'three' } } }),
    patch('apply', `${path}?fieldManager=two`, bare),
    patch('apply', `${path}?fieldManager=one`, bare),
    get(path),
  );
}

function statusSteps({ status }: Sample, path: string, bare: object) {
  if (status === undefined) return [];
  return [
    patch('apply', `${path}/status?fieldManager=watcher`, { ...bare, ...status }),
    patch('apply', `${path}/status?fieldManager=watcher`, { ...bare, ...status }, { form: 'metadata' }),
    patch('apply', `${path}?fieldManager=watcher`, { ...bare, ...status }, { form: 'metadata' }),
    patch('apply', `${path}/status?fieldManager=watcher`, bare),
  ];
}
