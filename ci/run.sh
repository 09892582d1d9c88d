#!/usr/bin/env bash
# Run kotef on what the inputs ask for, which arrive as IN_* in the environment and are never part of a script.
# Ends with 0 whatever came of it: the status is an output, so that the artifact is uploaded before the job fails.
set -uo pipefail

out=${KOTEF_OUT:-${RUNNER_TEMP:-/tmp}/kotef}
mkdir -p "$out"
rm -f "$out"/{pr-body.md,report.sarif,junit.xml,report.md} # an earlier run of the job may have left its own
arguments=(run --github "--pr-body=$out/pr-body.md")

with() { if [ -n "$2" ]; then arguments+=("$1=$2"); fi; }
with --root "${IN_ROOT:-}"
with --ticket "${IN_TICKET:-}"
with --model "${IN_MODEL:-}"
with --base-url "${IN_BASE_URL:-}"
with --max-attempts "${IN_MAX_ATTEMPTS:-}"
with --profile "${IN_PROFILE:-}"
with --sandbox "${IN_SANDBOX:-}"
with --max-time "${IN_MAX_TIME:-}"
with --max-cost "${IN_MAX_COST:-}"
with --coder "${IN_CODER:-}"
case ${IN_BRANCH:-} in
  '' | none) ;;
  auto) arguments+=(--branch) ;;
  *) arguments+=("--branch=$IN_BRANCH") ;;
esac
while IFS= read -r check; do
  if [ -n "${check//[[:space:]]/}" ]; then arguments+=("--check=$check"); fi
done <<<"${IN_CHECKS:-}"
if [ -n "${IN_GOAL:-}" ]; then arguments+=(-- "$IN_GOAL"); fi

output() { if [ -n "${GITHUB_OUTPUT:-}" ]; then printf '%s=%s\n' "$1" "$2" >>"$GITHUB_OUTPUT"; fi; }
told() { # the value of one output that kotef has written
  if [ -n "${GITHUB_OUTPUT:-}" ]; then awk -v name="$1" 'index($0, name "<<") == 1 { getline; value = $0 } END { print value }' "$GITHUB_OUTPUT"; fi
}

# a commit has an author: the job's own, unless somebody else is configured
if [ -n "${GITHUB_ACTIONS:-}" ] && ! git config user.email >/dev/null; then
  name="github-actions[bot]" email="41898282+github-actions[bot]@users.noreply.github.com"
  export GIT_AUTHOR_NAME=${GIT_AUTHOR_NAME:-$name} GIT_AUTHOR_EMAIL=${GIT_AUTHOR_EMAIL:-$email}
  export GIT_COMMITTER_NAME=${GIT_COMMITTER_NAME:-$name} GIT_COMMITTER_EMAIL=${GIT_COMMITTER_EMAIL:-$email}
fi

# a job that is cancelled tells this shell alone; the run is told, too, and ends resumable, with its entry
"${KOTEF:-kotef}" "${arguments[@]}" </dev/null &
pid=$!
trap 'kill -TERM "$pid" 2>/dev/null' INT TERM
wait "$pid"
code=$?
while kill -0 "$pid" 2>/dev/null; do
  wait "$pid"
  code=$?
done
output exit-code "$code"

run=$(told run-id)
if [ -n "$run" ]; then
  output run-dir "$(dirname "$(told result)")"
  for form in sarif junit md; do
    "${KOTEF:-kotef}" report "$run" ${IN_ROOT:+"--root=$IN_ROOT"} --format "$form" --output "$out/report.$form" || true
  done
  mv "$out/report.junit" "$out/junit.xml" 2>/dev/null || true
fi
output files "$out"
exit 0
