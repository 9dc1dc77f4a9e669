/** Evaluates a script in the worker thread whose module is `module`, such as `workers/poller`, over a process's inspector at `url`. */
export async function evaluateInThread(url: string, module: string, script: string): Promise<void> {
  const socket = new WebSocket(url);
  await new Promise<void>((resolve, reject) => {
    socket.onopen = () => resolve();
    socket.onerror = () => reject(new Error(`no inspector answers at ${url}`));
  });
  try {
    await new Promise<void>((resolve, reject) => {
      const overdue = setTimeout(() => reject(new Error(`no thread of ${module} was found`)), 10_000);
      socket.onmessage = ({ data }) => {
        const said = JSON.parse(String(data)) as {
          method?: string;
          params?: { sessionId: string; workerInfo?: { url: string } };
        };
        if (
          said.method !== 'NodeWorker.attachedToWorker' ||
          said.params?.workerInfo?.url.replace(/\.(ts|js)$/, '').endsWith(module) !== true
        )
          return;
        clearTimeout(overdue);
        const message = JSON.stringify({ id: 1, method: 'Runtime.evaluate', params: { expression: script } });
        const { sessionId } = said.params;
        socket.send(
          JSON.stringify({ id: 2, method: 'NodeWorker.sendMessageToWorker', params: { sessionId, message } }),
        );
        // The socket keeps its order, so what closes it comes after what was sent.
        setTimeout(resolve, 50);
      };
      socket.send(
        JSON.stringify({ id: 1, method: 'NodeWorker.enable', params: { waitForDebuggerOnStart: false } }),
      );
    });
  } finally {
    socket.close();
  }
}
