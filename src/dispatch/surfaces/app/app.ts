import { CodedError } from '../../../base/errors.ts';
import { shellWord } from '../../../base/shell-word.ts';
import type { ClaimPorts } from '../../claims/claim-checks.ts';
import { Claims } from '../../claims/claims.ts';
import { UnfinishedClaims } from '../../claims/unfinished-claims.ts';
import type { Memory } from '../../holds/memory.ts';
import type { Refusal } from '../../holds/refusals.ts';
import { faultOf, isAppRun, isReserved, NEW_CONVERSATION } from '../../run/app-run.ts';
import type { AppSurfaceRun, Run } from '../../run/run.ts';
import { isStarting } from '../../run/run-state.ts';
import type { World } from '../../world/world.ts';
import type { OpenSurface, ShownStart, SurfaceStarts } from '../surface.ts';
import { AppCaptures } from './app-captures.ts';
import { planAppRun, refuseByAppServer, refuseWithoutServer } from './app-preflight.ts';
import { AppRuns } from './app-runs.ts';
import { continueAppRun, namesOf, showContinue, startAppRun } from './app-start.ts';
import { ClaimedConversations } from './claimed-conversations.ts';

/** Workers as conversations of the operator’s running app server. */
export const APP: SurfaceStarts = {
  refuse: refuseByAppServer,
  fields: (checked) => ({ app: planAppRun(checked) }),
  start: (world, document, { run, prompt }, authority, confirmed_dir) =>
    startAppRun(world, document, appRun(run), authority, { prompt, confirmed_dir }),
  show(_world, _document, { run }): ShownStart {
    const begins = appRun(run).app.thread_id === null;
    return {
      what: 'a conversation of ',
      command: null,
      // A conversation that is begun is named in a second write, once the app server has given it its id.
      names: begins ? namesOf(NEW_CONVERSATION) : {},
      minted: begins ? { session_uuid: NEW_CONVERSATION } : ({} as Record<string, string>),
    };
  },
  reserved: {
    goOn: (world, run) => continueAppRun(world, appRun(run)),
    show: (world, document, run) => showContinue(world, document, appRun(run)),
  },
  unserved: refuseWithoutServer,
  explain: (id, run, unserved) => (isStarting(run.state) ? null : explainApp(id, appRun(run), unserved)),
};

/** The app surface of this daemon. */
export function openApp(world: World, memory: Memory, ports: ClaimPorts): OpenSurface {
  const captures = new AppCaptures(world, memory);
  const runs = new AppRuns(world, memory, new UnfinishedClaims(world, memory, captures), ports.onMoved);
  return {
    captures,
    claims: new Claims(world, memory, new ClaimedConversations(world, captures), ports),
    async cut(run, reason) {
      await runs.release(appRun(run), reason);
      ports.onMoved([run.key]);
      return null;
    },
    // None has a session here: who wants one to stop interrupts its turn in the app.
    endCaptures: async () => [],
    async watch() {
      await runs.look();
      await captures.look();
    },
  };
}

function appRun(run: Run): AppSurfaceRun {
  if (isAppRun(run)) return run;
  throw new CodedError('internal', `The run ${run.launch_id} of the app surface has no conversation.`);
}

/** How the conversation of a fiber stands, and what can be done about it. */
function explainApp(
  id: string,
  run: AppSurfaceRun,
  unserved: Refusal | null,
): { message: string; mend: string } {
  const which = `the app conversation ${run.app.thread_id ?? run.launch_id}`;
  if (run.app.missing)
    return {
      message: `${which} is assigned to it, and the app server was asked for it and has none`,
      mend: `begin another one with \`svc dispatch ${shellWord(id)}\`, or give it up with \`svc kill ${shellWord(id)}\``,
    };
  if (unserved !== null)
    return {
      message: `${which} is still assigned to it, and its state is not known: ${unserved.message}`,
      mend: 'nothing else is started for it before the app server answers; start that, and see `svc doctor`',
    };
  if (isReserved(run))
    return {
      message: `${which} is assigned to it, and its first turn is not known to have begun`,
      mend: `send it once more with \`svc dispatch ${shellWord(id)}\``,
    };
  const fault = faultOf(run.app);
  return {
    message: `${which} is still assigned to it${fault === null ? '' : `, and ${fault}`}`,
    mend: `go on with it in the app, or release it with \`svc kill ${shellWord(id)}\``,
  };
}
