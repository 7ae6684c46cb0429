"""What a user meets: one line for a mistake, nothing else, and nothing left of it in later reports."""

import pytest

from tests.command_lines import ROOT, run_lines
from tests.config.conftest import PACKAGE, Own

ALLOWED = f"+allow_targets=[{PACKAGE}]"
MISTAKES = [
    (["selector=broken"], "conf/selector/broken.yaml, line 2, column 2: expected ',' or ']'"),
    (["variant=full"], "variants are arms now"),
    (["hydra.sweep.subdir=.."], "output_root/run_name/CELL"),
    (["hydra.sweep.dir=elsewhere"], "output_root/run_name/CELL"),
    (["run_name=-x"], "as an option"),
    (["bugdet.num_rounds=3", "arm=base,me_icpo"], "Could not override 'bugdet.num_rounds'"),
    (["selector=weighed"], f"all of its package, ++allow_targets=['{PACKAGE}']"),
    (["selector=weighed", "benchmark=arith_l1,arith_l1", ALLOWED], "they are the same"),
]
HIDDEN = ["selector/entropy", "method/foreign"]  # files named like one of the project's


@pytest.fixture(scope="module")
def users(tmp_path_factory):
    """What a user's command lines leave, by name: each has a folder with a package and files of its own."""
    lines = {}

    def add(name, *overrides, files):
        own = Own(tmp_path_factory.mktemp("own"))
        for file, text in files.items():
            own.write(f"conf/{file}.yaml", text)
        quick = ["--config-dir=conf", "+exp=quickstart", "benchmark=arith_l1", "tracking=none"]
        lines[name] = (own.folder, [*quick, "method=me_icpo", *overrides])
        return own.folder

    broken = {
        "selector/broken": "a: [1\nb: 2\n",
        "method/bare": "_target_: icpo.methods.Direct\nname: bare\nprompt: plain\n",
    }
    for i, (overrides, _) in enumerate(MISTAKES):
        add(i, *overrides, files=broken)
    for name in HIDDEN:
        add(name, "dry_run=true", files={name: "a: 1\n"})
    left = {"selector/.ipynb_checkpoints/entropy": "a: 1\n", ".saved/selector/entropy": "a: 1\n"}
    folder = add("editors", "dry_run=true", files=left)
    (folder / "conf/selector/.#entropy.yaml").symlink_to("somebody@somewhere.1234")
    add("help", "--help", files={})
    fitted = {"selector/fitted": "_target_: icpo.selectors.Entropy\nname: f\nlargest: ${is_largest}\n"}
    add("own key", "dry_run=true", "+is_largest=true", files=fitted)
    known = ("+accept_code_change=true", "++seeds=[0,1]", "+engine.options.x=1", "engine=vllm")
    add("known keys", "dry_run=true", "backbone.model_id=some/model", *known, files={})
    add(
        "a choice's key",
        "dry_run=true",
        "benchmark=questions_file",
        "+question=1+1",
        "+question_file=null",
        files={},
    )
    weights = ("backbone.dtype=float32", "engine.dtype=backbone", "backbone.tensor_parallel=1")
    add("weights", "dry_run=true", *weights, files={})
    server = ("engine=openai", "engine.api_key_env=null", "backbone.dtype=auto", "backbone.tensor_parallel=2")
    add("server", "dry_run=true", "backbone.model_id=some/model", *server, files={})
    vllm = ("engine=vllm", "backbone.dtype=float16", "backbone.tensor_parallel=2")
    add("vllm", "dry_run=true", "backbone.model_id=some/model", *vllm, files={})
    done = run_lines(list(lines.values()))
    return {name: (lines[name][0], one) for name, one in zip(lines, done, strict=True)}


@pytest.mark.parametrize("number", range(len(MISTAKES)), ids=lambda n: " ".join(MISTAKES[n][0]))
def test_a_mistake_is_one_line_and_makes_no_report(users, number):
    folder, done = users[number]
    assert done.returncode == 2
    [line] = done.lines
    assert line.startswith("icpo: ") and MISTAKES[number][1] in line
    assert not list(folder.glob("outputs/*/report"))


@pytest.mark.parametrize("name", HIDDEN)
def test_a_file_named_like_one_of_the_projects_is_refused(users, name):
    folder, done = users[name]
    file = folder / f"conf/{name}.yaml"
    assert f"icpo: {file} would not be read: conf/ has a file of that name." in done.stderr
    assert done.returncode == 2


def test_what_editors_leave_is_passed_over(users):
    _, done = users["editors"]
    assert done.returncode == 0, done.stderr
    assert "at most" in done.stdout


@pytest.mark.parametrize("name", ["own key", "known keys", "a choice's key"])
def test_an_added_key_that_a_run_or_a_file_of_ones_own_reads_is_taken(users, name):
    _, done = users[name]
    assert done.returncode == 0, done.stderr
    assert "at most" in done.stdout and "Nothing reads" not in done.stderr


@pytest.mark.parametrize("name", ["weights", "server", "vllm"])
def test_what_an_engine_uses_of_the_weights_may_be_said(users, name):
    _, done = users[name]
    assert done.returncode == 0, done.stderr


def test_help_tells_of_files_and_classes_of_ones_own(users):
    _, done = users["help"]
    assert "--config-dir FOLDER" in done.stdout and "+allow_targets=[PACKAGE]" in done.stdout


LAUNCHERS = [
    ("hydra.launcher._target_=os.system", "hydra.launcher._target_ is 'os.system'"),
    ("hydra.sweeper._target_=os.system", "hydra.sweeper._target_ is 'os.system'"),
    ("hydra/launcher=slurm", "no sbatch on the PATH"),
]


@pytest.fixture(scope="module")
def launched(tmp_path_factory):
    """What command lines with a launcher that cannot be leave, where no program is on the PATH."""
    outputs = tmp_path_factory.mktemp("launched")
    lines = [(ROOT, ["+exp=quickstart", override, f"output_root={outputs}"]) for override, _ in LAUNCHERS]
    return run_lines(lines, PATH="/nowhere")


@pytest.mark.parametrize("number", range(len(LAUNCHERS)), ids=lambda n: LAUNCHERS[n][0])
def test_a_launcher_that_cannot_be_is_one_line(launched, number):
    done = launched[number]
    assert done.returncode == 1
    assert LAUNCHERS[number][1] in done.stderr and "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
