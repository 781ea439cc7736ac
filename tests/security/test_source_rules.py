"""What the code itself must not do, whoever writes it: run what it reads, or let it reach a shell."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDERS = ("envace_sdk", "mcp_servers", "integrations", "training")
FILES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
UNPICKLING = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "jsonpickle"}
BETWEEN_OWN_PROCESSES = "envace_sdk/world/mine/apart.py"
"""Hands work to a child of its own, through files without a name: nobody else can write what is unpickled."""
EVALUATING = {"eval", "exec", "compile", "__import__"}
SHELLS = {
    "os.system",
    "os.popen",
    "subprocess.getoutput",
    "subprocess.getstatusoutput",
    "asyncio.create_subprocess_shell",
    "create_subprocess_shell",
    "pty.spawn",
}
LOADING_CODE = {"torch.load", "numpy.load", "np.load", "pandas.read_pickle", "torch.hub.load", "yaml.unsafe_load"}
YAML_LOADERS = {"yaml.load", "yaml.load_all", "yaml.full_load", "yaml.full_load_all"}


def is_safe(given):
    """Of weights: safetensors, or GGUF, in which there is nothing to run either."""
    kept = given.get("use_safetensors")
    return (isinstance(kept, ast.Constant) and kept.value is True) or ast.unparse(given.get(None, ast.Pass())) == "more"


def broken_rules(source):
    """Each as a line."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = {alias.name.partition(".")[0] for alias in node.names} if isinstance(node, ast.Import) else set()
            names |= {(node.module or "").partition(".")[0]} if isinstance(node, ast.ImportFrom) else set()
            if named := names & UNPICKLING:
                yield f"{node.lineno}: imports {', '.join(named)}"
        if not isinstance(node, ast.Call):
            continue
        called = ast.unparse(node.func)
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        if called in EVALUATING | SHELLS | LOADING_CODE:
            yield f"{node.lineno}: calls {called}"
        if called in YAML_LOADERS and ast.unparse(given.get("Loader", ast.Constant(None))) != "loader":
            yield f"{node.lineno}: {called} with a loader of its own"
        for name in ("shell", "trust_remote_code", "allow_pickle"):
            value = given.get(name)
            if value is not None and not (isinstance(value, ast.Constant) and value.value is False):
                yield f"{node.lineno}: {called} with {name}"
        safe = given.get("weights_only")
        if safe is not None and not (isinstance(safe, ast.Constant) and safe.value is True):
            yield f"{node.lineno}: {called} with weights_only"
        if called.startswith("AutoModel") and called.endswith(".from_pretrained") and not is_safe(given):
            yield f"{node.lineno}: {called} without use_safetensors=True"


def test_there_is_code_to_look_at():
    assert len(FILES) > 500


@pytest.mark.parametrize("folder", FOLDERS)
def test_nothing_is_unpickled_evaluated_or_given_to_a_shell(folder):
    found = [
        f"{path.relative_to(ROOT)}:{rule}"
        for path in FILES
        if path.is_relative_to(ROOT / folder)
        for rule in broken_rules(path.read_text())
        if (path.relative_to(ROOT).as_posix(), rule.partition(": ")[2]) != (BETWEEN_OWN_PROCESSES, "imports pickle")
    ]
    assert found == []


def test_what_is_unpickled_between_our_own_processes_was_in_no_file_with_a_name():
    tree = ast.parse((ROOT / BETWEEN_OWN_PROCESSES).read_text())
    calls = [ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.Call)]
    read = [call for call in calls if call.startswith("pickle.load")]
    assert sorted(read) == ["pickle.load(sys.stdin.buffer)", "pickle.load(told)"]
    assert "tempfile.TemporaryFile()" in calls
    assert not any(call.startswith(("open(", "tempfile.NamedTemporaryFile", "tempfile.mk")) for call in calls)


@pytest.mark.parametrize(
    "source",
    [
        "import pickle",
        "from joblib import load",
        "eval(text)",
        "exec(text)",
        "__import__(name)",
        "os.system('ls')",
        "subprocess.run('ls', shell=True)",
        "subprocess.Popen(command, shell=maybe)",
        "torch.load(path)",
        "np.load(path, allow_pickle=True)",
        "f(weights_only=False)",
        "AutoModelForCausalLM.from_pretrained(name)",
        "AutoTokenizer.from_pretrained(name, trust_remote_code=True)",
        "yaml.load(text, Loader=yaml.Loader)",
        "yaml.unsafe_load(text)",
    ],
)
def test_a_rule_that_is_broken_is_found(source):
    assert list(broken_rules(source))


def test_what_is_allowed_is_not_found():
    source = "subprocess.run(['ls'], shell=False)\nmodel.eval()\nyaml.safe_load(text)\nast.literal_eval(text)"
    assert list(broken_rules(source)) == []


@pytest.mark.parametrize(
    "path", sorted((ROOT / "envace_sdk/studio/templates").glob("*.html")), ids=lambda path: path.name
)
def test_a_template_writes_nothing_unescaped_and_runs_nothing_of_its_own(path):
    text = path.read_text()
    for forbidden in (
        "|safe",
        "| safe",
        "autoescape false",
        "<script>",
        "javascript:",
        " onclick",
        " onload",
        'style="',
    ):
        assert forbidden not in text


FREEZING = "envace_sdk/studio/report.py"
"""Puts pages that were rendered before, with all escaped, into one, and the package's own style sheet."""
FROZEN = ("Markup(html)", "Markup(style)")


def test_no_code_marks_text_of_others_as_safe():
    marking = {"Markup", "mark_safe"}
    for path in FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in marking:
                constant = all(isinstance(argument, ast.Constant) for argument in node.args)
                frozen = str(path.relative_to(ROOT)) == FREEZING and ast.unparse(node) in FROZEN
                assert constant or frozen, f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)[:80]}"
