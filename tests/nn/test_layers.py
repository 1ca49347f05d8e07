"""The layer against dense arrays, its gradients against differences, and the network against its layers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from hsls import Hypergraph, random_hypergraph
from hsls.nn import HypergraphConv, HypergraphNetwork, propagation
from instances import seeds

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]


def instance(seed=0, n_nodes=10, cardinalities=(2, 3, 4), features=5):
    H = random_hypergraph(n_nodes, 14, cardinalities, weights=(0.1, 3.0), random_state=seed)
    return H, torch.from_numpy(np.random.default_rng(seed).standard_normal((n_nodes, features)))


def formula(H):
    S, w = H.incidence().toarray(), H.weights
    root = np.diag(1 / np.sqrt(S @ w))
    return root @ S @ np.diag(w) @ np.diag(1 / S.sum(axis=0)) @ S.T @ root


def double(layer):
    return layer.to(torch.float64)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("form", ["product", "factors"])
@pytest.mark.parametrize("bias", [True, False])
@settings(max_examples=15)
@given(seed=seeds(), out_features=st.sampled_from([2, 5, 8]))
def test_the_layer_is_its_formula_and_so_is_its_gradient(device, form, bias, seed, out_features):
    H, X = instance(seed)
    P = propagation(H, form=form, dtype=torch.float64, device=device)
    layer = double(HypergraphConv(5, out_features, bias=bias)).to(device)
    given, target = X.clone().to(device).requires_grad_(), torch.ones(10, out_features, dtype=torch.float64)
    expected_X, theta = X.clone().requires_grad_(), layer.weight.detach().cpu().clone().requires_grad_()
    shift = torch.linspace(-1, 1, out_features, dtype=torch.float64)
    if bias:
        layer.bias.data = shift.to(device)
    expected = torch.from_numpy(formula(H)) @ expected_X @ theta.T + (shift if bias else 0)
    got = layer(given, P)
    torch.testing.assert_close(got.cpu(), expected)
    ((got.cpu() - target) ** 3).sum().backward()
    ((expected - target) ** 3).sum().backward()
    torch.testing.assert_close(given.grad.cpu(), expected_X.grad)
    torch.testing.assert_close(layer.weight.grad.cpu(), theta.grad)


@pytest.mark.parametrize("form", ["product", "factors"])
@pytest.mark.parametrize("out_features", [2, 4])
def test_gradients_are_those_of_differences(form, out_features):
    H, X = instance(features=3)
    P = propagation(H, form=form, dtype=torch.float64)
    layer = double(HypergraphConv(3, out_features))

    def apply(X, weight, bias):
        return torch.func.functional_call(layer, {"weight": weight, "bias": bias}, (X, P))

    inputs = (X.requires_grad_(), *(p.detach().clone().requires_grad_() for p in layer.parameters()))
    assert torch.autograd.gradcheck(apply, inputs)
    assert torch.autograd.gradgradcheck(apply, inputs)


def test_gradcheck_can_fail():
    """With a matrix that is not symmetric the shortcut of the backward pass would be wrong, and is seen to be."""
    X = torch.ones(3, 2, dtype=torch.float64, requires_grad=True)
    P = propagation(np.eye(3), dtype=torch.float64)
    P.factors = (torch.tensor([[0.0, 1, 0], [0, 0, 1], [0, 0, 0]], dtype=torch.float64),)
    with pytest.raises(RuntimeError, match="Jacobian mismatch"):
        torch.autograd.gradcheck(lambda X: P @ X, (X,))


@pytest.mark.parametrize("make", [lambda: HypergraphConv(5, 3), lambda: HypergraphNetwork(5, 3, hidden=7).eval()])
@given(seed=seeds())
def test_nodes_and_hyperedges_may_stand_in_any_order(make, seed):
    H, X = instance(seed)
    order = np.random.default_rng(seed).permutation(10)
    place = np.argsort(order)
    edges = [tuple(place[list(edge)].tolist()) for edge in H.edges]
    moved = Hypergraph.from_edges(edges[::-1], weights=H.weights[::-1], nodes=10)
    layer = double(make())
    torch.testing.assert_close(layer(X[order], moved), layer(X, H)[order])


def test_weights_of_hyperedges_matter():
    H, X = instance()
    layer = double(HypergraphConv(5, 3))
    assert not torch.allclose(layer(X, H), layer(X, H.binary()), rtol=0.01)
    scaled = Hypergraph.from_edges(H.edges, weights=4 * H.weights, nodes=10)
    torch.testing.assert_close(layer(X, scaled), layer(X, H))


def test_an_isolated_node_gets_the_bias_and_gives_nothing():
    H = Hypergraph.from_edges([(0, 1, 2)], nodes=4)
    layer = HypergraphConv(2, 3)
    torch.nn.init.normal_(layer.bias)
    X = torch.randn(4, 2, requires_grad=True)
    Y = layer(X, H)
    torch.testing.assert_close(Y[3], layer.bias)
    (gradient,) = torch.autograd.grad(Y.sum(), X)
    assert torch.isfinite(gradient).all()
    assert not gradient[3].any()


def test_a_structure_is_made_a_propagation_of_the_type_of_the_features():
    H, X = instance()
    layer = double(HypergraphConv(5, 3))
    expected = layer(X, propagation(H, dtype=torch.float64))
    for structure in (H, propagation(H, form="factors", dtype=torch.float64)):
        torch.testing.assert_close(layer(X, structure), expected)
    both = layer(X, [H, H.incidence()])
    torch.testing.assert_close(both, layer(X, propagation([H, H.incidence()], dtype=torch.float64)))
    assert layer.float()(X.float(), H).dtype == torch.float32


def test_the_state_is_the_parameters_and_loads_again():
    assert list(HypergraphConv(4, 2).state_dict()) == ["weight", "bias"]
    assert list(HypergraphConv(4, 2, bias=False).state_dict()) == ["weight"]
    assert repr(HypergraphConv(4, 2)) == "HypergraphConv(4, 2, bias=True)"
    H, X = instance()
    first, second = (double(HypergraphNetwork(5, 3)).eval() for _ in range(2))
    assert not torch.allclose(first(X, H), second(X, H))
    second.load_state_dict(first.state_dict())
    torch.testing.assert_close(first(X, H), second(X, H), rtol=0, atol=0)
    assert all(name.startswith(("norms.", "layers.")) for name in first.state_dict())


def test_initial_weights_come_from_the_generator_alone():
    before = torch.random.get_rng_state()
    first, again = (HypergraphNetwork(5, 3, generator=torch.Generator().manual_seed(7)) for _ in range(2))
    assert torch.equal(before, torch.random.get_rng_state())
    for name, value in first.state_dict().items():
        assert torch.equal(value, again.state_dict()[name])
    other = HypergraphNetwork(5, 3, generator=torch.Generator().manual_seed(8))
    assert not torch.equal(first.layers[0].weight, other.layers[0].weight)
    layer = first.layers[0]
    bound = np.sqrt(6 / (5 + 128))
    assert 0.9 * bound < layer.weight.abs().max() <= bound
    assert not layer.bias.any()


@pytest.mark.parametrize("n_layers", [1, 2, 4])
def test_the_network_is_its_norms_and_layers_in_turn(n_layers):
    H, X = instance()
    network = double(HypergraphNetwork(5, 3, hidden=6, n_layers=n_layers))
    sizes = [5, *[6] * (n_layers - 1), 3]
    assert [(layer.in_features, layer.out_features) for layer in network.layers] == list(pairwise(sizes))
    expected = X.numpy()
    for number, layer in enumerate(network.layers):
        if number:
            expected = np.maximum(expected, 0)
        expected = (expected - expected.mean(axis=0)) / np.sqrt(expected.var(axis=0) + 1e-5)
        expected = formula(H) @ expected @ layer.weight.detach().numpy().T + layer.bias.detach().numpy()
    np.testing.assert_allclose(network(X, H).detach().numpy(), expected, atol=1e-9)
    assert HypergraphNetwork(5, 3).layers[0].out_features == 128
    assert len(HypergraphNetwork(5, 3).layers) == 2


def test_sizes_that_cannot_be():
    for make in (HypergraphConv, HypergraphNetwork):
        with pytest.raises(ValueError, match="in_features must be at least 1, got 0"):
            make(0, 3)
        with pytest.raises(TypeError, match=r"out_features must be a whole number, got 2\.5"):
            make(3, 2.5)
    with pytest.raises(ValueError, match="hidden must be at least 1"):
        HypergraphNetwork(3, 2, hidden=0)
    with pytest.raises(ValueError, match="n_layers must be at least 1"):
        HypergraphNetwork(3, 2, n_layers=0)
