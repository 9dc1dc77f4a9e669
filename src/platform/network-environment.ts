/** Variables for proxies and certificates, in the common spellings. */
const NETWORK =
  /^(?:(?:https?|all|no|ftp)_proxy|NODE_EXTRA_CA_CERTS|NODE_USE_(?:SYSTEM_CA|OPENSSL_CA|ENV_PROXY)|(?:NIX_)?SSL_CERT_(?:FILE|DIR)|(?:CURL|REQUESTS|AWS)_CA_BUNDLE|GIT_SSL_CA(?:INFO|PATH)|PIP_CERT|CARGO_HTTP_CAINFO|DENO_CERT|GRPC_DEFAULT_SSL_ROOTS_FILE_PATH|npm_config_(?:registry|proxy|https?_proxy|no_?proxy|cafile|ca|strict_ssl))$/i;

/** True for a variable that configures network access: a proxy or trusted certificates. */
export function isNetworkVariable(name: string): boolean {
  return NETWORK.test(name);
}

/** The network variables of an environment that are not empty. */
export function networkVariables(env: Record<string, string | undefined>): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [name, value] of Object.entries(env))
    if (value !== undefined && value !== '' && isNetworkVariable(name)) found[name] = value;
  return found;
}
