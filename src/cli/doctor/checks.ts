import { checkAgents } from './agents.ts';
import type { Check } from './check.ts';
import { checkDaemon } from './daemon.ts';
import { checkFolders } from './folders.ts';
import { checkHost } from './host.ts';
import { checkListenAddress } from './listen-address.ts';
import { checkMuxServer } from './mux-server.ts';
import { checkNativeHttp } from './native-http.ts';
import { checkOperatorFiles } from './operator-files.ts';
import { checkRuntime } from './runtime.ts';
import { checkHooks, checkSkills } from './skills.ts';
import { checkStores } from './stores.ts';
import { checkTools } from './tools.ts';

/** Every check of `svc doctor`, in the order they are shown. */
export const CHECKS: readonly Check[] = [
  checkRuntime,
  checkNativeHttp,
  checkTools,
  checkFolders,
  checkOperatorFiles,
  checkHost,
  checkStores,
  checkAgents,
  checkSkills,
  checkHooks,
  checkDaemon,
  checkMuxServer,
  checkListenAddress,
];
