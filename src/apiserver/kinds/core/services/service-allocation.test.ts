import { describe, expect, test } from 'vitest';
import type { Service, ServiceSpec } from '../../../../kube/api/stored/core.ts';
import { normalize } from '../../../schema/normalize.ts';
import { FieldErrors } from '../../../validation/field-errors.ts';
import { serviceKind } from './service.ts';
import { allocateService, apiServerIp } from './service-allocation.ts';

function service(spec: object): Service {
  const object = normalize('core/v1.Service', { metadata: { name: 's' }, spec }).object as unknown as Service;
  serviceKind.defaults?.(object);
  serviceKind.prepareCreate?.(object, { nowMs: 0 });
  return object;
}

function allocate(spec: object, others: readonly Service[] = []): ServiceSpec | readonly object[] {
  const errors = new FieldErrors();
  const object = service(spec);
  allocateService(object, others, errors);
  return errors.isEmpty ? object.spec : errors.causes;
}

const ports = [{ port: 80 }];
const taken = (ip: string) => service({ ports, clusterIP: ip });

describe('addresses', () => {
  test('the lowest free one is allocated, except that of the API server', () => {
    expect(apiServerIp()).toBe('10.96.0.1');
    expect(allocate({ ports })).toMatchObject({ clusterIP: '10.96.0.2', clusterIPs: ['10.96.0.2'] });
    const others = [taken('10.96.0.2'), taken('10.96.0.3'), taken('10.96.0.5')];
    expect(allocate({ ports }, others)).toMatchObject({ clusterIP: '10.96.0.4' });
  });

  test('allocation continues after the first 255', () => {
    const others = Array.from({ length: 300 }, (_, index) =>
      taken(`10.96.${(index + 1) >> 8}.${(index + 1) & 255}`),
    );
    expect(allocate({ ports }, others)).toMatchObject({ clusterIP: '10.96.1.45' });
  });

  test('an allocated one is refused', () => {
    expect(allocate({ ports, clusterIP: '10.96.0.9' }, [taken('10.96.0.9')])).toEqual([
      {
        reason: 'FieldValueInvalid',
        field: 'spec.clusterIPs',
        message:
          'Invalid value: ["10.96.0.9"]: failed to allocate IP 10.96.0.9: provided IP is already allocated',
      },
    ]);
  });

  test('headless and ExternalName services get none', () => {
    expect(allocate({ clusterIP: 'None' })).toMatchObject({ clusterIPs: ['None'] });
    expect(allocate({ type: 'ExternalName', externalName: 'a.b' })).not.toHaveProperty('clusterIP');
  });
});

describe('node ports', () => {
  test('the lowest free one is allocated', () => {
    const other = service({ type: 'NodePort', ports: [{ port: 1, nodePort: 30_000 }] });
    expect(allocate({ type: 'NodePort', ports }, [other])).toMatchObject({ ports: [{ nodePort: 30_001 }] });
  });

  test('one that another port of the service requests is skipped', () => {
    const requested = [
      { name: 'a', port: 80 },
      { name: 'b', port: 81, nodePort: 30_000 },
    ];
    expect(allocate({ type: 'NodePort', ports: requested })).toMatchObject({
      ports: [{ nodePort: 30_001 }, { nodePort: 30_000 }],
    });
  });

  test('ports of different protocols do not conflict', () => {
    const other = service({ type: 'NodePort', ports: [{ port: 1, nodePort: 30_005 }] });
    const udp = { type: 'NodePort', ports: [{ port: 53, protocol: 'UDP', nodePort: 30_005 }] };
    expect(allocate(udp, [other])).toMatchObject({ ports: [{ nodePort: 30_005 }] });
  });

  test.each([
    [80, 'provided port is not in the valid range. The range of valid ports is 30000-32767'],
    [30_005, 'provided port is already allocated'],
  ])('%d is refused', (nodePort, detail) => {
    const other = service({ type: 'NodePort', ports: [{ port: 1, nodePort: 30_005 }] });
    expect(allocate({ type: 'NodePort', ports: [{ port: 80, nodePort }] }, [other])).toEqual([
      {
        reason: 'FieldValueInvalid',
        field: 'spec.ports[0].nodePort',
        message: `Invalid value: ${nodePort}: ${detail}`,
      },
    ]);
  });

  test('a load balancer with externalTrafficPolicy Local gets a health check port', () => {
    expect(allocate({ type: 'LoadBalancer', externalTrafficPolicy: 'Local', ports })).toMatchObject({
      ports: [{ nodePort: 30_000 }],
      healthCheckNodePort: 30_001,
    });
  });
});
