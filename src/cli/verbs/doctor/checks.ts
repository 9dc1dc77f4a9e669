import { checkAgents } from './agents.ts';
import type { NamedCheck } from './check.ts';
import { checkDaemon } from './daemon.ts';
import { checkFolders } from './folders.ts';
import { checkHost } from './host.ts';
import { checkLeases } from './leases.ts';
import { checkListenAddress } from './listen-address.ts';
import { checkMuxServer } from './mux-server.ts';
import { checkNativeHttp } from './native-http.ts';
import { checkOperatorFiles } from './operator-files.ts';
import { checkOtherHosts } from './other-hosts.ts';
import { checkRecorder } from './recorder.ts';
import { checkRuntime } from './runtime.ts';
import { checkHooks, checkSkills } from './skills.ts';
import { checkStores } from './stores.ts';
import { checkTools } from './tools.ts';

/** Every check of `svc doctor`, in the order of its output. */
export const CHECKS: readonly NamedCheck[] = [
  { name: 'node', check: checkRuntime },
  { name: 'native http', check: checkNativeHttp },
  { name: 'tools', check: checkTools },
  { name: 'folders', check: checkFolders },
  { name: 'operator files', check: checkOperatorFiles },
  { name: 'host id', check: checkHost },
  { name: 'stores', check: checkStores },
  { name: 'agents', check: checkAgents },
  { name: 'worker skills', check: checkSkills },
  { name: 'hooks', check: checkHooks },
  { name: 'daemon', check: checkDaemon },
  { name: 'other hosts', check: checkOtherHosts },
  { name: 'tmux server', check: checkMuxServer },
  { name: 'leases', check: checkLeases },
  { name: 'address', check: checkListenAddress },
  { name: 'recorder', check: checkRecorder },
];
