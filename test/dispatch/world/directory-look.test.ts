import { describe, expect, it } from 'vitest';
import { directoryLook } from '../../../src/dispatch/world/world.ts';

const DOCUMENTS = ['/srv/notes/.fibers', '/data/documents'];

describe('a look at a directory', () => {
  it.each([
    { real: '/srv/notes', kind: 'directory' },
    { real: '/srv/notes/project', kind: 'directory' },
    { real: '/srv/notes/.fibers', kind: 'in_store' },
    { real: '/srv/notes/.fibers/work/loader', kind: 'in_store' },
    { real: '/srv/other/.fibers', kind: 'in_store' },
    { real: '/data/documents', kind: 'in_store' },
    { real: '/data/documents/work', kind: 'in_store' },
    { real: '/data/documents-of-mine', kind: 'directory' },
    { real: '/data', kind: 'directory' },
  ])('[DSP-4] takes $real for $kind, also where the documents lie behind a link', ({ real, kind }) => {
    expect(directoryLook({ kind: 'directory', real }, DOCUMENTS).kind).toBe(kind);
  });

  it('passes on what is no directory', () => {
    expect(directoryLook({ kind: 'file', real: '/data/documents' }, DOCUMENTS)).toEqual({
      kind: 'not_directory',
    });
    expect(directoryLook({ kind: 'missing' }, DOCUMENTS)).toEqual({ kind: 'missing' });
  });
});
