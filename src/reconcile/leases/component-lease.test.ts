import { expect, test } from 'vitest';
import { announcementAnnotations, announcementOf } from './component-lease.ts';

test('an announcement is read back', () => {
  const announcement = { version: '0.1.0', gates: { VolumeScheduling: false, Other: true } };
  expect(announcementOf({ metadata: { annotations: announcementAnnotations(announcement) } })).toEqual(
    announcement,
  );
});

test('a scheduler also announces its names and its rules', () => {
  const scheduler = { names: ['stowage', 'default-scheduler'], profile: 'stowage', profileChanges: '{}' };
  const lease = {
    metadata: { annotations: announcementAnnotations({ version: '0.1.0', gates: {}, scheduler }) },
  };
  expect(announcementOf(lease).scheduler).toEqual(scheduler);
});

test.each([
  ['nothing', {}, {}],
  ['text without pairs', { 'stowage.dev/feature-gates': 'VolumeScheduling' }, {}],
  ['a value that is neither', { 'stowage.dev/feature-gates': 'A=maybe, B=true' }, { B: true }],
])('%s is read as far as it is valid', (_, annotations, gates) => {
  expect(announcementOf({ metadata: { annotations } })).toEqual({ version: '', gates });
});
