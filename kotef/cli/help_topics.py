"""Help topics for all commands: environment variables, files, and exit statuses."""

from typing import Final

ENVIRONMENT: Final = """\
Environment variables. An option overrides its variable, and a variable overrides the configuration.

The model
  OPENAI_BASE_URL        endpoint; a local server needs nothing else (--base-url)
  OPENAI_API_KEY         its key; without a base URL, the key of OpenAI
  KOTEF_MODEL            model of the coder (--model)
  KOTEF_PLANNER_MODEL    model of the planner (--planner-model)
  KOTEF_FALLBACK_MODEL   model that takes over (--fallback-model)

The run
  KOTEF_CODER            who edits, in order (--coder)
  KOTEF_SANDBOX          sandbox for commands (--sandbox)
  KOTEF_PROBES           how thoroughly to test that passing checks can fail: off, fast, full
  KOTEF_EXTENSIONS       extensions that are active, by name; all, none (default: all, and none in CI)
  KOTEF_DISABLE_EXTENSIONS
                         extensions that are switched off, by name
  KOTEF_TOOLS            ceiling of the model's tools: core, standard or all

The screen
  NO_COLOR               set: no colours
  CI                     set: no live view, and a run needs a sandbox or an explicit `--sandbox off`

  VISUAL, EDITOR         editor for the plan of `kotef run -i`
  BROWSER                browser for --open

Folders
  XDG_CONFIG_HOME        config.toml, agents.md and skills are in kotef/ there (default ~/.config)
  XDG_STATE_HOME         snapshots and baselines are in kotef/ there (default ~/.local/state)

The environment of the job
  GITHUB_EVENT_NAME, GITHUB_BASE_REF, CI_MERGE_REQUEST_TARGET_BRANCH_NAME
                         in a job for a pull request, the repository's settings are read from the base branch
  GITHUB_ACTIONS, GITHUB_OUTPUT, GITHUB_STEP_SUMMARY, GITHUB_WORKSPACE
                         set in a job of GitHub Actions: annotations, outputs and a summary (--github)
  LANGSMITH_TRACING, LANGSMITH_TRACING_V2, LANGCHAIN_TRACING, LANGCHAIN_TRACING_V2
                         true: prompts and code are sent to LangSmith, and a run says so
  OTEL_TRACES_EXPORTER, OTEL_EXPORTER_OTLP_ENDPOINT
                         set: traces of a run go there, without content; needs the extra `otel`
  HTTPS_PROXY, NO_PROXY  are used for endpoints that are not local

Commands of the project do not get variables that look like secrets; see docs/security.md.
"""
FILES: Final = """\
Files, from the top of the workspace, and what they are for.

You write
  .sdd/project.md, architect.md, best_practices.md
                         what the project is; the checks under "Quality gates" of architect.md judge
  .sdd/backlog/tickets/open/NN-slug.md
                         a task; it moves to closed/ once it is proved
  .sdd/kotef.toml        checks, [setup], [env], [sandbox], model, coder; all but the checks needs trust
  pyproject.toml         [tool.kotef] checks, where .sdd/kotef.toml has none
  .sdd/agents.md         roles for the models
  .sdd/skills, .agents/skills
                         skills a model may use
  .sdd/memory/           notes from run to run; models write them if the folder exists
  .sdd/mcp.json, .mcp.json
                         MCP servers, for --mcp
  AGENTS.md              what every agent should know here
  ~/.config/kotef/config.toml
                         model, base_url, fallback_model, [models], [endpoints], [prices], [sandbox], [trusted]

kotef writes
  .sdd/issues.md         one entry for each run that was not verified; `kotef issues`
  .sdd/runs/RUN/         result.json, report.html, report.md, events.jsonl, record.jsonl, logs/, visit-N.patch;
                         `kotef runs` lists them, `kotef report` shows one
                         a record: kotef shows it, but does not act on it
  ~/.local/state/kotef/WORKSPACE/
                         private folders (mode 0700); `kotef runs prune` deletes what no run needs
    runs/RUN/            the state of a run: task, checkpoints, what was put back; `kotef runs export` packs one
    store.git/           snapshots: tracked and untracked files as they were
    kept/TREE/           copies of ignored files from before a run, `.env` and local keys too; the newest five
    baselines/           results of checks on known trees, for a week
    sandbox/             caches of package managers; homes of commands while kotef runs
"""
STATUSES: Final = """\
Exit statuses of `kotef run` and `kotef resume`; other commands use a subset.

  0         verified; or unverified, only with --allow-unverified
  1         crashed: a defect in kotef itself
  2         usage or configuration error, or the workspace is busy; nothing was run
  3         bounded_attempts_exceeded or stuck (`kotef check`: red)
  4         budget_exceeded: tokens, calls, commands, money or time
  5         environment_broken: no check found, checks cannot run, no sandbox in CI, disk full
  6         blocked: a decision that only a person can make
  7         model_unavailable
  129       interrupted by SIGHUP: its terminal was closed
  130, 143  interrupted by SIGINT, SIGTERM; 130 also if a person quits at a question
  137       `kotef watch` only: the run was killed

With --json an error is one object with error, reason and exitCode. A run that began and was not verified has one entry
in .sdd/issues.md; that of a run killed by SIGKILL is written by the next run. `kotef resume` lists the runs that can
continue.
"""
TOPICS: Final = {"environment": ENVIRONMENT, "files": FILES, "exit-statuses": STATUSES}
