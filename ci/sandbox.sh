#!/usr/bin/env bash
# Have bubblewrap at hand, which confines what the run starts; nothing is done where KOTEF_SANDBOX wants none of it.
set -euo pipefail

case ${KOTEF_SANDBOX:-auto} in
  off | landlock) exit 0 ;;
esac

confines() { bwrap --ro-bind / / --unshare-user --unshare-net true 2>/dev/null; }
as_root() { if [ "$(id -u)" = 0 ]; then "$@"; else sudo -n "$@"; fi; }

if ! command -v bwrap >/dev/null; then
  if command -v apt-get >/dev/null && { as_root apt-get update -qq && as_root apt-get install -y -qq bubblewrap; } >/dev/null; then
    echo "bubblewrap was installed"
  else
    echo "bubblewrap cannot be installed here; kotef tells what it can do without it"
    exit 0
  fi
fi
# Ubuntu forbids users namespaces of their own; a runner that lives for one job may allow them
if ! confines && [ -e /proc/sys/kernel/apparmor_restrict_unprivileged_userns ]; then
  as_root sysctl -q -w kernel.apparmor_restrict_unprivileged_userns=0 || true
fi
if confines; then echo "bubblewrap confines commands here"; else echo "bubblewrap cannot confine commands here"; fi
