#!/bin/sh
# Works as long as it is left alone; takes all the memory it can get once its fiber's file `balloon-<fiber>` is there.
if [ "$1" = --version ]; then
  echo '2.1.0 (an agent of the tests)'
  exit 0
fi
printf '{"event":"start","uid":"%s","launch":"%s","pid":%s,"start_time":"%s"}\n' \
  "$SVC_FIBER_UID" "${SVC_RUN_DIR##*/}" $$ "$(cut -d ' ' -f 22 /proc/$$/stat)" >>"$WITNESS"
while [ ! -e "balloon-$SVC_FIBER" ]; do sleep 0.3; done
exec tail /dev/zero
