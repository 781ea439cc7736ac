"""From a GGUF file to an ordinary checkpoint: safetensors, configuration and tokenizer in a folder."""

from __future__ import annotations

from pathlib import Path

import torch
from safetensors import SafetensorError
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.utils import logging

from envace_sdk.errors import ModelError

__all__ = ["convert_gguf"]


def convert_gguf(file: Path, folder: Path) -> None:
    """Write the model in a GGUF file to a folder, with the weights in float32.

    A model that transformers has read from GGUF refuses to be saved, because its configuration says it is quantized;
    its weights are not any more. So they go into a new model of the same configuration without that entry.

    Raises:
        ModelError: the file is not such a model; OSError: the folder cannot be written.
    """
    logging.disable_progress_bar()
    try:
        more = {"gguf_file": file.name, "trust_remote_code": False}
        tokenizer = AutoTokenizer.from_pretrained(file.parent, **more)
        read = AutoModelForCausalLM.from_pretrained(file.parent, dtype=torch.float32, **more)
    except (OSError, ValueError, ImportError, RuntimeError, KeyError) as error:
        raise ModelError(f"{file}: cannot be read as GGUF: {error}") from error
    finally:
        logging.enable_progress_bar()
    config = read.config
    if hasattr(config, "quantization_config"):
        del config.quantization_config
    written = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    written.load_state_dict(read.state_dict())
    written.generation_config = read.generation_config
    try:
        tokenizer.save_pretrained(folder)
        written.save_pretrained(folder)
    except SafetensorError as error:  # a full disk, among others
        raise OSError(str(error)) from error
