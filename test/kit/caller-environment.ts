/** Settings of the person who runs the tests, for their own daemon, terminal, agents and test runner. */
const OF_THE_CALLER =
  /^(SVC_|TMUX|CLAUDE|ANTHROPIC_|OPENAI_|CODEX|PI_|XDG_(CONFIG|DATA|STATE)_HOME$|VITEST|NODE_(OPTIONS|ENV|V8_COVERAGE)$|FORCE_COLOR$|(TEST|MODE|DEV|PROD|SSR|BASE_URL)$|npm_(lifecycle|package)_|npm_config_(local|global)_prefix$)/;

/**
 * The environment that a child of a test starts from: the caller's, with its proxies and certificates, without what
 * would change how the program under test behaves.
 */
export function callerEnvironment(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !OF_THE_CALLER.test(name)));
}

/** `callerEnvironment` for children that talk to servers of the test: no proxy stands between them. */
export function loopbackEnvironment(env: NodeJS.ProcessEnv = process.env): NodeJS.ProcessEnv {
  const named = (env.NO_PROXY ?? env.no_proxy ?? '').split(',').filter((entry) => entry !== '');
  const direct = [...new Set([...named, '127.0.0.1', 'localhost', '::1'])].join(',');
  return { ...callerEnvironment(env), NO_PROXY: direct, no_proxy: direct };
}
