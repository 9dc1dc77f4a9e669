import { describe, expect, it } from 'vitest';
import { parseAppServerAddress } from '../../src/config/app-server-address.ts';
import { readSettings } from '../../src/config/settings.ts';

describe('the address of an app server', () => {
  it.each([
    ['unix:/run/app.sock', { kind: 'unix', path: '/run/app.sock' }],
    ['unix:///run/app.sock', { kind: 'unix', path: '/run/app.sock' }],
    ['ws://127.0.0.1:8123', { kind: 'tcp', host: '127.0.0.1', port: 8123 }],
    ['ws://[::1]:8123/', { kind: 'tcp', host: '::1', port: 8123 }],
  ])('is %s', (text, address) => {
    expect(parseAppServerAddress(text)).toEqual({ ...address, text });
  });

  it.each([
    'unix:relative',
    'ws://example.org:80',
    'wss://127.0.0.1:1',
    'ws://127.0.0.1',
    'ws://localhost:1/x',
    '/x',
  ])(
    '[CAP-7] is not %s: the app server runs on this host, and an invalid setting stops the start',
    (text) => {
      expect(parseAppServerAddress(text)).toBeNull();
      expect(() => readSettings({ SVC_APP_SERVER: text })).toThrow(/SVC_APP_SERVER/);
    },
  );
});
