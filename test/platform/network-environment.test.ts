import { describe, expect, it } from 'vitest';
import { networkVariables } from '../../src/platform/network-environment.ts';

describe('the network variables of an environment', () => {
  it.each([
    'HTTP_PROXY',
    'https_proxy',
    'ALL_PROXY',
    'no_proxy',
    'NODE_EXTRA_CA_CERTS',
    'SSL_CERT_FILE',
    'SSL_CERT_DIR',
    'CURL_CA_BUNDLE',
    'REQUESTS_CA_BUNDLE',
    'GIT_SSL_CAINFO',
    'npm_config_registry',
    'npm_config_cafile',
    'npm_config_https_proxy',
  ])('have %s', (name) => {
    expect(networkVariables({ [name]: 'x', HOME: '/root' })).toEqual({ [name]: 'x' });
  });

  it.each(['NODE_OPTIONS', 'npm_config_local_prefix', 'PROXY', 'MY_HTTP_PROXY_X', 'PATH'])(
    'lack %s',
    (name) => {
      expect(networkVariables({ [name]: 'x' })).toEqual({});
    },
  );

  it('omit unset and empty variables', () => {
    expect(networkVariables({ HTTPS_PROXY: '', HTTP_PROXY: undefined })).toEqual({});
  });
});
