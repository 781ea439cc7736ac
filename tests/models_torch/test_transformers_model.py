import asyncio
import functools
import json
import sys
import threading
from dataclasses import replace

import pytest
import torch
from tiny_llama import LONGEST, tiny_checkpoint, tiny_llama, tiny_tokenizer
from transformers import MistralConfig, MistralForCausalLM

from envace_sdk.errors import ModelError
from envace_sdk.models import Message, NativeCall, Request, Sampling, load_model
from envace_sdk.models import decoding as decoding_module
from envace_sdk.models.transformers import TransformersModel

PROMPTS = [(1, 9, 14), (1, 80, 81, 82, 83, 84, 85, 86, 90), (1, 40), (1, 9, 14)]


@pytest.fixture(scope="module")
def module():
    return tiny_llama().eval()


@pytest.fixture
def model(module):
    made = TransformersModel(module, tiny_tokenizer(), name="tiny")
    yield made
    asyncio.run(made.close())


def complete(model, *requests):
    return asyncio.run(model.complete(requests))


def drawn(seed=None, **sampling):
    return [
        Request(
            prompt_ids=ids, sampling=Sampling(**{"max_tokens": 12, **sampling}, seed=None if seed is None else seed + n)
        )
        for n, ids in enumerate(PROMPTS)
    ]


def forward_logprobs(module, completion, temperature):
    ids = torch.tensor([[*completion.prompt_ids, *completion.token_ids]])
    with torch.no_grad():
        logits = module(ids).logits[0].float() / (temperature or 1.0)
    after = torch.log_softmax(logits, -1)[len(completion.prompt_ids) - 1 : -1]
    return after.gather(-1, torch.tensor(completion.token_ids)[:, None])[:, 0]


@pytest.mark.parametrize("temperature", [0.0, 0.5, 1.0, 1.7])
def test_logprobs_are_those_of_a_plain_forward_pass(model, module, temperature):
    for completion in complete(model, *drawn(seed=3, temperature=temperature)):
        assert len(completion.logprobs) == len(completion.token_ids)
        expected = forward_logprobs(module, completion, temperature)
        torch.testing.assert_close(torch.tensor(completion.logprobs), expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("top_p", [1.0, 0.7])
def test_a_batch_says_what_each_request_alone_would(model, top_p):
    together = complete(model, *drawn(seed=5, top_p=top_p))
    for request, batched in zip(drawn(seed=5, top_p=top_p), together, strict=True):
        alone = complete(model, request)[0]
        assert alone.token_ids == batched.token_ids
        assert alone.logprobs == pytest.approx(batched.logprobs, abs=1e-4)


def test_a_seed_says_the_same_again_and_another_seed_does_not(model):
    first, again, other = (complete(model, *drawn(seed=seed)) for seed in (7, 7, 8))
    assert [each.token_ids for each in first] == [each.token_ids for each in again]
    assert [each.token_ids for each in first] != [each.token_ids for each in other]
    unseeded = [complete(model, *drawn())[0].token_ids for _ in range(3)]
    assert len(set(unseeded)) > 1


def test_temperature_zero_takes_the_most_probable_token_each_time(model, module):
    for completion in complete(model, *drawn(temperature=0.0)):
        ids = torch.tensor([[*completion.prompt_ids, *completion.token_ids]])
        with torch.no_grad():
            best = module(ids).logits[0].argmax(-1)[len(completion.prompt_ids) - 1 : -1]
        assert tuple(best.tolist()) == completion.token_ids


def test_tokens_are_drawn_as_often_as_they_are_probable(model, module):
    sampling = Sampling(max_tokens=1)
    requests = [Request(prompt_ids=(1, 9), sampling=replace(sampling, seed=seed)) for seed in range(2000)]
    with torch.no_grad():
        probabilities = torch.softmax(module(torch.tensor([[1, 9]])).logits[0, -1].float(), -1)
    counts = torch.bincount(torch.tensor([each.token_ids[0] for each in complete(model, *requests)]), minlength=264)
    assert (counts / 2000 - probabilities).abs().max() < 0.04


def test_only_the_most_probable_tokens_are_drawn_with_top_p(model, module):
    with torch.no_grad():
        best = module(torch.tensor([[1, 9]])).logits[0, -1].argmax().item()
    sampling = Sampling(max_tokens=1, top_p=0.0001)
    requests = [Request(prompt_ids=(1, 9), sampling=replace(sampling, seed=seed)) for seed in range(20)]
    assert {each.token_ids for each in complete(model, *requests)} == {(best,)}


def test_each_distinct_prompt_is_read_once(model, module, monkeypatch):
    shapes = []
    forward = module.forward

    @functools.wraps(forward)
    def counting(*args, **kwargs):
        shapes.append(tuple(kwargs["input_ids"].shape))
        return forward(*args, **kwargs)

    monkeypatch.setattr(module, "forward", counting)
    complete(model, *[Request(prompt_ids=(1, 5, 6), sampling=Sampling(max_tokens=2, seed=n)) for n in range(6)])
    assert (1, 3) in shapes
    assert (6, 3) not in shapes


def test_rows_of_one_tree_say_what_each_alone_would(model, module):
    """Groups of two prompts, one of which begins as the other, and one that does not share enough to join."""
    prompts = [(1, *range(9, 49)), (1, *range(9, 40), 7, 8), (1, 80, 81)]
    asked = [
        Request(prompt_ids=prompt, sampling=Sampling(max_tokens=3 + number, seed=number))
        for prompt in prompts
        for number in range(6)
    ]
    together = complete(model, *asked)
    for request, completion in zip(asked, together, strict=True):
        (alone,) = complete(model, request)
        assert alone.token_ids == completion.token_ids
        expected = forward_logprobs(module, completion, 1.0)
        torch.testing.assert_close(torch.tensor(completion.logprobs), expected, atol=1e-4, rtol=0)


def test_what_prompts_begin_with_alike_is_read_once(model, module, monkeypatch):
    shapes = []
    forward = module.forward

    @functools.wraps(forward)
    def counting(*args, **kwargs):
        shapes.append(tuple(kwargs["input_ids"].shape))
        return forward(*args, **kwargs)

    monkeypatch.setattr(module, "forward", counting)
    common = (1, *range(9, 49))
    complete(model, *[Request(prompt_ids=(*common, 60 + n), sampling=Sampling(max_tokens=2, seed=n)) for n in range(6)])
    assert (1, 47) in shapes
    assert shapes[-1] == (1, 6)


def test_a_model_whose_layers_look_back_only_so_far_is_decoded_row_by_row():
    sizes = {"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 2, "head_dim": 16, "sliding_window": 4}
    torch.manual_seed(0)
    mistral = MistralForCausalLM(
        MistralConfig(vocab_size=512, num_attention_heads=2, num_key_value_heads=1, initializer_range=0.2, **sizes)
    ).eval()
    assert "sliding" in decoding_module.why_no_trees(mistral)
    model = TransformersModel(mistral, tiny_tokenizer())
    common = (1, *range(9, 30))
    asked = [Request(prompt_ids=(*common, 60 + n), sampling=Sampling(max_tokens=5, seed=n)) for n in range(4)]
    for completion in complete(model, *asked):
        expected = forward_logprobs(mistral, completion, 1.0)
        torch.testing.assert_close(torch.tensor(completion.logprobs), expected, atol=1e-4, rtol=0)
    asyncio.run(model.close())


def test_the_length_is_kept_and_told(model):
    for completion in complete(model, *drawn(seed=1, max_tokens=3)):
        ended = completion.token_ids[-1] == 2
        assert len(completion.token_ids) <= 3
        assert completion.finish_reason == ("stop" if ended else "length")


def test_an_end_token_ends_the_completion_and_is_not_part_of_the_text(module):
    tokenizer = tiny_tokenizer()
    with torch.no_grad():
        best = module(torch.tensor([[1, 9]])).logits[0, -1].argmax().item()
    model = TransformersModel(module, tokenizer)
    model.end_ids = frozenset({best})
    completion = complete(model, Request(prompt_ids=(1, 9), sampling=Sampling(temperature=0)))[0]
    assert (completion.token_ids, completion.text, completion.finish_reason) == ((best,), "", "stop")
    asyncio.run(model.close())


def test_a_stop_text_ends_the_completion_and_is_cut_off(model):
    whole = complete(model, Request(prompt_ids=(1, 9), sampling=Sampling(max_tokens=40, seed=2)))[0]
    stop = whole.text[10:12]
    sampling = Sampling(max_tokens=40, seed=2, stop=(stop, "not there"))
    stopped = complete(model, Request(prompt_ids=(1, 9), sampling=sampling))[0]
    assert stopped.text == whole.text[: whole.text.index(stop)]
    assert stopped.finish_reason == "stop"
    assert stopped.token_ids == whole.token_ids[: len(stopped.token_ids)]
    assert len(stopped.token_ids) < len(whole.token_ids)


def test_a_prompt_that_is_too_long_does_not_take_the_others_with_it(model):
    long, fitting = complete(
        model,
        Request(prompt_ids=(5,) * LONGEST),
        Request(prompt_ids=(5,) * (LONGEST - 2), sampling=Sampling(max_tokens=9, seed=1)),
    )
    assert long.finish_reason == "error"
    assert str(LONGEST) in long.error
    assert len(fitting.token_ids) <= 2


@pytest.mark.parametrize("ids", [(), (264,), (-1,)])
def test_tokens_that_are_none_are_an_error(model, ids):
    with pytest.raises(ModelError, match="263"):
        complete(model, Request(prompt_ids=ids))


def test_messages_become_the_tokens_of_the_chat_template(model):
    messages = (Message("user", "Hi"),)
    ids = model.encode(messages)
    assert model.tokenizer.decode(ids) == "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    assert model.encode(messages, add_generation_prompt=False) == ids[: -len("assistant\n") - 1]
    assert "tools: 1" in model.tokenizer.decode(model.encode(messages, [{"type": "function"}]))
    sampling = Sampling(max_tokens=5, seed=1)
    spoken, given = complete(
        model, Request(messages=messages, sampling=sampling), Request(prompt_ids=tuple(ids), sampling=sampling)
    )
    assert spoken == replace(given, logprobs=pytest.approx(given.logprobs, abs=1e-4))
    assert spoken.prompt_ids == tuple(ids)


def test_a_template_gets_the_arguments_of_calls_as_objects(module):
    template = "{% for call in messages[0].tool_calls %}{{ call.function.arguments.x }}{% endfor %}"
    model = TransformersModel(module, tiny_tokenizer(template))
    messages = [Message("assistant", "", (NativeCall("f", '{"x": 5}'),))]
    assert model.tokenizer.decode(model.encode(messages)) == "5"


def test_a_template_that_is_missing_or_refuses_is_an_error(module):
    with pytest.raises(ModelError, match="no chat template"):
        TransformersModel(module, tiny_tokenizer(None)).encode([Message("user", "Hi")])
    with pytest.raises(ModelError, match="roles must alternate"):
        TransformersModel(module, tiny_tokenizer("{{ raise_exception('roles must alternate') }}")).encode(
            [Message("user", "Hi")]
        )


def test_marks_of_tool_calls_are_part_of_the_text_and_other_special_tokens_are_not(model):
    ids = model.tokenizer.encode("<|im_start|>a[TOOL_CALLS]b<|im_end|>")
    assert model.decode(ids) == "a[TOOL_CALLS]b"


def test_memory_that_does_not_hold_a_batch_is_tried_with_half(model, monkeypatch):
    decode, sizes = decoding_module.decode, []

    def scarce(module, rows, **more):
        sizes.append(len(rows))
        if len(rows) > 1:
            rows[0].random.random()
            raise torch.OutOfMemoryError("CUDA out of memory")
        decode(module, rows, **more)

    expected = complete(model, *drawn(seed=4))
    monkeypatch.setattr("envace_sdk.models.transformers.decode", scarce)
    assert complete(model, *drawn(seed=4)) == [
        replace(each, logprobs=pytest.approx(each.logprobs, abs=1e-4)) for each in expected
    ]
    assert sizes == [4, 2, 1, 1, 2, 1, 1]


def test_memory_that_does_not_hold_one_request_is_an_error_that_says_its_size(model, monkeypatch):
    def none_left(module, rows, **more):
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr("envace_sdk.models.transformers.decode", none_left)
    with pytest.raises(ModelError, match="3 prompt tokens and up to 12 more"):
        complete(model, drawn()[0])


def test_the_mode_of_the_module_is_kept_and_gradients_are_not(model, module):
    module.train()
    try:
        complete(model, drawn()[0])
        assert module.training
    finally:
        module.eval()
    loss = module(torch.tensor([[1, 2]])).logits.sum()
    loss.backward()
    module.zero_grad()


@pytest.mark.filterwarnings("ignore:.*is_gradient_checkpointing.*:FutureWarning")  # peft asks for it
def test_a_module_that_peft_wraps_is_decoded_with_its_adapter():
    peft = pytest.importorskip("peft")
    config = peft.LoraConfig(r=2, target_modules=["q_proj", "v_proj"], init_lora_weights=False)
    torch.manual_seed(0)
    adapted = peft.get_peft_model(tiny_llama(), config).eval()
    model = TransformersModel(adapted, tiny_tokenizer())
    for completion in complete(model, *drawn(seed=3)):
        expected = forward_logprobs(adapted, completion, 1.0)
        torch.testing.assert_close(torch.tensor(completion.logprobs), expected, atol=1e-4, rtol=0)
    asyncio.run(model.close())


def test_who_is_cancelled_stops_the_decoding(model, module, monkeypatch):
    started, steps = threading.Event(), []
    step = decoding_module._step

    def counted(logits, rows, end_ids):
        started.set()
        steps.append(len(rows))
        return step(logits, rows, frozenset())

    monkeypatch.setattr(decoding_module, "_step", counted)

    async def run():
        task = asyncio.ensure_future(model.complete([Request(prompt_ids=(1,), sampling=Sampling(max_tokens=250))]))
        await asyncio.to_thread(started.wait, 20)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await model.close()

    asyncio.run(run())
    assert len(steps) < 250


def test_a_folder_is_loaded_and_says_what_the_module_in_memory_says(tmp_path):
    folder = tiny_checkpoint(tmp_path / "tiny", seed=1)
    loaded = load_model(f"transformers:{folder}", device="cpu", batch_size=2)
    assert loaded.name == f"transformers:{folder}"
    assert str(loaded.device) == "cpu"
    assert not loaded.model.training
    built = TransformersModel(tiny_llama(seed=1).eval(), tiny_tokenizer())
    for read, known in zip(complete(loaded, *drawn(seed=1)), complete(built, *drawn(seed=1)), strict=True):
        assert (read.text, read.token_ids) == (known.text, known.token_ids)
    for each in (loaded, built):
        asyncio.run(each.close())


def test_weights_that_would_have_to_be_unpickled_are_not_loaded(tmp_path):
    folder = tiny_checkpoint(tmp_path / "tiny")
    torch.save(tiny_llama().state_dict(), folder / "pytorch_model.bin")
    (folder / "model.safetensors").unlink()
    with pytest.raises(ModelError, match="cannot be loaded"):
        load_model(f"transformers:{folder}")


@pytest.mark.parametrize("place", ["./not-there", "/not/there", "not-there.gguf"])
def test_a_place_where_nothing_is_is_an_error(place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModelError, match="there is no such"):
        load_model(f"transformers:{place}")


def test_a_file_that_is_no_model_is_an_error(tmp_path):
    (tmp_path / "x.gguf").write_bytes(b"not a model")
    (tmp_path / "x.bin").write_bytes(b"not a model")
    for name in ("x.gguf", "x.bin"):
        with pytest.raises(ModelError, match=name):
            load_model(f"transformers:{tmp_path / name}")
    with pytest.raises(ModelError, match="number format"):
        load_model(f"transformers:{tmp_path}", dtype="float7")


SCHEMA = {
    "type": "object",
    "properties": {"city": {"enum": ["Ghent", "Graz"]}, "people": {"type": "integer", "minimum": 0, "maximum": 999}},
    "required": ["city", "people"],
    "additionalProperties": False,
}


def test_a_schema_is_kept_and_does_not_change_logprobs(model, module):
    pytest.importorskip("llguidance")
    asked = [
        Request(prompt_ids=ids, schema=SCHEMA, sampling=Sampling(max_tokens=60, seed=n))
        for n, ids in enumerate(PROMPTS)
    ]
    free = Request(prompt_ids=(1, 9), sampling=Sampling(max_tokens=20, seed=1))
    *held, other = complete(model, *asked, free)
    for completion in held:
        value = json.loads(completion.text)
        assert value["city"] in {"Ghent", "Graz"}
        assert 0 <= value["people"] <= 999
        assert completion.text == json.dumps(value)
        expected = forward_logprobs(module, completion, 1.0)
        torch.testing.assert_close(torch.tensor(completion.logprobs), expected, atol=1e-4, rtol=1e-4)
    assert other.text == complete(model, free)[0].text


def test_texts_may_stand_around_the_json(model):
    pytest.importorskip("llguidance")
    request = Request(
        prompt_ids=(1,), schema=SCHEMA, wrap=("<response>", "</response>"), sampling=Sampling(max_tokens=99, seed=1)
    )
    completion = complete(model, request)[0]
    assert json.loads(completion.text.removeprefix("<response>").removesuffix("</response>"))["city"]
    assert completion.finish_reason == "stop"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "string", "pattern": "^[a-z]+(?:-[a-z]+)*$", "maxLength": 9},
        {"type": "array", "items": {"type": "integer"}, "uniqueItems": True, "maxItems": 2},
        {"type": "string", "pattern": "(?=x)[", "maxLength": 3},
        {"const": 5, "x-guidance": {"whitespace_flexible": True}},
    ],
)
def test_what_no_grammar_can_express_is_left_out_of_the_constraint(model, schema):
    pytest.importorskip("llguidance")
    request = Request(prompt_ids=(1,), schema=schema, sampling=Sampling(max_tokens=200, seed=1, temperature=0.3))
    completion = complete(model, request)[0]
    assert completion.finish_reason == "length" or json.loads(completion.text) is not None


@pytest.mark.parametrize("schema", [7, False, {"type": "nonsense"}, {"$ref": "#/$defs/missing"}])
def test_a_schema_that_nothing_can_satisfy_is_an_error_for_its_request_alone(model, schema):
    pytest.importorskip("llguidance")

    async def run():
        wrong = asyncio.ensure_future(model.complete([Request(prompt_ids=(1,), schema=schema)]))
        right = asyncio.ensure_future(model.complete([drawn(seed=1)[0]]))
        with pytest.raises(ModelError, match="schema"):
            await wrong
        return await right

    assert asyncio.run(run())[0].token_ids


def test_without_the_library_a_schema_is_an_error_that_names_it(model, monkeypatch):
    monkeypatch.setitem(sys.modules, "llguidance", None)
    with pytest.raises(ModelError, match="needs llguidance"):
        complete(model, Request(prompt_ids=(1,), schema=SCHEMA))
