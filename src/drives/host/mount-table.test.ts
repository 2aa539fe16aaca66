import { expect, test } from 'vitest';
import { MountTable } from './mount-table.ts';

const text = `22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
42 22 8:16 / /var/lib/stowage/drives/u rw,noatime shared:7 master:2 - xfs /dev/sdb rw,inode64,prjquota
43 22 8:16 /volumes/pvc\\0401 /pods/a\\134b ro - xfs /dev/sdb rw,inode64,prjquota
44 22 8:16 /volumes/second /pods/a\\134b rw - xfs /dev/sdb rw,inode64,prjquota
not a line
`;

test('lines of mountinfo are read, with optional fields and escapes', () => {
  const table = MountTable.parse(text);
  expect(table.mounts).toHaveLength(4);
  expect(table.at('/var/lib/stowage/drives/u')).toEqual({
    device: '8:16',
    root: '/',
    path: '/var/lib/stowage/drives/u',
    options: ['rw', 'noatime'],
    type: 'xfs',
    filesystemOptions: ['rw', 'inode64', 'prjquota'],
  });
  expect(table.mounts[2]).toMatchObject({ root: '/volumes/pvc 1', options: ['ro'] });
});

test('of several mounts at one path the last one is seen', () => {
  expect(MountTable.parse(text).at('/pods/a\\b')?.root).toBe('/volumes/second');
  expect(MountTable.parse(text).of('8:16')).toHaveLength(3);
});
