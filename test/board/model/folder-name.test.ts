import { expect, it } from 'vitest';
import { folderName } from '../../../board/src/model/folder-name.ts';

it.each([
  ['/srv/web', 'web'],
  ['/srv/web/', 'web'],
  ['/', '/'],
])('the folder %s is called %s', (path, name) => {
  expect(folderName(path)).toBe(name);
});
