/** Type of the messages that the extension adds as context. */
export const CONTEXT_TYPE = 'fiber-dispatch';
/** How long a turn waits for its context, in milliseconds; the hook itself gives up before. */
const CONTEXT_WAIT_MS = 4_000;

/**
 * The part of the extension that adds waiting messages as context when a turn begins. A hook takes them, and is run only
 * where some wait.
 */
export const CONTEXT_PART = `
// Messages that wait for this session as context; null if there are none.
function waitingContext(ctx) {
  return new Promise((resolve) => {
    try {
      const named = process.env.SVC_DATA_DIR ?? '';
      const data = named.trim() === '' ? join(homedir(), '.svc') : named;
      const mailbox = join(data, 'messages', 'context', \`pi-\${ctx.sessionManager.getSessionId()}\`);
      if (!existsSync(mailbox)) return resolve(null);
      const child = spawn(shell, [script, harness, node], {
        stdio: ['pipe', 'pipe', 'ignore'],
        timeout: ${CONTEXT_WAIT_MS},
        killSignal: 'SIGKILL',
      });
      let text = '';
      child.stdout.setEncoding('utf8').on('data', (more) => {
        text += more;
      });
      child.on('error', () => resolve(null));
      child.on('close', () => {
        try {
          resolve(JSON.parse(text).hookSpecificOutput.additionalContext ?? null);
        } catch {
          resolve(null);
        }
      });
      child.stdin.on('error', () => {});
      child.stdin.end(inputOf(ctx, 'BeforeAgentStart'));
    } catch {
      resolve(null);
    }
  });
}

function addContext(pi) {
  pi.on('before_agent_start', async (_what, ctx) => {
    const content = await waitingContext(ctx);
    return content === null ? undefined : { message: { customType: '${CONTEXT_TYPE}', content, display: true } };
  });
}
`;
