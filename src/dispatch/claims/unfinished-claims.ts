import { CodedError, messageOf } from '../../base/errors.ts';
import type { FiberDocument } from '../../contract/fiber.ts';
import { isMarked, markClaim } from '../edits/claim-markers.ts';
import { cameAbout, type Memory } from '../holds/memory.ts';
import type { Run } from '../run/run.ts';
import { isClaimed } from '../run/run-state.ts';
import type { World } from '../world/world.ts';

/** Makes a capture of its surface unclaimed again. */
type GivesBack = { giveBack(launch_id: string): void };

/** What became of a claim whose daemon did not live to make it; `waits`: its document cannot be written now. */
export type ClaimOutcome = 'made' | 'dropped' | 'waits';

/**
 * Claims that are recorded and not known to be made (WPL-5): their daemon was killed between the record and the end
 * of the claim. One whose worker lives is made; one whose worker ended before the document had it never was.
 */
export class UnfinishedClaims {
  readonly #world: World;
  readonly #memory: Memory;
  readonly #captures: GivesBack;

  constructor(world: World, memory: Memory, captures: GivesBack) {
    this.#world = world;
    this.#memory = memory;
    this.#captures = captures;
  }

  /** Marks the document of a worker that lives, unless it belongs to another host or surface by now. */
  async make(run: Run): Promise<ClaimOutcome> {
    const document = this.#world.documents.of(run);
    if (document === undefined) return 'waits';
    const outcome = await this.#decide(
      run,
      document,
      (current) => isMarked(current, run) || isFor(current, run, this.#world.host),
    );
    if (outcome !== 'made') return outcome;
    cameAbout(this.#world, this.#memory, run);
    return 'made';
  }

  /** Takes back the claim of a worker that has ended, unless the document has it. */
  async drop(run: Run): Promise<ClaimOutcome> {
    const document = this.#world.documents.of(run);
    if (document !== undefined) return this.#decide(run, document, (current) => isMarked(current, run));
    this.#giveBack(run);
    return 'dropped';
  }

  /** Decides under the document's lock: the same claim may be asked for once more at this moment. */
  async #decide(
    run: Run,
    document: FiberDocument,
    isMade: (current: FiberDocument) => boolean,
  ): Promise<ClaimOutcome> {
    const { documents, runDirectories } = this.#world;
    const manifest = runDirectories.manifest(run.launch_id);
    if (manifest.kind !== 'found') return 'waits';
    let dropped = false;
    try {
      await documents.change(document, (current) => {
        if (current.error !== undefined) throw new CodedError('invalid_document', current.error);
        dropped = !isMade(current);
        if (dropped) this.#giveBack(run);
        return dropped || isMarked(current, run)
          ? { set: {}, unset: [] }
          : markClaim(this.#world, current, run, manifest.value.meeting);
      });
      return dropped ? 'dropped' : 'made';
    } catch (error) {
      if (dropped) return 'dropped';
      this.#world.logger.debug(
        { fiber: run.fiber_id, detail: messageOf(error) },
        'a claim that was cut short waits for its document',
      );
      return 'waits';
    }
  }

  #giveBack(run: Run): void {
    const { runDirectories, clock, logger } = this.#world;
    if (run.claim === 'person')
      runDirectories.update(run.launch_id, { state: 'ended', ended_at: clock.now() });
    else this.#captures.giveBack(run.launch_id);
    this.#memory.runs.release(run);
    logger.warn(
      { fiber: run.fiber_id, session: run.mux_session, run: run.run_id },
      'a claim that was cut short was taken back: nothing of it was in the document',
    );
  }
}

/** True for a claim that its daemon has recorded and no daemon is known to have made. */
export function isUnfinished(run: Run): boolean {
  return run.claim !== undefined && isClaimed(run.state);
}

function isFor({ svc }: FiberDocument, run: Run, host: string): boolean {
  return (
    (svc?.host === undefined || svc.host === host) &&
    (svc?.surface === undefined || svc.surface === run.surface)
  );
}
