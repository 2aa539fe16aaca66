import { expect, test } from 'vitest';
import { writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { clusterKinds } from '../cluster/index.ts';
import { allocateService } from '../cluster/service-allocation.ts';
import { storedOnlyKinds } from '../stored-only/index.ts';
import { workloadKinds } from './index.ts';
import { answerOf, readRecorded, replay } from './testing/recorded.ts';
import { findKind } from './testing/tables.ts';
test('fuzz', () => {
  const all = [...workloadKinds, ...clusterKinds, ...storedOnlyKinds];
  const bad: unknown[] = [];
  const plain = (x: any) => x && JSON.parse(JSON.stringify(x).replace(/"(limits|rules|endpoints|ports)":null/g, '"$1":[]').replace(/odePort":\d+/g, 'odePort":1'));
  const sorted = (c: any) => c && [...c].map((x: any) => JSON.stringify(x).replace('Invalid value: {}: `sel','Invalid value: null: `sel').replace(/\{[^ ]{150,}\}: field is immutable/, '...')).sort();
  const writes = readRecorded(pathToFileURL('/tmp/wk/fuzz.ndjson'));
  for (const w of writes) {
    if (w.does === 'create' && w.object.kind === 'Job' && JSON.stringify(w.object).includes('5f0e1f86')) continue;
    const kind = findKind(all, w.object);
    try {
      const got: any = replay(kind, w, (o, e) => { if (o.kind === 'Service') allocateService(o as any, [], e); });
      const want: any = answerOf(kind, w);
      try {
        expect({ ...got, stored: plain(got.stored), causes: sorted(got.causes), warnings: sorted(got.warnings) }).toEqual({ ...want, stored: plain(want.stored), causes: sorted(want.causes), warnings: sorted(want.warnings) });
      } catch (error) { bad.push({ name: w.name, kind: w.object.kind, object: w.object, got: got.causes ?? got.warnings ?? 'ok', want: want.causes ?? want.warnings ?? 'ok', gotStored: got.stored, wantStored: want.stored }); }
    } catch (error) { bad.push({ name: w.name, kind: w.object.kind, object: w.object, threw: String((error as Error).stack).slice(0, 600) }); }
  }
  writeFileSync('/tmp/wk/bad.json', JSON.stringify(bad, null, 1));
  console.log(writes.length, 'cases', bad.length, 'bad');
});
