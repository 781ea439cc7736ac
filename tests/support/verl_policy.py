"""A policy as verl's rollout servers would hold it, that says what the witness of the task in the prompt says."""

from dataclasses import dataclass, field

from transformers import AutoTokenizer

from envace_sdk.roles import render_response, tool_format
from envace_sdk.tools.model import ToolResult

FORM = tool_format("hermes")


@dataclass
class Output:
    """The fields of verl's `TokenOutput` that are used."""

    token_ids: list
    log_probs: list | None
    stop_reason: str | None = "completed"
    extra_fields: dict = field(default_factory=dict)


class Server:
    """Answers with what `says` makes of the prompt's text; remembers what it was asked."""

    def __init__(self, place, says, output=Output, version=None):
        self.tokenizer = AutoTokenizer.from_pretrained(place)
        self.asked = []
        self._says, self._output, self._version = says, output, version

    async def generate(self, request_id, *, prompt_ids, sampling_params):
        self.asked.append((request_id, prompt_ids, sampling_params))
        said = self._says(self.tokenizer.decode(prompt_ids))
        ids = self.tokenizer(said, add_special_tokens=False)["input_ids"] + [self.tokenizer.eos_token_id]
        ids = ids[: sampling_params["max_tokens"]]
        extra = {} if self._version is None else {"min_global_steps": self._version, "max_global_steps": self._version}
        return self._output(token_ids=ids, log_probs=[-0.5] * len(ids), stop_reason="completed", extra_fields=extra)


class Player:
    """Solves the tasks of lamps in every other attempt. Of the rest, half call for a lamp that is not there, and half
    make no call: so the roles of a trajectory have unlike numbers of turns.
    """

    def __init__(self, tasks):
        self._tasks = tasks
        self._attempts = 0

    def __call__(self, prompt):
        """What the policy says next."""
        if prompt.endswith("<tool_response>\n"):
            return '"done"\n</tool_response>'
        if "<response>" in prompt:
            return render_response(ToolResult.text("done"))
        task = max(self._tasks, key=lambda task: prompt.rfind(f"\n{task.instruction}<"))
        if "<tool_response>" in prompt[prompt.rfind(task.instruction) :]:
            return "Done."
        wanted = task.witness[0]
        self._attempts += 1
        if self._attempts % 4 == 0:
            return "Done."
        return FORM.render_call(wanted.tool, wanted.arguments if self._attempts % 2 else {"lamp": "nowhere"})
