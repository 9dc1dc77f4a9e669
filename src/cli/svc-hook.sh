#!/bin/sh
# Leaves what an agent program tells by a hook for the daemon: one file for each event, in the folder
# `hook-spool` of the data folder. An agent waits for it before and after each tool, so it starts one
# program, `cat`, and Node only while a message waits for the session as context.
#
#   sh svc-hook.sh <harness> [<node>] < event
#
# It knows only what POSIX says of sh, prints nothing but context, and always ends with 0.
harness=$1 node=${2-}
exec 2>/dev/null
LC_ALL=C
umask 077
# As many as this may lie in the folder; what comes on top is dropped, and counted by its size in `dropped`.
most_files=4096
# From so many on their sizes are added up too.
few_files=32
most_kib=262144
# Blocks of 512 bytes, in some shells of 1,024, above which an event is dropped.
ulimit -f 16640

case ${SVC_DATA_DIR-} in
*[![:space:]]*) data=$SVC_DATA_DIR ;;
*)
  [ -n "${HOME-}" ] || exit 0
  data=$HOME/.svc
  ;;
esac
spool=$data/hook-spool
[ -d "$spool" ] || mkdir -p "$spool"

give_up() {
  printf . >>"$spool/dropped"
  exit 0
}

# The first lines of a file tell where the hook runs; the event follows.
leave() {
  printf '%s\n' 1 "$harness" "${SVC_RUN_DIR-}" "${TMUX-}" "${TMUX_PANE-}" && "$@"
}

set -- "$spool"/*
if [ $# -gt $few_files ]; then
  [ $# -lt $most_files ] || give_up
  # Its first word is the size.
  # shellcheck disable=SC2046
  set -- $(du -sk "$spool")
  [ "${1:-0}" -lt $most_kib ] || give_up
fi

count=0
while [ -e "$spool/$$.$count" ]; do count=$((count + 1)); done
file=$spool/$$.$count
# A file that is there is never written.
set -C

waiting=
if [ -n "$node" ]; then
  for mailbox in "$data/messages/context/$harness"-*; do
    [ ! -d "$mailbox" ] || waiting=yes
  done
fi
if [ -z "$waiting" ]; then
  leave cat >"$file" || {
    rm -f "$file"
    give_up
  }
  exit 0
fi

event=$(head -c 8388609)
leave printf '%s\n' "$event" >"$file" || {
  rm -f "$file"
  printf . >>"$spool/dropped"
}
case $event in
'{"session_id":"'*)
  session=${event#'{"session_id":"'}
  session=${session%%'"'*}
  [ -d "$data/messages/context/$harness-$session" ] || exit 0
  ;;
esac
printf '%s\n' "$event" | "$node" "${0%/*}/svc.cjs" hook context --harness "$harness"
exit 0
