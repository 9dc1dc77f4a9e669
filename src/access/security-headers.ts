type Headers = Readonly<Record<string, string>>;

/** Sent with every answer: a browser shows an error or a JSON text as a page too. */
const ALWAYS: Headers = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'no-referrer',
  // No page of another origin may load an answer into itself, by any tag …
  'Cross-Origin-Resource-Policy': 'same-origin',
  // … or keep a handle on a window of ours that it has opened.
  'Cross-Origin-Opener-Policy': 'same-origin',
  // A meeting on a phone records through the board's page.
  'Permissions-Policy': 'microphone=(self), camera=(), geolocation=(), display-capture=(), usb=(), serial=()',
};

/**
 * The board's page: everything from the daemon itself, nothing inline, text becomes markup only through a Trusted Types
 * policy. The board keeps to it: no inlined assets, editors in shadow roots, markup from the sanitiser.
 */
const OWN_PAGE_POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

/**
 * For untrusted HTML, such as the report of a worker: it gets an opaque origin, no scripts, forms or popups, and loads
 * nothing that is not embedded in it. The board may show it in a frame.
 */
const FOREIGN_PAGE_POLICY = [
  'sandbox',
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  'img-src data:',
  'font-src data:',
  'media-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ');

/** The type under which data is sent: a browser that says nothing of what it does with it runs no script of another type. */
export function dataType(type: string): string {
  return /(?:java|ecma|j|live)script/i.test(type) ? 'text/plain; charset=utf-8' : type;
}

/** Headers of every answer that does not use `SANDBOX_SECURITY_HEADERS`. */
export const SECURITY_HEADERS: Headers = {
  ...ALWAYS,
  'Content-Security-Policy': OWN_PAGE_POLICY,
  'X-Frame-Options': 'DENY',
};

/** Headers of answers with bytes that this daemon did not write (rows with `sandbox: true`). */
export const SANDBOX_SECURITY_HEADERS: Headers = {
  ...ALWAYS,
  'Content-Security-Policy': FOREIGN_PAGE_POLICY,
  'X-Frame-Options': 'SAMEORIGIN',
};
