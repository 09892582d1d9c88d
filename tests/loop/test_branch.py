"""`--branch`: what is committed, what is not, and that nobody's HEAD, index or files move."""

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from support.loop import BUG, CHECK, DONE, FIX, FIXED, Agent, Ran, edit, git, kotef, write
from support.openai_server import call, calls

from kotef.runs.branch import default_name
from kotef.sdd.ticket import read_ticket

GOAL = "make add add"
Run = Callable[..., Ran]


@pytest.fixture(autouse=True)
def somebody(monkeypatch: pytest.MonkeyPatch) -> None:
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "Ada")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "ada@example.org")


def fixing(run: Run, project: Path, *arguments: str, agent: Agent | None = None) -> Ran:
    return run(project, agent or Agent(coder=[FIX, DONE]), GOAL, "--check", CHECK, *arguments)


def test_verified_work_is_committed_and_nothing_of_the_user_moves(project: Path, run: Run) -> None:
    (project / "mine.txt").write_text("staged\n")
    git(project, "add", "mine.txt")
    before = [git(project, *asked) for asked in (["symbolic-ref", "HEAD"], ["rev-parse", "HEAD"], ["ls-files", "-s"])]
    ran = fixing(run, project, "--branch")
    assert ran.code == 0
    made = ran.result["branch"]
    assert (made["name"], made["refused"]) == ("kotef/make-add-add", "")
    assert made["base"] == ran.result["base"] == git(project, "rev-parse", "HEAD").strip()
    assert made["commit"] == git(project, "rev-parse", "kotef/make-add-add").strip()
    assert git(project, "diff", "--name-only", "HEAD", made["commit"]) == "calc.py\n", "mine.txt is the user's"
    assert git(project, "show", f"{made['commit']}:calc.py") == FIXED
    after = [git(project, *asked) for asked in (["symbolic-ref", "HEAD"], ["rev-parse", "HEAD"], ["ls-files", "-s"])]
    assert after == before
    assert (project / "calc.py").read_text() == FIXED, "and the work stays in the workspace"
    assert "branch: kotef/make-add-add" in ran.stdout
    assert "| branch | kotef/make-add-add |\n" in (ran.run_dir / "report.md").read_text()


def test_the_message_names_the_task_the_checks_the_run_and_its_model(project: Path, run: Run) -> None:
    ran = run(project, Agent(coder=[FIX, DONE]), f"{GOAL} {'x' * 99}\nand more", "--check", CHECK, "--branch=fix/add")
    subject, *rest = git(project, "log", "-1", "--format=%B", "fix/add").splitlines()
    assert subject.startswith("make add add xxx")
    assert len(subject) <= 72
    assert rest[0] == ""
    assert f"- {CHECK}" in rest
    trailers = git(project, "log", "-1", "--format=%(trailers:only,unfold)", "fix/add").splitlines()
    assert trailers[:2] == [f"Kotef-Run: {ran.result['runId']}", "Kotef-Model: scripted"]
    assert git(project, "log", "-1", "--format=%an <%ae>", "fix/add").strip() == "Ada <ada@example.org>"


def test_without_branch_nothing_is_committed(project: Path, run: Run) -> None:
    ran = fixing(run, project)
    assert ran.result["branch"] is None
    assert len(git(project, "for-each-ref").splitlines()) == 1


def test_a_run_that_is_not_verified_makes_no_branch(project: Path, run: Run) -> None:
    ran = fixing(run, project, "--branch", "--max-attempts", "1", agent=Agent(coder=[edit("calc.py", "-", "*"), DONE]))
    assert ran.code == 3
    assert ran.result["branch"] is None
    assert len(git(project, "for-each-ref").splitlines()) == 1


def test_edits_from_before_the_run_are_never_swept_in(project: Path, run: Run) -> None:
    (project / "calc.py").write_text("# my thoughts\n" + BUG)
    ran = fixing(run, project, "--branch")
    assert (ran.code, ran.result["done"]) == (0, True), "the work is verified all the same"
    assert ran.result["branch"]["commit"] == ""
    assert "calc.py: had uncommitted changes before the run" in ran.result["branch"]["refused"]
    assert "kotef: warning: no branch kotef/make-add-add" in ran.stderr
    assert len(git(project, "for-each-ref").splitlines()) == 1


def test_new_files_modes_and_deletions_are_committed_as_judged(project: Path, run: Run) -> None:
    (project / "old.txt").write_text("old\n")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "more")
    shell = calls(call("run_command", command="rm old.txt; printf '#!/bin/sh\\n' > go.sh; chmod +x go.sh"))
    ran = fixing(run, project, "--branch", agent=Agent(coder=[shell, FIX, DONE]))
    commit = ran.result["branch"]["commit"]
    assert git(project, "diff", "--name-status", "HEAD", commit).split() == [
        "M",
        "calc.py",
        "A",
        "go.sh",
        "D",
        "old.txt",
    ]
    assert git(project, "ls-tree", commit, "go.sh").startswith("100755")


def test_line_ends_are_committed_as_the_attributes_say(project: Path, run: Run) -> None:
    (project / ".gitattributes").write_text("*.py text eol=crlf\n")
    (project / "calc.py").write_bytes(BUG.replace("\n", "\r\n").encode())
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "ends")
    ran = fixing(run, project, "--branch", agent=Agent(coder=[edit("calc.py", "a - b", "a + b"), DONE]))
    made = ran.result["branch"]
    assert made["refused"] == ""
    assert git(project, "show", f"{made['commit']}:calc.py") == FIXED


def test_a_filter_is_a_program_and_is_not_run(project: Path, run: Run, tmp_path: Path) -> None:
    ran_it = tmp_path / "ran"
    (project / ".gitattributes").write_text("*.py filter=sneaky\n")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "filter")
    git(project, "config", "filter.sneaky.clean", f"touch {ran_it}; cat")
    ran = fixing(run, project, "--branch")
    assert "calc.py goes through the filter sneaky" in ran.result["branch"]["refused"]
    assert not ran_it.exists()


def test_head_that_moved_during_the_run_is_a_reason_to_refuse(project: Path, run: Run) -> None:
    def moving(_: object, number: int):
        if number == 0:
            git(project, "commit", "-q", "--allow-empty", "-m", "meanwhile")
        return [FIX, DONE][number]

    ran = fixing(run, project, "--branch", agent=Agent(coder=moving))  # type: ignore[arg-type]
    assert ran.code == 0
    assert "HEAD moved during the run" in ran.result["branch"]["refused"]


@pytest.mark.parametrize("line", ['KEY = "AKIAQ3EGRZ5WN7H2XK4V"', "-----BEGIN RSA PRIVATE KEY-----"])
def test_a_key_in_the_diff_is_a_reason_to_refuse_and_is_never_told(project: Path, run: Run, line: str) -> None:
    ran = fixing(run, project, "--branch", agent=Agent(coder=[write("more.py", f"one = 1\n# {line}\n"), FIX, DONE]))
    refused = ran.result["branch"]["refused"]
    assert refused.startswith("more.py:2 contains what looks like ")
    assert "AKIA" not in refused
    assert len(git(project, "for-each-ref").splitlines()) == 1


def test_the_value_of_a_known_secret_is_a_reason_to_refuse(project: Path, run: Run, monkeypatch) -> None:
    monkeypatch.setenv("SERVICE_TOKEN", "quiet-Horse-7731-staple")
    (project / "leak.sh").write_text("#!/bin/sh\necho 'quiet-Horse-7731-staple' > leaked.txt\n")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "leak")
    leak = calls(call("run_command", command="sh leak.sh"))
    ran = fixing(run, project, "--branch", agent=Agent(coder=[leak, FIX, DONE]))
    assert ran.result["branch"]["refused"] == "leaked.txt:1 contains what looks like the value of a secret"
    assert "quiet-Horse" not in ran.stdout + ran.stderr


def test_a_ticket_that_is_done_is_closed_on_the_branch_too(project: Path, run: Run) -> None:
    place = project / ".sdd" / "backlog" / "tickets" / "open"
    place.mkdir(parents=True)
    (place / "04-add-adds.md").write_text(f"# Ticket 04: Add adds\n\n## Tests\n\n```bash\n{CHECK}\n```\n")
    git(project, "add", "-A")
    git(project, "commit", "-q", "-m", "ticket")
    ran = run(project, Agent(coder=[FIX, DONE]), "--ticket", "04", "--branch")
    made = ran.result["branch"]
    assert made["name"] == "kotef/add-adds"
    changed = git(project, "diff", "--no-renames", "--name-status", "HEAD", made["commit"]).splitlines()
    tickets = ".sdd/backlog/tickets"
    assert changed == [f"A\t{tickets}/closed/04-add-adds.md", f"D\t{tickets}/open/04-add-adds.md", "M\tcalc.py"]


def test_a_workspace_below_the_top_commits_its_own_folder(tmp_path: Path, run: Run, project: Path) -> None:
    top = tmp_path / "top"
    top.mkdir()
    (top / "other.txt").write_text("other\n")
    (top / "part").mkdir()
    for name in ("calc.py", "test_calc.py", ".gitignore"):
        (top / "part" / name).write_bytes((project / name).read_bytes())
    git(top, "init", "-q")
    git(top, "add", "-A")
    git(top, "commit", "-q", "-m", "start")
    ran = fixing(run, top / "part", "--branch=b")
    assert git(top, "diff", "--name-only", "HEAD", "b") == "part/calc.py\n"
    assert ran.result["branch"]["refused"] == ""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--branch=two words"], "not a valid branch name"),
        (["--branch=@"], "not a valid branch name"),
        (["--branch=@{-1}"], "not a valid branch name"),
        (["--branch=a..b"], "not a valid branch name"),
        (["--branch=refs/heads/x"], "not a valid branch name"),
        (["--branch=one\ntwo"], "--branch one two: not a valid branch name"),
        (["--branch=-x"], "--branch=-x: not a valid branch name"),
        (["--branch=--trust"], "--branch=--trust: not a valid branch name"),
        (["--branch=taken"], "the branch taken already exists"),
        (["--branch=taken/below"], "the branch taken already exists"),
        (["--commit-hooks"], "--commit-hooks: only with --branch"),
    ],
)
def test_what_cannot_be_committed_to_is_told_before_the_run(
    project: Path, run: Run, arguments: list[str], said: str
) -> None:
    git(project, "checkout", "-q", "-b", "taken")
    git(project, "checkout", "-q", "-")
    ran = fixing(run, project, *arguments, agent=Agent())
    assert ran.code == 2
    assert said in ran.stderr
    assert not (project / ".sdd").exists(), "no run was made"


@pytest.mark.examples(1)
@pytest.mark.parametrize("arguments", [["--branch", GOAL], ["--branch", "fix-add"]])
def test_a_name_is_never_taken_from_the_next_word(project: Path, run: Run, arguments: list[str]) -> None:
    ran = run(project, Agent(coder=[FIX, DONE]), *arguments, "--check", CHECK)
    assert (ran.code, ran.result["goal"]) == (0, arguments[-1]), ran.stderr
    assert ran.result["branch"]["name"].startswith("kotef/")
    again = fixing(run, project, "--branch", "fix-add", agent=Agent())
    assert (again.code, again.stderr.count("\n")) == (2, 1)
    assert "extra argument (fix-add): give the branch name as --branch=NAME" in again.stderr


def test_without_a_repository_or_a_commit_there_is_nothing_to_branch_from(tmp_path: Path, run: Run) -> None:
    (tmp_path / "calc.py").write_text(BUG)
    assert "not a git repository" in fixing(run, tmp_path, "--branch", agent=Agent()).stderr
    git(tmp_path, "init", "-q")
    assert "no commit to start from" in fixing(run, tmp_path, "--branch", agent=Agent()).stderr


def test_git_that_knows_nobody_is_told_before_the_run(project: Path, run: Run, monkeypatch, tmp_path: Path) -> None:
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_NAME", "GIT_COMMITTER_EMAIL", "EMAIL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "nobody"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "nobody"))
    for name in ("user.name", "user.email"):
        os.system(f"git -C {project} config --unset {name}")
    ran = fixing(run, project, "--branch", agent=Agent())
    assert ran.code == 2
    assert "git does not know the name of the author (git config --global user.name" in ran.stderr


def hook(project: Path, name: str, text: str) -> None:
    file = project / ".git" / "hooks" / name
    file.parent.mkdir(exist_ok=True)
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)


def test_hooks_are_run_only_when_asked_for(project: Path, run: Run, tmp_path: Path) -> None:
    for name in ("pre-commit", "commit-msg", "reference-transaction", "post-commit"):
        hook(project, name, f"touch {tmp_path}/{name}")
    assert fixing(run, project, "--branch=one").result["branch"]["commit"]
    assert not (tmp_path / "pre-commit").exists()
    assert not (tmp_path / "reference-transaction").exists()
    (project / "calc.py").write_text(BUG)
    assert fixing(run, project, "--branch=two", "--commit-hooks").result["branch"]["commit"]
    assert (tmp_path / "pre-commit").exists()
    assert (tmp_path / "commit-msg").exists()
    assert not (tmp_path / "reference-transaction").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("echo no todo left >&2; exit 1", "the hook pre-commit refused it: no todo left"),
        ("echo x > added; git add added", "the pre-commit hook changed what would be committed"),
    ],
)
def test_a_hook_that_fails_or_changes_the_commit_ends_it(project: Path, run: Run, text: str, said: str) -> None:
    hook(project, "pre-commit", text)
    made = fixing(run, project, "--branch=b", "--commit-hooks").result["branch"]
    assert made["commit"] == ""
    assert said in made["refused"]


def test_a_wanted_signature_is_made_by_the_users_program_never_by_the_repositorys(
    project: Path, run: Run, monkeypatch, tmp_path: Path
) -> None:
    signer = tmp_path / "signer"
    signer.write_text(
        "#!/bin/sh\ncat > /dev/null\nprintf '[GNUPG:] SIG_CREATED \\n' >&2\n"
        "printf -- '-----BEGIN PGP SIGNATURE-----\\n\\nsigned\\n-----END PGP SIGNATURE-----\\n'\n"
    )
    signer.chmod(0o755)
    config = tmp_path / "gitconfig"
    config.write_text(f"[commit]\n\tgpgsign = true\n[gpg]\n\tprogram = {signer}\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / ".gitconfig").write_bytes(config.read_bytes())
    git(project, "config", "gpg.program", f"touch {tmp_path}/stolen; false")
    made = fixing(run, project, "--branch=b").result["branch"]
    assert made["refused"] == ""
    assert "gpgsig -----BEGIN PGP SIGNATURE-----" in git(project, "cat-file", "commit", made["commit"])
    assert not (tmp_path / "stolen").exists()
    signer.write_text("#!/bin/sh\nexit 1\n")
    (project / "calc.py").write_text(BUG)
    made = fixing(run, project, "--branch=c").result["branch"]
    assert made["commit"] == "", "no commit is made without the signature that is wanted"
    assert "it cannot be signed, as commit.gpgsign wants" in made["refused"]


def test_a_resume_commits_on_the_branch_that_was_asked_for(project: Path, run: Run) -> None:
    wrong = Agent(coder=[edit("calc.py", "-", "*"), DONE])
    first = fixing(run, project, "--branch=later", "--max-attempts", "1", agent=wrong)
    assert first.code == 3
    right = Agent(coder=[edit("calc.py", "a - b", "a + b"), DONE])
    ran = run(project, right, "--last", "--max-attempts", "2", command="resume")
    assert ran.code == 0
    assert git(project, "show", "later:calc.py") == FIXED


@pytest.mark.parametrize(
    ("path", "goal", "name"),
    [
        ("x/07-fix-the-cart.md", "", "kotef/fix-the-cart"),
        ("", "Make `add()` add!\nmore", "kotef/make-add-add"),
        ("", "", "kotef/R"),
    ],
)
def test_the_default_name_tells_what_it_is_for(path: str, goal: str, name: str) -> None:
    assert default_name(read_ticket(path, "# T") if path else None, goal, "R") == name


def test_the_body_of_a_pull_request_is_written_however_the_run_ends(project: Path, run: Run, tmp_path: Path) -> None:
    body = tmp_path / "body.md"
    fixing(
        run,
        project,
        "--max-attempts",
        "1",
        "--pr-body",
        str(body),
        agent=Agent(coder=[edit("calc.py", "-", "*"), DONE]),
    )
    assert "> This is not done: `bounded_attempts_exceeded`" in body.read_text()
    fixing(run, project, "--pr-body", str(body))
    said = body.read_text()
    assert said.startswith("**make add add**\n")
    assert "Red before, green now: `test_calc.Add.test_add`" in said or "Files changed: `calc.py`" in said
    assert f"| `{CHECK}` | yes | 0 | 2 |" in said
    assert "- [ ] The diff does what the task asks for" in said
    assert "This is not done" not in said


def test_without_a_model_the_coder_is_named_in_its_place(project: Path) -> None:
    program = project.parent / "agent.py"
    program.write_text("from pathlib import Path\nPath('calc.py').write_text('def add(a, b):\\n    return a + b\\n')\n")
    coder = f"python {program} {{brief}}"
    ran = kotef(project, "run", GOAL, "--check", CHECK, "--coder", coder, "--branch=fix/add")
    assert ran.code == 0, ran.stderr
    trailers = git(project, "log", "-1", "--format=%(trailers:only,unfold)", "fix/add").splitlines()
    assert trailers[:2] == [f"Kotef-Run: {ran.result['runId']}", f"Kotef-Coder: {coder}"]


def test_a_body_for_stdout_is_refused_and_writes_no_file_of_that_name(project: Path) -> None:
    ran = kotef(project, "run", GOAL, "--check", CHECK, "--pr-body", "-")
    assert (ran.code, "--pr-body -: standard output already shows the run (name a file)" in ran.stderr) == (2, True)


def test_a_body_that_cannot_be_written_is_told_before_the_run(project: Path) -> None:
    ran = kotef(project, "run", GOAL, "--check", CHECK, "--pr-body", "/no/such/place/body.md")
    assert (ran.code, "the folder /no/such/place does not exist" in ran.stderr) == (2, True)


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_what_is_no_plain_file_is_not_replaced_by_a_body_or_a_report(project: Path, tmp_path: Path, kind: str) -> None:
    place = tmp_path / kind
    if kind == "link":
        place.symlink_to("/dev/null")
    else:
        os.mkfifo(place)
    for command in (["run", GOAL, "--check", CHECK, "--pr-body", str(place)], ["report", "--output", str(place)]):
        ran = kotef(project, *command)
        assert (ran.code, "not a regular file, and it would be replaced (name a plain file)" in ran.stderr) == (2, True)
    assert place.is_symlink() or place.is_fifo()


def test_a_file_that_the_checks_write_as_well_is_committed_where_the_coder_changed_it(project: Path, run: Run) -> None:
    """Left out, the branch held a tree that nobody had judged, and was red by the check that had proved the work."""
    for name in ("pins.txt", "times.txt"):
        (project / name).write_text("one\n")
        git(project, "add", name)
    git(project, "commit", "-qm", "pins")
    check = f"for file in pins times new; do echo checked >> $file.txt; done; grep -q two pins.txt && {CHECK}"
    pin = calls(call("run_command", command="echo two >> pins.txt"))
    ran = run(project, Agent(coder=[pin, FIX, DONE]), GOAL, "--check", check, "--branch=fix/add")
    assert ran.code == 0, ran.stdout
    assert git(project, "diff", "--name-only", "HEAD", "fix/add").split() == ["calc.py", "pins.txt"]
    assert "two\n" in git(project, "show", "fix/add:pins.txt")
    assert ran.result["changed"] == ["calc.py", "pins.txt"]
