/** What `svc` without a verb prints: the few verbs that a new user needs. */
export const NEWCOMER = `svc supervises coding agents. They work on tasks that you write as markdown
documents, called fibers.

Begin a task:     svc run "Write a HELLO.md that greets the reader"
                  an agent begins it in this folder, and is shown here
See how it is:    svc status
                  svc attach write-a          its terminal again
Judge it:         svc accept write-a          or: svc reopen write-a
Fix it:           svc why write-a             why it does not run
                  svc doctor                  what is missing on this machine

Look around:      svc demo                    with an agent that costs nothing

All verbs: svc help. One verb: svc help run.
`;
