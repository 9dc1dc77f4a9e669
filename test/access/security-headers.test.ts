import { describe, expect, it } from 'vitest';
import { SANDBOX_SECURITY_HEADERS, SECURITY_HEADERS } from '../../src/access/security-headers.ts';

function policyOf(headers: Readonly<Record<string, string>>): Map<string, string> {
  const directives = headers['Content-Security-Policy']!.split('; ');
  return new Map(directives.map((one) => [one.split(' ', 1)[0]!, one.split(' ').slice(1).join(' ')]));
}

describe('the policy of our own page', () => {
  const policy = policyOf(SECURITY_HEADERS);

  it('allows scripts and styles only from the daemon, none inline', () => {
    expect(policy.get('script-src')).toBe("'self'");
    expect(policy.get('style-src')).toBe("'self'");
    expect(policy.get('default-src')).toBe("'self'");
    expect(SECURITY_HEADERS['Content-Security-Policy']).not.toMatch(/unsafe|\*|https?:/);
  });

  it('requires Trusted Types, and forbids framing the page or changing its base', () => {
    expect(policy.get('require-trusted-types-for')).toBe("'script'");
    expect(policy.get('frame-ancestors')).toBe("'none'");
    expect(policy.get('base-uri')).toBe("'none'");
    expect(policy.get('object-src')).toBe("'none'");
    expect(policy.get('form-action')).toBe("'none'");
  });
});

describe('the policy of an untrusted page', () => {
  const policy = policyOf(SANDBOX_SECURITY_HEADERS);

  it('gives it an opaque origin, without scripts', () => {
    expect(policy.get('sandbox')).toBe('');
    expect(policy.get('default-src')).toBe("'none'");
    expect(policy.has('script-src')).toBe(false);
  });

  it('loads nothing over the network', () => {
    for (const kind of ['img-src', 'font-src', 'media-src']) expect(policy.get(kind)).toBe('data:');
    expect(policy.get('style-src')).toBe("'unsafe-inline'");
  });
});

describe('both policies', () => {
  it.each([SECURITY_HEADERS, SANDBOX_SECURITY_HEADERS])('are valid HTTP headers', (headers) => {
    for (const [name, value] of Object.entries(headers)) {
      expect(name).toMatch(/^[A-Za-z-]+$/);
      expect(value).toMatch(/^[\x20-\x7e]+$/);
    }
    expect(headers['X-Content-Type-Options']).toBe('nosniff');
    expect(headers['Cross-Origin-Resource-Policy']).toBe('same-origin');
  });
});
