#!/usr/bin/env bash
# Install this kotef with the dependencies of requirements.txt, or use the one that KOTEF_COMMAND names.
# Tells the later steps where it is: the output `kotef`, or a line on stdout where there is no file for outputs.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

if [ -n "${KOTEF_COMMAND:-}" ]; then
  kotef=$(command -v -- "$KOTEF_COMMAND") || {
    echo "::error title=kotef::the command input names nothing that can be run here"
    exit 2
  }
else
  place=${RUNNER_TEMP:-/tmp}/kotef-venv
  "${KOTEF_PYTHON:-python3}" -m venv "$place"
  # hashes hold every dependency to what was pinned; the build takes its tools from the same list
  "$place/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r "$here/requirements.txt"
  "$place/bin/pip" install --quiet --disable-pip-version-check --no-deps --no-build-isolation "$here/.."
  kotef=$place/bin/kotef
fi
"$kotef" --version
echo "kotef=$kotef" >>"${GITHUB_OUTPUT:-/dev/stdout}"
