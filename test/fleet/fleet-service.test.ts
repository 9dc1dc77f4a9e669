import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../src/base/logger.ts';
import { createFleetService } from '../../src/fleet/fleet-service.ts';
import { readRemotesFile, remotesPath } from '../../src/fleet/remotes-file.ts';

let dir: string;
let path: string;
let log: string[];
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'svc-fleet-'));
  path = join(dir, 'remotes.json');
  log = [];
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

function service() {
  const logger = createLogger({
    component: 'fleet',
    level: 'warn',
    destination: { write: (text) => log.push(text) },
  });
  return createFleetService({ remotes_file: path, logger });
}

describe('the fleet', () => {
  it('has no remotes when no file names any', () => {
    expect(service().state()).toEqual({ remotes: [] });
    expect(log).toEqual([]);
  });

  it('lists the configured remotes as unpolled, as of now', () => {
    const fleet = service();
    writeFileSync(path, '{"version":1,"remotes":[{"name":"host-b","port":4001},{"name":"host-c"}]}');
    expect(fleet.state()).toEqual({
      remotes: [
        { name: 'host-b', state: 'unpolled' },
        { name: 'host-c', state: 'unpolled' },
      ],
    });
    writeFileSync(path, '{"remotes":[{"name":"host-d"}]}');
    expect(fleet.state().remotes.map((remote) => remote.name)).toEqual(['host-d']);
  });

  it('keeps the remotes it read last while the file is broken, and warns once', () => {
    const fleet = service();
    writeFileSync(path, '{"remotes":[{"name":"host-b"}]}');
    fleet.state();
    writeFileSync(path, '{"remotes":[');
    expect(fleet.state().remotes.map((remote) => remote.name)).toEqual(['host-b']);
    fleet.state();
    expect(log).toHaveLength(1);
    expect(log[0]).toContain(path);
  });
});

describe('the remotes file', () => {
  it('skips entries that are no remotes and says which', () => {
    writeFileSync(path, '{"remotes":[{"name":"host-b"},{"port":1},7,{"name":""},{"name":"host-b"}]}');
    const { names, problems } = readRemotesFile(path);
    expect(names).toEqual(['host-b']);
    expect(problems).toEqual([
      `${path}: entry 2 of "remotes" needs a "name"`,
      `${path}: entry 3 of "remotes" needs a "name"`,
      `${path}: entry 4 of "remotes" needs a "name"`,
      `${path}: two remotes are named host-b`,
    ]);
  });

  it('that is not JSON or has another shape is invalid_config', () => {
    for (const text of ['', '[]', '{"remotes":{}}', 'null', '{"remotes":[}']) {
      writeFileSync(path, text);
      expect(() => readRemotesFile(path)).toThrow(expect.objectContaining({ code: 'invalid_config' }));
    }
    expect(() => readRemotesFile(dir)).toThrow(expect.objectContaining({ code: 'invalid_config' }));
  });

  it('is found by its own setting, else in the config dir', () => {
    expect(remotesPath({ remotes_file: '/x/r.json', config_dir: '/c' })).toBe('/x/r.json');
    expect(remotesPath({ remotes_file: null, config_dir: '/c' })).toBe('/c/remotes.json');
  });
});
