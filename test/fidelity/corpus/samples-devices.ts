import type { Sample } from './lifecycle.ts';

const apiVersion = 'resource.k8s.io/v1';
const requests = [{ name: 'r', exactly: { deviceClassName: 'fast' } }];
const pool = { name: 'p', generation: 1, resourceSliceCount: 1 };

/** Kinds that the server only stores for others, with few validation rules. */
export const deviceSamples: readonly Sample[] = [
  {
    apiVersion,
    kind: 'DeviceClass',
    plural: 'deviceclasses',
    isClusterWide: true,
    minimal: { spec: {} },
    rich: { spec: { selectors: [{ cel: { expression: 'device.driver == "x.io"' } }] } },
    change: { spec: { selectors: [] } },
  },
  {
    apiVersion,
    kind: 'ResourceClaim',
    plural: 'resourceclaims',
    minimal: { spec: {} },
    rich: { spec: { devices: { requests } } },
    change: { metadata: { annotations: { changed: 'yes' } } },
    status: { status: {} },
  },
  {
    apiVersion,
    kind: 'ResourceClaimTemplate',
    plural: 'resourceclaimtemplates',
    minimal: { spec: { spec: {} } },
    rich: { spec: { metadata: { labels: { a: 'b' } }, spec: { devices: { requests } } } },
    change: { metadata: { annotations: { changed: 'yes' } } },
  },
  {
    apiVersion,
    kind: 'ResourceSlice',
    plural: 'resourceslices',
    isClusterWide: true,
    minimal: { spec: { driver: 'x.io', pool, nodeName: 'n1', devices: [] } },
    rich: {
      spec: {
        driver: 'x.io',
        pool,
        nodeName: 'n1',
        devices: [
          { name: 'd', attributes: { model: { string: 'm' } }, capacity: { memory: { value: '1024Mi' } } },
        ],
      },
    },
    change: { spec: { devices: [] } },
  },
];
