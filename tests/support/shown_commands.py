"""Whether the command lines that documents show are ones that there are: programs, commands, options and values."""

import copy
import re
import shlex
import tomllib

import click
from documents import ROOT, blocks

from envace_sdk.cli.main import cli

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
EXTRAS = PYPROJECT["project"]["optional-dependencies"]
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
FRAMEWORKS = re.search(r"^FRAMEWORKS := (.+)$", MAKEFILE, re.MULTILINE)[1].split()
TARGETS = {*re.findall(r"^([a-z][\w-]*):", MAKEFILE, re.MULTILINE), *(f"test-{name}" for name in FRAMEWORKS)}
SEPARATORS = {"&&", "||", "|", ";", "&"}


def simple_commands(text):
    """The words of each simple command of a line: what is a program, and what are its arguments."""
    lexer = shlex.shlex(text.replace("\\\n", " "), posix=True, punctuation_chars=";&|")
    lexer.whitespace_split = True
    words, found = [], []
    for word in lexer:
        if word in SEPARATORS:
            found.append(words)
            words = []
        else:
            words.append(word)
    plain = []
    for command in [*found, words]:
        words = command
        while words and re.fullmatch(r"[A-Za-z_]\w*=.*", words[0], re.DOTALL):
            words = words[1:]  # the environment of the command
        for redirect in (">", "2>", ">>", "<"):
            if redirect in words:
                words = words[: words.index(redirect)]
        if words[:1] == ["nice"]:
            words = words[3:] if words[1:2] == ["-n"] else words[1:]
        if words:
            plain.append(words)
    return plain


def check(words, page):
    """Raises AssertionError or click.UsageError where a command of ours, shown on a page, is none that there is."""
    program, *rest = words
    if program in {"accelerate", "torchrun"} and "envace_sdk" in rest:
        check_cli(rest[rest.index("envace_sdk") + 1 :])
    elif program.endswith("envace-sdk") and "/" not in program.removesuffix("bin/envace-sdk").rstrip("/."):
        check_cli(rest)
    elif program in {"python", "python3"} or program.endswith("bin/python"):
        check_python(rest, page)
    elif program == "make":
        wrong = [word for word in rest if not word.startswith("-") and "=" not in word and word not in TARGETS]
        assert not wrong, f"the Makefile has no target {wrong}"
    elif program in {"pip", "uv"} or program.endswith("bin/pip"):
        check_pip(rest)


def check_pip(words):
    for word in words:
        for named in re.findall(r"^(?:envace-sdk|\.)\[([\w,-]+)\]", word):
            missing = set(named.split(",")) - set(EXTRAS)
            assert not missing, f"there is no extra {missing}"
        if word.endswith(".txt"):
            assert (ROOT / word).exists(), f"there is no {word}"


def check_python(words, page):
    if words[:1] == ["-m"]:
        module, *rest = words[1:]
        if module == "envace_sdk":
            check_cli(rest)
        elif module.split(".")[0] in {"benchmarks", "envace_sdk", "examples"}:
            path = ROOT / (module.replace(".", "/") + ".py")
            if module.startswith("envace_sdk.") and not path.exists():
                path = ROOT / (module.removeprefix("envace_sdk.").replace(".", "/") + ".py")
            assert path.exists(), f"there is no module {module}"
            check_options(path, rest)
    elif words and words[0].endswith(".py"):
        places = [(ROOT / page).parent / words[0], ROOT / words[0]]
        places += [ROOT / block.note for block in blocks(page) if block.note.endswith(f"/{words[0]}")]
        [path, *_] = [place for place in places if place.exists()] or [None]
        assert path is not None, f"there is no program {words[0]}"
        check_options(path, words[1:])


def check_options(path, words):
    text = path.read_text(encoding="utf-8")
    text += "".join(other.read_text(encoding="utf-8") for other in path.parent.glob("*.py"))
    for word in words:
        option = word.partition("=")[0]
        assert not option.startswith("--") or f'"{option}"' in text, f"{path.name} has no option {option}"


def check_cli(words):
    """Parse as the command line does, but for files, which need not be there."""
    if not words or words[0].startswith("-"):
        cli.make_context("envace-sdk", [*words, "version"])
        return
    command, path = cli, []
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        name, *words = words
        path.append(name)
        found = command.get_command(click.Context(command), name)
        assert found is not None, f"envace-sdk has no command {' '.join(path)!r}"
        command = found
    command = copy.copy(command)
    command.params = [_lenient(parameter) for parameter in command.params]
    if {"-h", "--help"} & set(words):
        return
    context = command.make_context(" ".join(path), list(words))
    if path == ["client-config"]:
        after = list(context.params["serve_options"])
        if context.params["gateway"]:
            first = [context.params["source"]] if context.params["source"] else []
            check_cli(["gateway", *first, *(["--"] if first and not first[0].startswith("-") else []), *after])
        elif after:
            check_cli(["serve", "--tools", context.params["source"], *after])


def _lenient(parameter):
    if isinstance(parameter.type, (click.Path, click.File)):
        parameter = copy.copy(parameter)
        parameter.type = click.STRING
    return parameter


def every_option():
    """All options of all commands."""
    found, waiting = set(), [cli]
    while waiting:
        command = waiting.pop()
        context = click.Context(command)
        for parameter in command.get_params(context):
            if isinstance(parameter, click.Option):
                found |= {*parameter.opts, *parameter.secondary_opts}
        if isinstance(command, click.Group):
            waiting += [command.get_command(context, name) for name in command.list_commands(context)]
    return found


def every_command():
    """Each command's words and the command, groups among them, in order."""
    found, waiting = [], [((), cli)]
    while waiting:
        words, command = waiting.pop(0)
        found.append((words, command))
        if isinstance(command, click.Group):
            context = click.Context(command)
            waiting += [((*words, name), command.get_command(context, name)) for name in command.list_commands(context)]
    return sorted(found, key=lambda one: one[0])
