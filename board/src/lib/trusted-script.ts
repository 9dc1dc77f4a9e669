type Policies = { createPolicy(name: string, rules: object): { createScriptURL(url: string): string } };

/** The address of a script of this build, as the page’s policy wants it named; older browsers want it as it is. */
export function trustedScript(url: string): string {
  const { trustedTypes } = globalThis as { trustedTypes?: Policies };
  const policy = trustedTypes?.createPolicy('svc-own-scripts', { createScriptURL: (text: string) => text });
  return policy?.createScriptURL(url) ?? url;
}
