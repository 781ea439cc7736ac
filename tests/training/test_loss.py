import math

import pytest
import torch
from envace_sdk.training.loss import Aggregation, Surrogate, imitation, reference_kl, surrogate, truncated_importance
from envace_sdk.training.rows import Row
from hypothesis import given
from hypothesis import strategies as st

PLAIN = Surrogate()


def t(*values):
    return torch.tensor(values, dtype=torch.float32)


def row(tokens, **more):
    return Row("t", 0, more.pop("role", "act"), (1,), (2,) * tokens, **more)


def gradient(logprobs, old, advantages, settings=PLAIN, **more):
    logprobs = logprobs.clone().requires_grad_()
    loss, terms = surrogate(logprobs, old, advantages, torch.ones_like(old), settings, **more)
    loss.backward()
    return float(loss.detach()), logprobs.grad, terms


def test_token_and_row_means_are_as_computed_by_hand():
    """Rows with losses [1, 1, 1, 1] and [4]: 1.6 over tokens, 2.5 over rows."""
    rows, losses = [row(4), row(1)], [1.0, 4.0]
    for kind, expected in (("token", 8 / 5), ("row", 2.5)):
        mean = Aggregation.over(rows, kind)
        total = sum(mean.share(each) * len(each.completion_ids) * loss for each, loss in zip(rows, losses, strict=True))
        assert total == pytest.approx(expected)


@given(st.lists(st.tuples(st.integers(1, 9), st.floats(0, 4)), min_size=1), st.sampled_from(["token", "row"]))
def test_shares_add_up_to_one(found, kind):
    rows = [row(tokens, weight=weight) for tokens, weight in found]
    mean = Aggregation.over(rows, kind)
    total = math.fsum(mean.share(each) * len(each.completion_ids) for each in rows)
    assert total == pytest.approx(1.0 if any(each.weight for each in rows) else 0.0)


def test_a_roles_weight_scales_its_loss_and_not_the_mean():
    rows = [row(2), row(2, role="rehearse")]
    mean = Aggregation.over(rows, "token", {"rehearse": 0.5})
    assert [mean.share(each) for each in rows] == [0.25, 0.125]


def test_the_first_update_is_the_policy_gradient():
    logprobs = t(-1.0, -2.0, -0.5)
    loss, found, terms = gradient(logprobs, logprobs, t(1.0, -2.0, 0.0))
    assert loss == pytest.approx(1.0)
    torch.testing.assert_close(found, t(-1.0, 2.0, -0.0))
    assert not terms.clipped.any()


def test_the_clip_stops_what_has_moved_far_enough_and_only_that():
    """Ratios 1.5, 1.5, 0.5, 0.5 and 1.1 with clip 0.2, by hand."""
    ratios, advantages = t(1.5, 1.5, 0.5, 0.5, 1.1), t(1.0, -1.0, 1.0, -1.0, 2.0)
    old = torch.full((5,), -1.0)
    loss, found, terms = gradient(old + ratios.log(), old, advantages)
    assert loss == pytest.approx(-(1.2 - 1.5 + 0.5 - 0.8 + 2.2), abs=1e-6)
    torch.testing.assert_close(found, t(0.0, 1.5, -0.5, 0.0, -2.2))
    assert terms.clipped.tolist() == [True, False, False, True, False]


def test_unequal_clips_bound_each_side_by_its_own():
    old = t(-1.0, -1.0)
    settings = Surrogate(clip_low=0.1, clip_high=0.4)
    loss, _, terms = gradient(old + t(1.3, 0.85).log(), old, t(1.0, -1.0), settings)
    assert loss == pytest.approx(-1.3 + 0.9, abs=1e-6)
    assert terms.clipped.tolist() == [False, True]


def test_a_mismatch_is_weighed_by_the_ratio_of_probabilities_up_to_the_cap():
    """The trainer finds tokens 1.5 times, 5 times and half as likely as the sampler did."""
    old, ratios = t(-1.0, -1.0, -1.0), t(1.5, 5.0, 0.5)
    sampled, known = old - ratios.log(), torch.ones(3, dtype=torch.bool)
    settings = Surrogate(importance_cap=2.0)
    loss, found, terms = gradient(old, old, t(1.0, 1.0, 1.0), settings, sampled=sampled, known=known)
    assert loss == pytest.approx(-(1.5 + 2.0 + 0.5), abs=1e-6)
    torch.testing.assert_close(found, t(-1.5, -2.0, -0.5))
    assert terms.capped.tolist() == [False, True, False]
    torch.testing.assert_close(terms.log_mismatch, ratios.log())


def test_tokens_that_no_sampler_made_are_not_corrected():
    old = t(-1.0, -1.0)
    settings = Surrogate(importance_cap=2.0)
    known = torch.tensor([True, False])
    loss, _, terms = gradient(old, old, t(1.0, 1.0), settings, sampled=t(-1.5, 0.0), known=known)
    assert loss == pytest.approx(-math.exp(0.5) - 1.0, abs=1e-6)
    assert terms.log_mismatch.tolist() == [0.5, 0.0]


def test_without_a_cap_nothing_is_corrected_but_the_mismatch_is_told():
    old = t(-1.0)
    known = torch.tensor([True])
    loss, _, terms = gradient(old, old, t(1.0), PLAIN, sampled=t(-3.0), known=known)
    assert (loss, terms.log_mismatch.tolist()) == (-1.0, [2.0])


def test_the_kl_term_is_nothing_at_the_reference_and_pulls_towards_it():
    logprobs, settings = t(-1.0, -1.0, -1.0), Surrogate(kl=0.5)
    _, found, terms = gradient(logprobs, logprobs, t(0.0, 0.0, 0.0), settings, reference=t(-1.0, -2.0, -0.5))
    torch.testing.assert_close(terms.kl, t(0.0, math.exp(-1), math.exp(0.5) - 1.5))
    torch.testing.assert_close(found, 0.5 * (1 - t(0.0, -1.0, 0.5).exp()))


@given(st.floats(-30, 0), st.floats(-30, 0))
def test_the_kl_estimate_is_never_negative(ours, theirs):
    assert float(reference_kl(t(ours), t(theirs))) >= -1e-9


@given(st.floats(-1e4, 1e4), st.floats(0.5, 10))
def test_importance_weights_are_finite_and_at_most_the_cap(mismatch, cap):
    weights, capped = truncated_importance(t(mismatch), cap)
    assert 0 <= float(weights) <= cap + 1e-5
    assert bool(capped) == (float(weights) == pytest.approx(cap) and math.exp(min(mismatch, 20)) > cap)


@given(st.lists(st.tuples(st.floats(-50, 0), st.floats(-50, 0), st.floats(-3, 3)), min_size=1))
def test_loss_and_gradient_are_finite_however_far_the_policy_has_moved(found):
    logprobs, old, advantages = (t(*column) for column in zip(*found, strict=True))
    loss, slope, _ = gradient(logprobs, old, advantages)
    assert math.isfinite(loss)
    assert torch.isfinite(slope).all()


def test_imitation_is_the_negative_log_likelihood():
    logprobs = t(-1.0, -3.0).requires_grad_()
    loss, terms = imitation(logprobs, t(0.5, 0.5))
    loss.backward()
    assert float(loss.detach()) == 2.0
    assert logprobs.grad.tolist() == [-0.5, -0.5]
    assert terms.losses.tolist() == [1.0, 3.0]
