import { chmodSync } from 'node:fs';
import type { TestHome } from './test-home.ts';

/**
 * A `systemctl --user` of this home that really runs what its units say, without starting it again when it ends. It is put
 * before every other one on the PATH of the home.
 */
export function runUserManager(home: TestHome): void {
  const script = `#!/bin/sh
units='${home.path('.config/systemd/user')}'
state='${home.path('user-manager')}'
mkdir -p "$state"
unit="\${3%.service}"
stop() {
  [ -f "$state/$1.pid" ] || return 0
  kill -9 "$(cat "$state/$1.pid")" 2>/dev/null
  rm -f "$state/$1.pid"
}
case "$2" in
  show-environment | daemon-reload | enable) ;;
  show)
    unit="\${4%.service}"
    if kill -0 "$(cat "$state/$unit.pid" 2>/dev/null)" 2>/dev/null; then echo ActiveState=active; else echo ActiveState=inactive; fi
    ;;
  restart)
    stop "$unit"
    eval "$(sed -n 's/^ExecStartPre=//p' "$units/$unit.service")"
    eval "exec setsid $(sed -n 's/^ExecStart=//p' "$units/$unit.service")" </dev/null >>"$state/$unit.log" 2>&1 &
    echo $! > "$state/$unit.pid"
    ;;
  disable)
    stop "\${4%.service}"
    ;;
  *)
    echo "it does not know $*" >&2
    exit 1
    ;;
esac
`;
  chmodSync(home.write('bin/systemctl', script), 0o755);
}
