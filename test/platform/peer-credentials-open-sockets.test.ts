import { describe, expect, it } from 'vitest';
import { OpenSockets } from '../../src/platform/peer-credentials.ts';

/** Open files as a table: number to inode of a socket, or another kind of file. */
function openFiles(open: Record<string, number | 'no_socket' | 'closed'>) {
  const looked: string[] = [];
  const sockets = new OpenSockets({
    numbers: () => Object.keys(open),
    inodeOf(number) {
      looked.push(number);
      return open[number] ?? 'closed';
    },
  });
  return {
    open,
    appeared: () => [...sockets.appeared()],
    quickly: () => [...sockets.appearedUnderNewNumbers()],
    takeLooked: () => looked.splice(0),
  };
}

describe('OpenSockets', () => {
  it('returns the sockets that are new since the last call, each once', () => {
    const files = openFiles({ 0: 'no_socket', 1: 11, 2: 12 });
    expect(files.appeared()).toEqual([11, 12]);
    files.open[3] = 13;
    expect(files.quickly()).toEqual([13]);
    expect(files.quickly()).toEqual([]);
    expect(files.appeared()).toEqual([]);
  });

  it('inspects every file, or only those with new numbers', () => {
    const files = openFiles({ 0: 'no_socket', 1: 11 });
    files.appeared();
    expect(files.takeLooked()).toEqual(['0', '1']);
    files.open[2] = 12;
    expect(files.quickly()).toEqual([12]);
    expect(files.takeLooked()).toEqual(['2']);
  });

  it('misses a reused descriptor until it inspects every file', () => {
    const files = openFiles({ 0: 'no_socket', 1: 11 });
    files.appeared();
    files.open[0] = 21;
    expect(files.quickly()).toEqual([]);
    expect(files.appeared()).toEqual([21]);
  });

  it('finds a socket with the number that its own listing had used', () => {
    const files = openFiles({ 1: 11, 2: 'closed' });
    files.appeared();
    files.open[2] = 12;
    expect(files.quickly()).toEqual([12]);
  });

  it('forgets a closed socket', () => {
    const files = openFiles({ 1: 11 });
    files.appeared();
    delete files.open[1];
    expect(files.appeared()).toEqual([]);
    files.open[1] = 11;
    expect(files.appeared()).toEqual([11]);
  });
});
