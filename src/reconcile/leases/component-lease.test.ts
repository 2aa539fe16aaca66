import { expect, test } from 'vitest';
import { announcementAnnotations, announcementOf } from './component-lease.ts';

test('an announcement is read back', () => {
  const announcement = { version: '0.1.0', gates: { VolumeScheduling: false, Other: true } };
  expect(announcementOf({ metadata: { annotations: announcementAnnotations(announcement) } })).toEqual(
    announcement,
  );
});

test.each([
  ['nothing', {}, {}],
  ['words that are no pairs', { 'stowage.dev/feature-gates': 'VolumeScheduling' }, {}],
  ['a value that is neither', { 'stowage.dev/feature-gates': 'A=maybe, B=true' }, { B: true }],
])('%s is read as far as it is valid', (_, annotations, gates) => {
  expect(announcementOf({ metadata: { annotations } })).toEqual({ version: '', gates });
});
