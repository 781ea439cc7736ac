"""From a model's address to the model."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any, Final

from envace_sdk.errors import ModelError

from .model import ChatModel

__all__ = ["load_model", "place_of"]

_BACKENDS: Final = {
    "scripted": ".scripted:ScriptedModel.load",
    "openai": ".openai:OpenAIModel.parse",
    "transformers": ".transformers:TransformersModel.load",
    "vllm": ".vllm:VLLMModel.load",
}
_FORMS: Final = (
    "scripted:FILE.jsonl, transformers:FOLDER, transformers:HUB-ID, transformers:FILE.gguf, "
    "openai:MODEL@http://host/v1, vllm:FOLDER or smollm2-135m"
)


def load_model(uri: str, **options: Any) -> ChatModel:
    """The model at an address.

    Args:
        uri: `scripted:FILE.jsonl`; `transformers:` with a local folder, a hub id or a GGUF file; a local folder;
            `openai:MODEL@URL` for any OpenAI-compatible endpoint; `vllm:` with a folder or hub id, in this process;
            or the name of a model that `envace-sdk models fetch` has fetched, such as `smollm2-135m`.
        options: for the backend: see `OpenAIModel`, `TransformersModel.load`, `VLLMModel.load`.

    Raises:
        ModelError: the address is wrong, the model is not there, or what the backend needs is not installed.
    """
    kind, colon, rest = uri.partition(":")
    if Path(uri).is_dir():
        kind, rest = "transformers", uri
    elif not colon:
        from .fetch import FETCHABLE, fetched

        if uri not in FETCHABLE:
            raise ModelError(f"{uri}: there is no such folder, and no model of that name; an address is {_FORMS}")
        kind, rest = "transformers", str(fetched(uri))
        options.setdefault("name", uri)
    if kind not in _BACKENDS or not rest:
        raise ModelError(f"{uri!r} is not a model's address; one is {_FORMS}")
    module, _, path = _BACKENDS[kind].partition(":")
    try:
        maker: Any = import_module(module, __package__)
    except ModuleNotFoundError as error:
        raise ModelError(f"{uri}: {error.name} is not installed; run: pip install 'envace-sdk[train]'") from error
    for part in path.split("."):
        maker = getattr(maker, part)
    try:
        model: ChatModel = maker(rest, **options)
    except TypeError as error:
        if "unexpected keyword argument" not in str(error):
            raise
        raise ModelError(f"{uri}: {error}") from error
    return model


def place_of(where: str) -> tuple[str, dict[str, Any]]:
    """The folder or hub id of a model of transformers, and what else transformers must be told.

    Raises:
        ModelError: it is a path, and no model is there.
    """
    path = Path(where).expanduser()
    if path.suffix == ".gguf" or path.is_file():
        if not path.is_file():
            raise ModelError(f"{where}: there is no such file")
        if path.suffix != ".gguf":
            raise ModelError(f"{where}: a model is a folder, a .gguf file or a hub id")
        return str(path.parent), {"gguf_file": path.name}
    if path.is_dir() and not any((path / name).is_file() for name in ("config.json", "adapter_config.json")):
        raise ModelError(f"{where}: {_no_model(path)}")
    if not path.is_dir() and (path.is_absolute() or where.startswith((".", "~"))):
        raise ModelError(f"{where}: there is no such folder")
    return (str(path) if path.is_dir() else where), {}


def _no_model(folder: Path) -> str:
    nearest = (folder, *folder.absolute().parents[:2])  # a run's weights lie no deeper in it
    run = next((one for one in nearest if (one / "run.json").is_file()), None)
    if run is not None:
        return f"is of a training run, and no model yet; write one with: envace-sdk train export {run} -o policy/"
    return "this folder holds no model (it has no config.json)"
