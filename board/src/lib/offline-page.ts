/** Kept by the browser so that the page opens without the daemon; see `public/sw.js`. */
const WORKER = '/sw.js';

type ScriptPolicy = { createScriptURL(url: string): string };
type TrustedTypes = {
  createPolicy(name: string, rules: { createScriptURL(url: string): string }): ScriptPolicy;
};

/** Has the browser keep this page. It does so only for a secure origin, such as this machine itself. */
export function keepPageOffline(): void {
  const { serviceWorker } = navigator as { serviceWorker?: ServiceWorkerContainer };
  if (serviceWorker === undefined || !import.meta.env.PROD) return;
  const { trustedTypes } = window as { trustedTypes?: TrustedTypes };
  const policy = trustedTypes?.createPolicy('offline-page', {
    createScriptURL: (url) => {
      if (url !== WORKER) throw new TypeError(`${url} is not a script of this page`);
      return url;
    },
  });
  // What it does is no more than a convenience, so a browser that refuses is no fault of the page.
  serviceWorker
    .register(policy?.createScriptURL(WORKER) ?? WORKER, { updateViaCache: 'none' })
    .catch(() => undefined);
}
