"""What the commands do when all is well."""

import json
import re
import shlex

import numpy as np
import pytest

from hsls import (
    HSLS,
    Hypergraph,
    HypergraphMLE,
    random_hypergraph,
    read,
    read_signals,
    smooth_signals,
    stability,
    windows,
    write,
)
from hsls.cli import main


def test_learn_writes_what_the_estimator_finds(run, signals):
    out = signals.with_name("learned.json")
    status, printed, complaints = run("learn", signals, "-o", out, "-k", "3,2", "--neighbors", "5", "--alpha", "2")
    table = read_signals(signals)
    model = HSLS(cardinalities=(2, 3), neighbors=5, alpha=2.0).fit(table.values)
    found = read(out)
    assert (status, complaints) == (0, "")
    assert found.edges == model.hypergraph_.edges
    assert np.array_equal(found.weights, model.hypergraph_.weights)
    assert found.nodes == tuple(f"n{i}" for i in range(12))
    assert re.search(r"^nodes +12, 60 observations$", printed, re.MULTILINE)
    assert re.search(rf"^candidates +{len(model.candidates_)}; 5 neighbours, exact", printed, re.MULTILINE)
    assert re.search(rf"^hyperedges +{found.n_edges}: .* of 3 nodes$", printed, re.MULTILINE)
    assert re.search(r"^relative gap +\S+e-\d+ \(newton: converged, \d+ iterations\)$", printed, re.MULTILINE)
    assert re.search(r"^time +.* s: neighbors .* s, candidates .* s, variation .* s, solve .* s", printed, re.MULTILINE)


@pytest.mark.parametrize("ending", [".json", ".hif", ".csv", ".npz"])
def test_the_ending_chooses_the_format_of_the_hypergraph(run, signals, ending):
    out, other = signals.with_name(f"a{ending}"), signals.with_name("b.npz")
    assert run("learn", signals, "-o", out)[0] == run("learn", signals, "-o", other)[0] == 0
    assert read(out) == read(other)


def test_columns_as_nodes_give_the_same_hypergraph(run, signals):
    table = read_signals(signals)
    turned = signals.with_name("turned.csv")
    rows = [",".join(table.names), *(",".join(map(repr, column)) for column in table.values.T.tolist())]
    turned.write_text("\n".join(rows))
    run("learn", signals, "-o", signals.with_name("a.json"))
    run("learn", turned, "--nodes", "columns", "-o", signals.with_name("b.json"))
    assert read(signals.with_name("a.json")) == read(signals.with_name("b.json"))


def test_json_is_one_object_with_the_figures(run, signals):
    status, printed, _ = run("learn", signals, "--json", "-k", "3", "--alpha", "1")
    figures = json.loads(printed)
    assert status == 0
    assert figures["relative_gap"] <= 1e-6
    assert figures["hyperedges"] == sum(figures["by_cardinality"].values())
    assert set(figures["seconds"]) == {"neighbors", "candidates", "variation", "solve", "hypergraph"}
    assert figures["out"] is None


def test_quiet_says_nothing(run, signals):
    assert run("learn", signals, "--quiet", "-o", signals.with_name("a.json")) == (0, "", "")


def test_the_papers_settings_are_within_reach(run, signals):
    out = signals.with_name("a.npz")
    words = "-k 3 -r 6 --solver fbf --scale none --alpha 100 --balance 0.1 --variation sum-absolute"
    status, printed, _ = run("learn", signals, "-o", out, *shlex.split(words))
    model = HSLS(
        3, 6, "sum-absolute", alpha=100.0, scale=None, solver="fbf", solver_options={"balance": 0.1}
    ).fit(read_signals(signals).values)  # fmt: skip
    assert status == 0
    assert "fbf: converged" in printed
    assert np.array_equal(read(out).weights, model.hypergraph_.weights)


def test_a_solver_that_does_not_converge_warns_writes_and_exits_with_1(run, signals):
    out = signals.with_name("a.json")
    status, printed, complaints = run("learn", signals, "-o", out, "--alpha", "1", "--max-iter", "1")
    assert status == 1
    assert out.exists()
    assert "newton: max_iter, 1 iteration)" in printed
    assert complaints.startswith("hsls: warning: newton reached max_iter after 1 iterations at a relative gap of ")
    assert complaints.count("\n") == 1


def test_candidates_and_observation_weights_come_from_files(run, signals):
    truth = signals.with_name("truth.json")
    weights = signals.with_name("weights.npy")
    omega = np.linspace(0.0, 2.0, 60)
    np.save(weights, omega)
    out = signals.with_name("a.npz")
    files = ["--candidates", truth, "--observation-weights", weights, "-o", out]
    run("learn", signals, *files, "--alpha", "1", "--threshold", "0")
    expected = HSLS(candidates=read(truth).edges, observation_weights=omega, threshold=0.0)
    assert np.array_equal(read(out).weights, expected.fit(read_signals(signals).values).hypergraph_.weights)


def test_candidates_may_be_listed_by_name_for_some_of_the_nodes(run, signals):
    listed = signals.with_name("some.csv")
    write(Hypergraph.from_edges([("n3", "n1"), ("n1", "n0", "n5")]), listed)
    status, printed, _ = run("learn", signals, "--candidates", listed, "--json")
    assert status == 0
    assert json.loads(printed)["candidates"] == 2


def test_stability_travels_from_learn_to_info_and_plot(run, signals):
    out, options = signals.with_name("learned.csv"), ["-k", "3", "--stability", "8", "--stability-block", "6"]
    options += ["--alpha", "1"]
    status, printed, complaints = run("learn", signals, "-o", out, *options, "--seed", "2")
    model = HSLS(cardinalities=3)
    expected = stability(model, read_signals(signals), 8, block=6, random_state=2)
    assert (status, complaints) == (0, "")
    assert read(out) == expected.hypergraph
    found = expected.frequencies
    words = f"in {found.min():.0%} to {found.max():.0%} of resamples, median {np.median(found):.0%}"
    assert re.search(rf"^found again +{words}; {np.sum(found >= 0.9)} in 90 % and more$", printed, re.MULTILINE)
    described = run("info", out, "--frequency", "0.5")[1]
    assert re.search(rf"^hyperedges +{np.sum(found >= 0.5)}: ", described, re.MULTILINE)
    assert re.search(r"^heaviest +\S+ +\d+%  n\d+, n\d+, n\d+$", described, re.MULTILINE)
    figures = json.loads(run("info", out, "--json")[1])
    assert figures["frequencies"]["median"] == np.median(found)
    told = json.loads(run("learn", signals, "--json", *options, "--seed", "2")[1])["stability"]
    assert told["frequencies"] == figures["frequencies"]
    assert (told["resamples"], told["failed"], told["seed"], told["block"]) == (8, 0, 2, 6)
    assert run("plot", out, "-o", out.with_suffix(".svg"), "--frequency", "0.5")[0] == 0
    run("learn", signals, "-o", out)
    status, _, complaints = run("info", out, "--frequency", "0.5")
    assert (status, "'hsls learn --stability' finds them" in complaints) == (2, True)


def test_windows_are_written_one_by_one(run, signals):
    out, picture = signals.with_name("w.json"), signals.with_name("w.png")
    words = ["-k", "3", "--window", "5", "--step", "5", "--alpha", "1"]
    status, printed, complaints = run("learn", signals, "-o", out, "--plot", picture, *words)
    expected = windows(HSLS(cardinalities=3), read_signals(signals), 5)
    assert (status, complaints) == (0, "")
    assert picture.exists()
    assert not out.exists()
    assert [read(signals.with_name(f"w-{i:02}.json")) for i in range(12)] == expected.hypergraphs
    throughout = expected.presence.all(axis=1).sum()
    assert f"hyperedges    {expected.union.n_edges} in all, {throughout} in every window" in printed
    now, before = set(expected.hypergraphs[1].edges), set(expected.hypergraphs[0].edges)
    assert re.search(rf"^5 to 9 .*: {len(now - before)} new, {len(before - now)} gone$", printed, re.MULTILINE)
    figures = json.loads(run("learn", signals, "--json", *words)[1])
    assert [window["start"] for window in figures["windows"]] == list(range(0, 60, 5))
    assert [window["relative_gap"] for window in figures["windows"]] == expected.gaps.tolist()
    assert run("learn", signals, "--max-iter", "1", *words)[0] == 1


def test_simulate_repeats_by_its_seed_and_keeps_what_it_drew(run, tmp_path):
    for name in "ab":
        words = ["-o", tmp_path / f"{name}.csv", "--truth", tmp_path / f"{name}.json", "--seed", "7"]
        assert run("simulate", "--n-nodes", "20", "--n-edges", "15", "-k", "2,3", *words)[0] == 0
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    truth = read(tmp_path / "a.json")
    assert {k: len(rows) for k, rows in truth.members().items()} == {2: 8, 3: 7}
    run("simulate", "-o", tmp_path / "c.csv", "--seed", "8")
    assert (tmp_path / "a.csv").read_bytes() != (tmp_path / "c.csv").read_bytes()


def test_simulate_without_a_seed_tells_the_one_it_took(run, tmp_path):
    _, printed, _ = run("simulate", "-o", tmp_path / "a.npy", "--json")
    seed = json.loads(printed)["seed"]
    run("simulate", "-o", tmp_path / "b.npy", "--seed", seed)
    assert (tmp_path / "a.npy").read_bytes() == (tmp_path / "b.npy").read_bytes()
    truth = random_hypergraph(40, 22, 3, random_state=seed)
    assert np.array_equal(np.load(tmp_path / "a.npy"), smooth_signals(truth, 250, random_state=seed))


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".npy", ".npz"])
def test_simulated_signals_are_read_back_exactly(run, tmp_path, ending):
    on = tmp_path / "on.json"
    write(Hypergraph.from_edges([("a", "b"), ("b", "c", "d")]), on)
    out = tmp_path / f"x{ending}"
    run("simulate", "--on", on, "-o", out, "--seed", "3", "--n-observations", "9")
    reference = tmp_path / "y.npy"
    run("simulate", "--on", on, "-o", reference, "--seed", "3", "--n-observations", "9")
    table = read_signals(out)
    assert np.array_equal(table.values, np.load(reference))
    assert table.names == (None if ending in (".npy", ".npz") else ("a", "b", "c", "d"))


def test_compare_selects_and_scores(run, tmp_path):
    truth = Hypergraph.from_edges([(0, 1, 2), (3, 4)], nodes=6)
    found = Hypergraph.from_edges([(0, 1, 2), (3, 4), (4, 5)], [3.0, 2.0, 1.0], nodes=6)
    write(truth, tmp_path / "truth.json")
    write(found, tmp_path / "found.npz")
    status, printed, _ = run("compare", tmp_path / "found.npz", tmp_path / "truth.json")
    assert status == 0
    assert "F1 0.800 (precision 0.667, recall 1.000)" in printed
    assert "2 right, 1 wrong, 0 missed" in printed
    for selection in (["--top", "2"], ["--threshold", "1.5"]):
        _, printed, _ = run("compare", tmp_path / "found.npz", tmp_path / "truth.json", *selection, "--json")
        assert json.loads(printed)["f1"] == 1.0


def test_info_tells_hypergraphs_from_signals(run, signals):
    _, printed, _ = run("info", signals.with_name("truth.json"), "--json")
    figures = json.loads(printed)
    assert (figures["kind"], figures["nodes"], figures["by_cardinality"]) == ("hypergraph", 12, {"3": 6})
    _, printed, _ = run("info", signals, "--json")
    figures = json.loads(printed)
    assert (figures["kind"], figures["nodes"], figures["observations"], figures["missing"]) == ("signals", 12, 60, 0)
    _, printed, _ = run("info", signals.with_name("signals.npy"))
    assert re.search(r"^signals +12 nodes, 60 observations$", printed, re.MULTILINE)


def test_info_of_a_hypergraph_counts_components_and_names_the_heaviest(run, tmp_path):
    H = Hypergraph.from_edges([("a", "b", "c"), ("d", "e")], [0.5, 2.0], nodes=["a", "b", "c", "d", "e", "f"])
    for ending in (".csv", ".npz", ".json"):
        write(H, tmp_path / f"x{ending}")
        _, printed, _ = run("info", tmp_path / f"x{ending}")
        assert "6 nodes, 1 of them isolated, in 3 components" in printed
        assert re.search(r"^heaviest +2  d, e$", printed, re.MULTILINE)


def test_plots_are_written_whole(run, signals):
    truth = signals.with_name("truth.json")
    for words in (
        ["plot", truth, "-o", signals.with_name("a.png")],
        ["plot", truth, "--truth", truth, "-o", signals.with_name("b.pdf"), "--labels", "no", "--seed", "2"],
        ["learn", signals, "--plot", signals.with_name("c.svg")],
        ["compare", truth, truth, "--plot", signals.with_name("d.png")],
    ):
        status, printed, _ = run(*words)
        assert status == 0
        assert str(next(word for word in reversed(words) if "." in str(word))) in printed
    assert signals.with_name("a.png").read_bytes().startswith(b"\x89PNG")
    assert signals.with_name("b.pdf").read_bytes().startswith(b"%PDF")
    assert b"<svg" in signals.with_name("c.svg").read_bytes()


def test_the_demo_leaves_everything_to_look_at(run, tmp_path):
    status, printed, _ = run("demo", "--out", tmp_path / "demo")
    names = {"signals.csv", "truth.json", "learned.json", "learned.png", "comparison.png", "convergence.png"}
    assert status == 0
    assert {path.name for path in (tmp_path / "demo").iterdir()} == names
    score = json.loads(run("compare", tmp_path / "demo/learned.json", tmp_path / "demo/truth.json", "--json")[1])
    assert f"F1 {score['f1']:.3f}" in printed
    assert score["f1"] > 0.9


def test_version_and_help(run):
    import hsls

    assert run("--version") == (0, f"hsls {hsls.__version__}\n", "")
    for words in (["--help"], *([name, "--help"] for name in ["learn", "simulate", "compare", "info", "plot", "demo"])):
        status, printed, complaints = run(*words)
        assert (status, complaints) == (0, "")
        assert printed.startswith("usage: hsls")


def test_main_reads_the_words_of_the_process(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["hsls", "--version"])
    assert main() == 0
    assert capsys.readouterr().out.startswith("hsls ")


def test_learn_certified_says_what_is_proved(run, signals):
    status, printed, _ = run("learn", signals, "--neighbors", "certified", "--alpha", "1")
    assert status == 0
    assert re.search(r"^certificate +optimal among all 286 hyperedges \(\d+ rounds?, ", printed, re.MULTILINE)
    figures = json.loads(run("learn", signals, "--neighbors", "certified", "--json")[1])
    assert figures["certificate"]["complete"] is True
    assert figures["certificate"]["possible"] == 286
    assert json.loads(run("learn", signals, "--json")[1])["certificate"] is None


# -- what learn does by itself, and its methods ------------------------------------------------------------------------


def test_learn_by_itself_is_the_automatic_likelihood_of_centred_signals(run, signals):
    X = read_signals(signals).values
    out = signals.with_name("a.npz")
    status, printed, complaints = run("learn", signals, "-o", out)
    model = HypergraphMLE(centre=True).fit(X)
    assert (status, complaints) == (0, "")
    assert read(out).edges == model.hypergraph_.edges
    assert np.array_equal(read(out).weights, model.hypergraph_.weights)
    told = rf"mle, penalty {re.escape(f'{model.penalty_:.4g}')} chosen by ebic among {len(model.path_)} points, score "
    assert re.search(rf"^method +{told}-?[0-9.]+$", printed, re.MULTILINE)
    assert re.search(r"^candidates +286, all there are$", printed, re.MULTILINE)


def test_levels_of_the_nodes_change_nothing_by_default(run, signals):
    X = read_signals(signals).values
    np.save(signals.with_name("levels.npy"), X + 100.0 * np.arange(len(X))[:, None])
    np.save(signals.with_name("plain.npy"), X)
    edges = {}
    for name in ("levels", "plain"):
        for centre in ([], ["--method", "hsls", "--centre"], ["--no-centre"]):
            out = signals.with_name("out.npz")
            assert run("learn", signals.with_name(f"{name}.npy"), "-o", out, *centre)[0] == 0
            edges[name, *centre] = read(out).edges
    assert edges["levels",] == edges["plain",]
    assert edges["levels", "--method", "hsls", "--centre"] == edges["plain", "--method", "hsls", "--centre"]
    assert edges["levels", "--no-centre"] != edges["plain", "--no-centre"]


@pytest.mark.parametrize("criterion", ["ebic", "cv"])
@pytest.mark.parametrize("method", ["mle", "hsls"])
def test_json_tells_the_choice(run, signals, method, criterion):
    words = ["--method", method, "--criterion", criterion, "--no-centre"]
    status, printed, _ = run("learn", signals, "--json", *words)
    figures = json.loads(printed)
    X = read_signals(signals).values
    model = (
        HypergraphMLE(criterion=criterion) if method == "mle" else HSLS(alpha="auto", criterion=criterion)
    ).fit(X)  # fmt: skip
    path, choice = model.path_, figures["choice"]
    assert status == 0
    assert figures["method"] == method
    assert figures["penalty" if method == "mle" else "alpha"] == (model.penalty_ if method == "mle" else model.alpha_)
    assert figures["hyperedges"] == model.hypergraph_.n_edges
    assert (choice["criterion"], choice["parameter"]) == (criterion, path.parameter)
    assert (choice["points"], choice["chosen"], choice["score"]) == (len(path), path.chosen, path.scores[path.chosen])
    assert choice["hyperedges"] == path.n_hyperedges.tolist()
    assert figures["certified_over_all"] is (method == "mle")


@pytest.mark.parametrize(
    ("words", "model"),
    [
        (["--method", "hsls"], HSLS(alpha="auto")),
        (["--alpha", "auto"], HSLS(alpha="auto")),
        (["--beta", "2", "--neighbors", "certified"], HSLS(neighbors="certified", alpha="auto", beta=2.0)),
        (["--n-hyperedges", "5", "-k", "3"], HSLS(3, n_hyperedges=5)),
        (["--degree", "1.5"], HSLS(degree=1.5)),
        (["--solver", "fbf", "--alpha", "2"], HSLS(alpha=2.0, solver="fbf")),
        (["--penalty", "0.1"], HypergraphMLE(penalty=0.1, centre=True)),
        (["--penalty", "0.1", "--threshold", "0.5"], HypergraphMLE(penalty=0.1, threshold=0.5, centre=True)),
        (["--noise", "0.001", "--no-centre"], HypergraphMLE(noise=0.001)),
        (["--method", "mle", "--neighbors", "4"], HypergraphMLE(neighbors=4, centre=True)),
    ],
)
def test_options_choose_the_method_and_reach_it(run, signals, words, model):
    out = signals.with_name("a.npz")
    assert run("learn", signals, "-o", out, *words)[0] == 0
    expected = model.fit(read_signals(signals).values).hypergraph_
    assert read(out).edges == expected.edges
    assert np.array_equal(read(out).weights, expected.weights)


def test_the_path_of_the_choice_is_drawn(run, signals):
    picture = signals.with_name("path.png")
    for words in ([], ["--method", "hsls"], ["--degree", "1"]):
        picture.unlink(missing_ok=True)
        status, printed, _ = run("learn", signals, "--path-plot", picture, *words)
        assert status == 0
        assert re.search(rf"^written +{re.escape(str(picture))}$", printed, re.MULTILINE)
        assert picture.read_bytes().startswith(b"\x89PNG")


def test_beyond_the_limit_hsls_takes_over_and_says_so(run, signals, monkeypatch):
    monkeypatch.setattr("hsls.cli._method.LARGEST", 11)
    X = read_signals(signals).values
    centred = X - X.mean(axis=1, keepdims=True)
    out = signals.with_name("a.npz")
    for words, Y in (([], centred), (["--method", "hsls"], X)):
        for quiet in ([], ["--quiet"], ["--json"]):
            status, _, complaints = run("learn", signals, "-o", out, *words, *quiet)
            assert status == 0
            assert complaints.startswith(
                "hsls: note: there are 12 nodes, and the likelihood takes long for more than 11"
            )
            assert complaints.count("\n") == 1
        assert read(out).edges == HSLS().fit(Y).hypergraph_.edges
    for words in (["--method", "mle"], ["--penalty", "auto"], ["--alpha", "auto"], ["--alpha", "2"], ["--degree", "1"]):
        assert run("learn", signals, "-o", out, *words)[2] == ""


def test_resamples_and_windows_are_learned_by_the_same_method(run, signals):
    X, out = read_signals(signals), signals.with_name("a.csv")
    assert run("learn", signals, "-k", "3", "-o", out, "--stability", "4", "--seed", "1")[0] == 0
    expected = stability(HypergraphMLE(3, centre=True).fit(X), X, 4, random_state=1)
    assert np.array_equal(read(out).frequencies, expected.frequencies)
    figures = json.loads(run("learn", signals, "-k", "3", "--window", "30", "--json")[1])
    expected = windows(HypergraphMLE(3, centre=True), X, 30)
    assert [window["hyperedges"] for window in figures["windows"]] == [H.n_edges for H in expected.hypergraphs]
