"""The multinomial logit, against statsmodels."""

import numpy as np
import pytest
import statsmodels.api as sm

from benchmarks.judges.lexical_odds import balanced_weights, fit_logit, probabilities
from benchmarks.scoring.sums import BadShape


def sample(n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Two features and labels that follow them with noise."""
    rng = np.random.default_rng(3)
    features = np.column_stack([rng.normal(size=n), rng.uniform(5, 9, size=n)])
    noisy = 1.3 * features[:, 0] + 0.4 * features[:, 1] + rng.logistic(size=n)
    return features, np.digitize(noisy, [2.4, 3.6])


def test_without_a_penalty_it_is_the_maximum_likelihood_of_statsmodels() -> None:
    features, labels = sample()
    found = fit_logit(features, labels, n_labels=3, ridge=0)
    known = sm.MNLogit(labels, sm.add_constant(features)).fit(disp=0, tol=1e-12)
    assert found == pytest.approx(np.asarray(known.params).T, abs=1e-5)
    assert probabilities(features, found) == pytest.approx(known.predict(), abs=1e-6)


def test_at_the_solution_the_penalized_gradient_is_zero() -> None:
    features, labels = sample()
    ridge, weights = 7.0, balanced_weights(labels, 3)
    found = fit_logit(features, labels, n_labels=3, ridge=ridge, weights=weights)
    spread = features.std(axis=0)
    rows = (features - features.mean(axis=0)) / spread
    left = weights[:, None] * (np.eye(3)[labels] - probabilities(features, found))[:, 1:]
    assert left.sum(axis=0) == pytest.approx(0, abs=1e-6)
    assert left.T @ rows == pytest.approx(ridge * found[:, 1:] * spread, abs=1e-6)


def test_a_heavier_penalty_pulls_the_coefficients_to_zero() -> None:
    features, labels = sample()
    sizes = [np.abs(fit_logit(features, labels, n_labels=3, ridge=ridge)[:, 1:]).sum() for ridge in (0, 10, 1000)]
    assert sizes[0] > sizes[1] > sizes[2] > 0


def test_labels_that_a_feature_parts_completely_still_have_a_solution() -> None:
    features = np.array([[0.0], [0.1], [0.5], [0.6], [0.9], [1.0]])
    found = probabilities(features, fit_logit(features, np.array([0, 0, 1, 1, 2, 2]), n_labels=3, ridge=0.01))
    assert found.argmax(axis=1).tolist() == [0, 0, 1, 1, 2, 2]


def test_a_feature_that_never_varies_counts_nothing() -> None:
    features, labels = sample()
    found = fit_logit(np.column_stack([features, np.full(len(labels), 2.0)]), labels, n_labels=3)
    assert found[:, 3].tolist() == [0, 0]
    assert found[:, :3] == pytest.approx(fit_logit(features, labels, n_labels=3))


def test_balanced_weights_give_every_label_the_same_total() -> None:
    labels = np.array([0, 0, 0, 1, 2, 2])
    assert np.bincount(labels, balanced_weights(labels, 3)) == pytest.approx([2, 2, 2])


def test_a_label_without_a_row_is_refused() -> None:
    with pytest.raises(BadShape):
        fit_logit(np.zeros((4, 1)), np.array([0, 0, 1, 1]), n_labels=3)
    with pytest.raises(BadShape):
        fit_logit(np.zeros((4, 1)), np.array([0, 1, 2]), n_labels=3)
