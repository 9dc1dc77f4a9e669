import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLogger, silentLogger } from '../../../src/base/logger.ts';
import { writeSvcCommand } from '../../../src/dispatch/run-directory/svc-command.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-command-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('the svc of the workers', () => {
  it('runs this package on this runtime, and replaces that of an earlier version', () => {
    const bin = join(dir, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'svc'), 'of an earlier version');
    writeSvcCommand(bin, silentLogger);
    const text = readFileSync(join(bin, 'svc'), 'utf8');
    expect(text).toContain(process.execPath);
    expect(text).toContain('/src/cli/svc.cjs "$@"');
  });

  it('stays as it is with a warning where it cannot be replaced', () => {
    const logged: string[] = [];
    const destination = { write: (text: string) => void logged.push(text) };
    const logger = createLogger({ component: 'poller', level: 'warn', destination });
    const bin = join(dir, 'bin');
    // A folder cannot be replaced by a file, not even by root.
    mkdirSync(join(bin, 'svc'), { recursive: true });
    writeSvcCommand(bin, logger);
    expect(logged).toHaveLength(1);
    expect(logged[0]).toContain('the svc of the workers cannot be brought up to date');
  });

  it('is required: without any, the poller does not start', () => {
    writeFileSync(join(dir, 'bin'), 'a file where a folder belongs');
    expect(() => writeSvcCommand(join(dir, 'bin'), silentLogger)).toThrow();
  });
});
