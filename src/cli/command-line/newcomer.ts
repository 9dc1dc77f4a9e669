/** What `svc` without a verb prints: the few verbs that a new user needs. */
export const NEWCOMER = `svc supervises coding agents. They work on tasks that you write as markdown
documents, called fibers.

Try it:           svc demo                   an agent that costs nothing
Set it up:        svc fiber init ~/notes --poll   a folder for your tasks
                  svc doctor                  what is missing and how to mend it
Give out a task:  svc fiber add "Say hello" --body "Write HELLO.md."
                  svc install say-hello --project-dir ~/my-project
Let it begin:     svc daemon start
                  svc daemon release
Watch it:         svc status
                  svc attach say-hello

All verbs: svc help. One verb: svc help install.
`;
