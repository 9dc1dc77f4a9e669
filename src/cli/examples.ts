/** One line a person can type, and what it does. */
export type Example = readonly [line: string, does: string];

/** Examples by command path (`fiber add`), for `--help` and the page of the command line; every command has one. */
export const EXAMPLES: Readonly<Record<string, readonly Example[]>> = {
  demo: [
    ['svc demo', 'runs the demo in this terminal'],
    ['svc demo status', 'runs a verb on the demo instead of your own setup'],
    ['svc demo --remove', 'takes away all that the demo made'],
  ],
  doctor: [['svc doctor', 'checks everything; each line that is not ok says how to mend it']],
  'daemon run': [['svc daemon run', 'for systemd, launchd or a terminal of its own']],
  'daemon start': [['svc daemon start', 'returns when the daemon is ready']],
  'daemon stop': [['svc daemon stop', 'the workers keep running']],
  'daemon restart': [['svc daemon restart', 'takes over changed settings or a new version']],
  'daemon status': [['svc daemon status --json', 'the daemon, its version and its components as JSON']],
  'daemon logs': [['svc daemon logs -f -n 20', 'the last 20 lines, then every new one']],
  'daemon release': [['svc daemon release', 'what a start of the daemon held back begins']],
  'daemon settings': [['svc daemon settings', 'every SVC_ variable with its value and meaning']],
  status: [
    ['svc status', 'stores, workers, and what waits and why'],
    ['svc status say-hello', 'one fiber'],
  ],
  'remotes list': [['svc remotes list --configured --json', 'the other hosts of remotes.json']],
  'remotes add': [
    ['svc remotes add host-b --ssh host-b-login --port 4001', 'reached by a tunnel from port 4001'],
  ],
  'remotes rm': [['svc remotes rm host-b', 'the last one takes the file away']],
  'fiber init': [['svc fiber init ~/notes --poll', 'makes a store and has the daemon work on it']],
  'fiber add': [
    [
      'svc fiber add "Say hello" --store ~/notes --body "Write HELLO.md."',
      'makes the draft `say-hello` with its task',
    ],
    [
      'svc fiber add "Load faster" --parent work --body - < task.md',
      'files it under `work`, body from a file',
    ],
  ],
  'fiber edit': [
    ['svc fiber edit say-hello --outcome "Greets in two languages."', 'sets the line that the card shows'],
    ['svc fiber edit say-hello --set svc.effort=high', 'sets any field; the rest stays as it is'],
  ],
  'fiber show': [['svc fiber show say-hello --body-only', 'prints the body and nothing else']],
  'fiber ls': [['svc fiber ls --status active --svc', 'fibers that are to be worked on']],
  'fiber rm': [['svc fiber rm say-hello --dry-run', 'shows what would be removed']],
  'fiber nest': [['svc fiber nest say-hello --under work', 'files it elsewhere, with its children']],
  'fiber check': [['svc fiber check', 'names every document that cannot be used, and why']],
  search: [
    ['svc search loader fonts', 'fibers that have both words, the best first'],
    ['svc search "the loader" --status active', 'the words as they stand, in armed fibers'],
  ],
  install: [
    [
      'svc install say-hello --project-dir ~/my-project --agent claude-sonnet',
      'a worker takes it up in that folder',
    ],
    [
      'svc install say-hello --project-dir . --dry-run',
      'shows the change of the document and writes nothing',
    ],
  ],
  repeat: [
    [
      'svc repeat triage --project-dir . --schedule "0 9 * * 1-5"',
      'every weekday at nine, in this time zone',
    ],
  ],
  pin: [['svc pin reviewer --project-dir .', 'a role that `svc dispatch reviewer` starts']],
  uninstall: [['svc uninstall say-hello', 'nothing starts for it any more']],
  reshape: [['svc reshape triage --schedule "0 8 * * *"', 'another schedule, counted from now']],
  pause: [['svc pause triage', 'nothing starts for it until `svc resume triage`']],
  resume: [['svc resume triage', 'it may be taken up again']],
  accept: [['svc accept say-hello', 'the work is good; a role on a schedule goes on']],
  close: [['svc close say-hello --outcome "Not needed any more."', 'closes it with a line for the card']],
  reopen: [['svc reopen say-hello', 'a worker takes the closed fiber up again']],
  'set-agent': [['svc set-agent say-hello codex --effort high', 'its next worker is this agent']],
  'set-model': [['svc set-model say-hello sonnet', 'its next worker uses this model']],
  'set-outcome': [['svc set-outcome say-hello "Greets in two languages."', 'writes the line of the card']],
  ps: [['svc ps', 'the workers that run now']],
  attach: [['svc attach say-hello', 'shows the worker here; leave with the tmux prefix and d']],
  capture: [
    ['svc capture "The build warns about fonts" --project-dir .', 'a worker files the fiber and takes it up'],
  ],
  claim: [['svc claim say-hello', 'typed in the session of an agent']],
  dispatch: [
    [
      'svc dispatch reviewer --message "Look at the last commit."',
      'starts it now, with a word to the worker',
    ],
    ['svc dispatch say-hello --force', 'ends the worker that runs, and starts a fresh one'],
  ],
  log: [
    ['svc log say-hello', 'what happened to it, and what its sessions used'],
    ['svc log say-hello -n 200 --json', 'the newest 200 entries as JSON'],
  ],
  why: [['svc why say-hello', 'the first gate that holds it, and the mend']],
  kill: [['svc kill say-hello', 'stops its worker and holds the fiber']],
  handoff: [['svc handoff', 'typed by the worker as its last command']],
  'stop-all': [['svc stop-all --note "disk is full"', 'nothing new starts on this host']],
  'resume-all': [['svc resume-all', 'lets the brake go']],
  incident: [['svc incident', 'lists what is open']],
  'incident resume': [['svc incident resume --all', 'starts again what it cut off']],
  'incident dismiss': [['svc incident dismiss --all', 'takes them off the list and starts nothing']],
  host: [['svc host --json', 'the host id and where it comes from']],
  agents: [['svc agents', 'ids for --agent']],
  'agents effort': [['svc agents effort codex high', 'its effort where a fiber names none']],
  'resolve-dir': [['svc resolve-dir .', 'this folder as a fiber names it']],
  setup: [['svc setup claude --dry-run', 'says which skills and hooks it would install']],
  completion: [
    ['source <(svc completion bash)', 'in ~/.bashrc'],
    ['source <(svc completion zsh)', 'in ~/.zshrc, after compinit'],
    ['svc completion fish > ~/.config/fish/completions/svc.fish', 'once'],
  ],
  'hook event': [['svc hook event --harness claude', 'typed by the hooks that `svc setup` installs']],
  'hook commit': [['svc hook commit', 'typed by a Git hook after a commit']],
  'demo-agent': [['svc demo-agent <prompt.md', 'typed by `svc demo`']],
};

/** Why a command answers no JSON; every other one takes `--json`. */
export const NO_JSON: Readonly<Record<string, string>> = {
  demo: 'it runs in the terminal until it is told to stop',
  'daemon run': 'it runs until it is told to stop and writes a log',
  attach: 'it hands the terminal over to the worker',
  completion: 'it prints a script or words for a shell',
  'hook event': 'it prints nothing',
  'hook commit': 'it prints nothing',
  'demo-agent': 'it plays an agent in a terminal',
};
