import { expect, it } from 'vitest';
import { dataPaths, operatorFilePaths } from '../../src/config/paths.ts';
import { readSettings } from '../../src/config/settings.ts';

it('everything is in the data dir, except a ledger with its own setting', () => {
  const paths = dataPaths(readSettings({ SVC_DATA_DIR: '/var/svc', SVC_EVENTS_FILE: '/logs/e.jsonl' }));
  const { events_file, ...others } = paths;
  expect(events_file).toBe('/logs/e.jsonl');
  expect(Object.values(others).every((path) => path.startsWith('/var/svc'))).toBe(true);
  expect(new Set(Object.values(paths)).size).toBe(Object.keys(paths).length);
});

it('an operator file is in the config dir, except one with its own setting', () => {
  const paths = operatorFilePaths(readSettings({ SVC_CONFIG_DIR: '/etc/svc', SVC_AGENTS_FILE: '/a.json' }));
  expect(paths).toEqual({
    stores: '/etc/svc/stores.json',
    projects: '/etc/svc/projects.json',
    agents: '/a.json',
    remotes: '/etc/svc/remotes.json',
    host: '/etc/svc/host.json',
  });
});
