import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hostClass, readHostFile } from '../../src/config/host-file.ts';
import { normaliseHostName, resolveHostId } from '../../src/config/host-identity.ts';
import { readSettings } from '../../src/config/settings.ts';
import { type ScratchFolder, scratchFolder } from '../kit/scratch-folder.ts';

let scratch: ScratchFolder;
beforeEach(() => {
  scratch = scratchFolder();
});
afterEach(() => scratch.remove());

const settings = (env: NodeJS.ProcessEnv = {}) => readSettings({ SVC_CONFIG_DIR: scratch.path, ...env });
const file = () => join(scratch.path, 'host.json');

describe('the host id', () => {
  it('[DSP-3] is SVC_HOST, trimmed, before anything else', () => {
    scratch.write('host.json', { host: 'from-file' });
    expect(resolveHostId(settings({ SVC_HOST: ' host-a ' }), { hostname: 'os', persist: true })).toEqual({
      host: 'host-a',
      source: 'environment',
    });
  });

  it('[DSP-3] comes from host.json if the variable is unset or blank', () => {
    scratch.write('host.json', { host: 'from-file' });
    expect(resolveHostId(settings({ SVC_HOST: '  ' }), { hostname: 'os', persist: true })).toEqual({
      host: 'from-file',
      source: 'file',
    });
  });

  it('[DSP-3] is otherwise the OS name, saved once, so that a renamed machine keeps its id', () => {
    scratch.write('host.json', { host_class: 'exposed', mine: true });
    const first = resolveHostId(settings(), { hostname: 'Build_Box.example.org', persist: true });
    expect(first).toEqual({ host: 'build-box', source: 'os' });
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual({
      host_class: 'exposed',
      mine: true,
      host: 'build-box',
    });
    expect(resolveHostId(settings(), { hostname: 'renamed', persist: true })).toEqual({
      host: 'build-box',
      source: 'file',
    });
  });

  it.each([
    ['{}', '{"host":"box"}'],
    [
      '{\n\t"host_class" : "personal",\n\n\t"max_concurrent": 4.0,\n\t"mine": {"a":1,  "b":[1,2]}\n}',
      '{\n\t"host_class" : "personal",\n\n\t"max_concurrent": 4.0,\n\t"mine": {"a":1,  "b":[1,2]},\n\t"host":"box"\n}',
    ],
  ])('[DSP-3] [OPF-1] is put into %j, and every other byte of it stays', (before, after) => {
    scratch.write('host.json', before);
    resolveHostId(settings(), { hostname: 'box', persist: true });
    const text = readFileSync(file(), 'utf8');
    expect(text.replaceAll('"host": "box"', '"host":"box"')).toBe(after);
    expect(readHostFile(settings()).host).toBe('box');
  });

  it('[DSP-3] begins a host.json where there is none', () => {
    resolveHostId(settings(), { hostname: 'box', persist: true });
    expect(JSON.parse(readFileSync(file(), 'utf8'))).toEqual({ version: 1, host: 'box' });
  });

  it('[DSP-3] is not written when it is only read', () => {
    expect(resolveHostId(settings(), { hostname: 'box', persist: false }).host).toBe('box');
    expect(existsSync(file())).toBe(false);
  });

  it('is refused if it is not valid in an address, naming its source', () => {
    expect(() => resolveHostId(settings({ SVC_HOST: 'host a' }), { hostname: 'x', persist: true })).toThrow(
      expect.objectContaining({ code: 'invalid_config', message: expect.stringContaining('SVC_HOST') }),
    );
    scratch.write('host.json', { host: 'a/b' });
    expect(() => resolveHostId(settings(), { hostname: 'x', persist: true })).toThrow(file());
  });

  it('is refused if nothing is left of the OS name, naming both fixes', () => {
    expect(() => resolveHostId(settings(), { hostname: '日本', persist: true })).toThrow(
      /SVC_HOST.*host\.json/,
    );
  });

  it('prevents the boot if host.json is invalid', () => {
    scratch.write('host.json', '{"host": 7}');
    expect(() => resolveHostId(settings(), { hostname: 'x', persist: true })).toThrow(/not valid at host/);
  });

  it('normalises any OS name to lower-case letters, digits and inner hyphens, and only once', () => {
    fc.assert(
      fc.property(fc.string(), (name) => {
        const host = normaliseHostName(name);
        expect(host).toMatch(/^([a-z0-9]([a-z0-9-]*[a-z0-9])?)?$/);
        expect(normaliseHostName(host)).toBe(host);
      }),
    );
  });
});

describe('host.json', () => {
  it('makes a machine personal by default', () => {
    expect(hostClass(readHostFile(settings()))).toBe('personal');
    scratch.write('host.json', { host_class: 'exposed' });
    expect(hostClass(readHostFile(settings()))).toBe('exposed');
  });

  it('is read from the path in SVC_HOST_CONFIG_FILE', () => {
    const other = scratch.write('other.json', { host: 'elsewhere' });
    expect(readHostFile(settings({ SVC_HOST_CONFIG_FILE: other })).host).toBe('elsewhere');
  });
});
