import { patch, type Step } from '../scenario.ts';

export const maps = '/api/v1/namespaces/{{ns}}/configmaps';
const services = '/api/v1/namespaces/{{ns}}/services';
export const pods = '/api/v1/namespaces/{{ns}}/pods';
export const deployments = '/apis/apps/v1/namespaces/{{ns}}/deployments';

export function apply(path: string, by: string, body: unknown, query = ''): Step {
  return patch('apply', `${path}?fieldManager=${by}${query}`, body);
}

export function map(data?: unknown, metadata: object = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'm', ...metadata },
    ...(data === undefined ? {} : { data }),
  };
}

export function service(spec: object): object {
  return { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec };
}

export function deployment(spec: object, name = 'd'): object {
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name }, spec };
}

export function template(pod: object, rest: object = {}): object {
  return deployment({
    selector: { matchLabels: { a: 'b' } },
    template: { metadata: { labels: { a: 'b' } }, spec: pod },
    ...rest,
  });
}

export const one = { name: 'one', image: 'one:1' };
export const two = { name: 'two', image: 'two:1' };
export const three = { name: 'three', image: 'three:1' };

export const m = `${maps}/m`;
export const s = `${services}/s`;
export const d = `${deployments}/d`;
