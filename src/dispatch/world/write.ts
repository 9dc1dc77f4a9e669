/**
 * One write. Its plan makes every check and has no effect; a dry run shows the plan, the real request applies it, so that
 * the two cannot differ. What may have moved since the plan was made `apply` checks again, under the lock that it takes.
 */
export type Write<Asked, Plan, Shown, Done> = {
  plan(asked: Asked): Plan | Promise<Plan>;
  show(plan: Plan): Shown | Promise<Shown>;
  apply(plan: Plan): Done | Promise<Done>;
  /** Runs the plan and its application after those of other requests; a dry run takes no turn. */
  inTurn?<T>(asked: Asked, run: () => Promise<T>): Promise<T>;
};

type DryRun = { dry_run?: boolean | undefined };
export type Answer<Asked, Shown, Done> = 'dry_run' extends keyof Asked
  ? Asked extends { dry_run: true }
    ? Shown
    : Asked extends { dry_run?: false | undefined }
      ? Done
      : Shown | Done
  : Done;

/** Answers a request: with `dry_run` what it would do, otherwise what it did. */
export async function perform<Asked extends DryRun, Plan, Shown, Done, Given extends Asked>(
  write: Write<Asked, Plan, Shown, Done>,
  asked: Given,
): Promise<Answer<Given, Shown, Done>> {
  const apply = async () => write.apply(await write.plan(asked));
  const answer: Shown | Done =
    asked.dry_run === true
      ? await write.show(await write.plan(asked))
      : await (write.inTurn === undefined ? apply() : write.inTurn(asked, apply));
  return answer as Answer<Given, Shown, Done>;
}
