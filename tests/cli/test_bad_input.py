"""Bad input: one clear sentence on standard error, exit status 2, nothing written."""

import pickle

import numpy as np
import pytest
import scipy.io

from hsls import Hypergraph, write

GOOD = "a,1.5,2,3\nb,2,3,1\nc,0,1,2\nd,5,4,3\n"


def contents(folder):
    """Every file with its bytes, and every folder."""
    return {path: path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


@pytest.fixture
def refused(run, tmp_path, monkeypatch):
    """Run a command in a folder of its own; it must be refused and leave the folder as it was."""
    monkeypatch.chdir(tmp_path)

    def command(*words):
        before = contents(tmp_path)
        status, printed, complaint = run(*words)
        assert (status, printed) == (2, "")
        assert complaint.startswith("hsls: error: ")
        assert complaint.count("\n") == 1
        assert complaint.rstrip().endswith((".", "."))
        assert contents(tmp_path) == before
        return complaint.removeprefix("hsls: error: ").rstrip()

    return command


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is an empty file"),
        ("\n\n", "holds no"),
        ("1,2,3\n4,5\n", "row 2"),
        ("a,1,2\nb,1,x\nc,2,3\n", "'x'"),
        ("1,2\n3,inf\n4,5\n", "infinite value"),
        ("a,1,2\nb,,\nc,3,4\n", "no observation"),
        ("1,2,3\n", "at least 2 nodes"),
        ("a,1,2\na,3,4\nb,5,6\n", "'a'"),
    ],
)
def test_tables_that_are_no_signals(refused, tmp_path, content, message):
    (tmp_path / "x.csv").write_text(content)
    complaint = refused("learn", "x.csv", "-o", "out.json")
    assert message in complaint


def test_a_text_cell_is_named_by_row_and_column(refused, tmp_path):
    (tmp_path / "x.csv").write_text("node,t0,t1\na,1,2\nb,1,oops\nc,2,3\n")
    complaint = refused("learn", "x.csv", "-o", "out.json")
    assert "oops" in complaint
    assert "row 3" in complaint or "line 3" in complaint
    assert "column 3" in complaint


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["-k", "1"], "cardinalities must be at least 2, got 1."),
        (["-k", "5"], "cardinalities holds 5, but there are only 4 nodes; leave it out."),
        (["-k", "two"], "-k/--cardinalities: must be whole numbers parted by commas, such as 2,3; got 'two'"),
        (["-k", "4", "-r", "2"], "neighbors is 2, but a hyperedge of 4 nodes needs at least 3; raise it."),
        (["-r", "4"], "neighbors is 4, but each of the 4 nodes has only 3 others; lower neighbors."),
        (["-r", "3,3,3"], "neighbors holds 3 numbers for 2 cardinalities; give one for each."),
        (["--alpha", "0"], "alpha must be a finite number above 0, got 0.0."),
        (["--beta", "-1"], "beta must be a finite number above 0, got -1.0."),
        (["--beta", "nan"], "beta must be a finite number above 0, got nan."),
        (["--tol", "0"], "tol must be a finite number above 0, got 0.0."),
        (["--max-iter", "0"], "max_iter must be at least 1, got 0."),
        (["--threshold", "-1", "--alpha", "1"], "threshold must be a finite number, 0 or more, got -1.0."),
        (["--scale", "huge"], "scale (None, a number above 0, or a name) must be one of"),
        (["--variation", "min-square"], "variation must be one of sum-square, sum-absolute, max-square, max-absolute"),
        (["--solver", "magic"], "solver must be one of 'newton', 'fbf'; got 'magic'."),
        (["--stability", "0"], "n_resamples must be at least 1, got 0."),
        (["--stability", "9", "--stability-block", "9"], "too few to draw some from in blocks of 9; lower block."),
        (["--stability-block", "2"], "--stability-block is for --stability; give both or leave it out."),
        (["--step", "2"], "--step is for --window; give both or leave it out."),
        (["--stability", "9", "--window", "2"], "--stability and --window exclude one another; leave one out."),
        (["--window", "99"], "a window of 99 observations is longer than the series of"),
        (["--balance", "0.1"], "--balance is for --solver fbf, but the solver is newton; leave it out."),
        (["--method", "magic"], "--method must be one of 'mle', 'hsls'; got 'magic'."),
        (["--method", "mle", "--alpha", "1"], "--alpha is for --method hsls, but the method is mle; leave one out."),
        (["--method", "mle", "--solver", "fbf"], "--solver is for --method hsls, but the method is mle; leave one out"),
        (["--method", "mle", "--n-hyperedges", "3"], "--n-hyperedges is for --method hsls, but the method is mle;"),
        (["--method", "hsls", "--noise", "1"], "--noise is for --method mle, but the method is hsls; leave one out."),
        (["--beta", "1", "--penalty", "1"], "--beta is for --method hsls and --penalty for --method mle; leave one"),
        (["--method", "mle", "-r", "certified"], "--neighbors certified is for --method hsls; for mle use 'all', a"),
        (["-r", "certified", "--noise", "1"], "--neighbors certified is for --method hsls and --noise for --method m"),
        (["--alpha", "some"], "--alpha: must be a number or 'auto', got 'some'"),
        (["--penalty", "-1"], "penalty must be a finite number above 0, got -1.0."),
        (["--noise", "-1"], "noise must be a finite number, 0 or more, got -1.0."),
        (["--criterion", "aic"], "criterion must be one of 'ebic', 'cv'; got 'aic'."),
        (["--criterion", "cv"], "criterion 'cv' with 5 folds needs as many observations, but there are 3; lower folds"),
        (["--criterion", "cv", "--alpha", "1"], "--criterion is for an automatic choice, but --alpha with a number"),
        (["--criterion", "cv", "--degree", "1"], "--criterion is for an automatic choice, but --degree leaves it"),
        (["--degree", "1", "--n-hyperedges", "3"], "alpha='auto', degree and n_hyperedges exclude one another; give"),
        (["--alpha", "auto", "--degree", "1"], "alpha='auto', degree and n_hyperedges exclude one another; give one"),
        (["--degree", "0"], "degree must be a finite number above 0, got 0.0."),
        (["--threshold", "1"], "--threshold is for a number as --penalty, but an automatic choice finds how many"),
        (["--path-plot", "p.png", "--alpha", "1"], "--path-plot draws the path of a choice, but --alpha with a number"),
        (["--path-plot", "p.bmp"], "a drawing is written as one of .png, .pdf, .svg"),
        (["--path-plot", "p.png", "--plot", "p.png"], "is given both as the drawing and as the drawing of the path"),
        (["--memory-budget", "lots"], "--memory-budget: must be a size such as 4GiB or 500MB, or 'none'; got 'lots'"),
        (["--memory-budget", "10B"], "candidates would take"),
        (["--jobs", "0"], "n_jobs"),
        (["--nodes", "both"], "nodes must be one of 'rows', 'columns'; got 'both'."),
        (["--observation-weights", "x.csv"], "must be a single row or column"),
        (["--candidates", "none.json"], "there is no such file"),
        (["--aplha", "2"], "there is no option --aplha, did you mean --alpha?; see 'hsls learn --help'."),
        (["more"], "'more' is one argument too many; see 'hsls learn --help'."),
        (["-o", "out.txt"], "must end in one of .json, .hif, .npz, .csv"),
        (["-o", "out"], "has no ending"),
        (["-o", "x.csv"], "is given both as the signals and as the hypergraph"),
        (["-o", "no/such/out.json"], "does not exist; create it first."),
        (["--plot", "out.bmp"], "a drawing is written as one of .png, .pdf, .svg"),
    ],
)
def test_options_of_learn(refused, tmp_path, words, message):
    (tmp_path / "x.csv").write_text(GOOD)
    out = [] if "-o" in words else ["-o", "out.json"]
    assert message in refused("learn", "x.csv", *out, *words)


def test_centring_of_one_observation(refused, run, tmp_path):
    (tmp_path / "x.csv").write_text("a,1.5\nb,2\nc,0\nd,5\n")
    assert refused("learn", "x.csv", "--centre") == "--centre leaves nothing of 1 observation; leave it out."
    assert run("learn", "x.csv")[0] == 0


@pytest.mark.parametrize("words", [["--criterion", "ebic"], ["--path-plot", "p.png"]])
def test_a_choice_beyond_the_limit_is_asked_for(refused, tmp_path, monkeypatch, words):
    monkeypatch.setattr("hsls.cli._method.LARGEST", 3)
    (tmp_path / "x.csv").write_text(GOOD)
    complaint = refused("learn", "x.csv", *words)
    assert complaint.startswith(
        f"{words[0]} is for a choice by the data, which for more than 3 nodes (there are 4) has"
    )
    assert complaint.endswith("give --method mle or --alpha auto.")


def test_files_that_are_not_there_or_not_files(refused, tmp_path):
    assert refused("learn", "none.csv") == "none.csv: there is no such file; check its name and folder."
    (tmp_path / "folder.csv").mkdir()
    assert refused("learn", "folder.csv") == "folder.csv is a folder; name a file inside it."
    (tmp_path / "x.xlsx").write_bytes(b"PK")
    assert "signals are read from .csv, .tsv" in refused("learn", "x.xlsx")


def test_an_output_folder_that_cannot_be_written(refused, tmp_path, monkeypatch):
    (tmp_path / "x.csv").write_text(GOOD)
    monkeypatch.setattr("hsls._files.os.access", lambda path, mode: str(path).endswith("x.csv"))
    assert refused("learn", "x.csv", "-o", "out.json") == "out.json cannot be written: permission denied."


@pytest.mark.parametrize("ending", [".npy", ".npz"])
def test_a_pickle_posing_as_numpy_is_not_loaded(refused, tmp_path, ending):
    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "trapped"), "w"))

    (tmp_path / f"x{ending}").write_bytes(pickle.dumps(Trap()))
    assert "pickle" in refused("learn", f"x{ending}") or "damaged" in refused("learn", f"x{ending}")
    np.save(tmp_path / "y.npy", np.array([Trap()], dtype=object), allow_pickle=True)
    assert "pickled Python objects, which are never loaded" in refused("learn", "y.npy")
    assert not (tmp_path / "trapped").exists()


def test_several_arrays_need_a_choice(refused, run, tmp_path):
    X = np.arange(12.0).reshape(4, 3) % 5
    np.savez(tmp_path / "x.npz", A=X, B=X)
    scipy.io.savemat(tmp_path / "x.mat", {"A": X, "B": X})
    for name in ("x.npz", "x.mat"):
        assert "A" in refused("learn", name)
        assert run("learn", name, "--variable", "A")[0] == 0


def test_malformed_hif_says_where(refused, tmp_path):
    (tmp_path / "x.json").write_text('{"incidences": [{"edge": "e", "node": "a"}, {"edge": "e"}]}')
    complaint = refused("info", "x.json")
    assert "x.json" in complaint
    assert "incidences" in complaint
    assert "1" in complaint
    (tmp_path / "y.json").write_text('{"incidences": [')
    assert "y.json" in refused("info", "y.json")


def test_candidates_out_of_range_repeated_or_strange(refused, tmp_path):
    (tmp_path / "x.csv").write_text(GOOD)
    write(Hypergraph.from_edges([("a", "z")]), tmp_path / "c.json")
    assert "holds the node 'z', but the signals have none of that name" in refused(
        "learn", "x.csv", "--candidates", "c.json"
    )
    (tmp_path / "c.csv").write_text("hyperedge,node,weight\n0,a,1\n0,b,1\n1,a,1\n1,a,1\n")
    complaint = refused("learn", "x.csv", "--candidates", "c.csv")
    assert "lists the node 'a' more than once" in complaint
    (tmp_path / "d.csv").write_text("hyperedge,node,weight\n0,a,1\n")
    assert "single node" in refused("learn", "x.csv", "--candidates", "d.csv")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "the following arguments are required: COMMAND"),
        (["lern"], "invalid choice: 'lern'"),
        (["simulate"], "the following arguments are required: -o/--out"),
        (["simulate", "-o", "x.xls"], "a file of signals must end in one of .csv, .tsv, .npy, .npz."),
        (["simulate", "-o", "x.csv", "--n-nodes", "1"], "n_nodes must be at least 2, got 1."),
        (["simulate", "-o", "x.csv", "--n-edges", "3"], "too few to cover 40"),
        (["simulate", "-o", "x.csv", "--seed", "-1"], "--seed must be at least 0, got -1."),
        (["simulate", "-o", "x.csv", "--on", "h.json", "--n-nodes", "9"], "--n-nodes is for a random hypergraph"),
        (["simulate", "-o", "x.csv", "--truth", "x.csv"], "is given both as the signals and as the hypergraph"),
        (["compare", "h.json", "other.json"], "node"),
        (["compare", "h.json", "h.json", "--top", "-1"], "--top must be at least 0, got -1."),
        (["plot", "h.json", "-o", "p.png", "--labels", "some"], "--labels must be one of 'auto', 'yes', 'no'"),
        (["plot", "h.json", "-o", "h.json"], "is given both as the hypergraph and as the picture"),
        (["info", "s.csv", "--top", "3"], "--top is for hypergraphs, but s.csv holds signals; leave it out."),
        (["demo", "--out", "no/such"], "--out: the folder no does not exist; create it first."),
        (["demo", "--out", "s.csv"], "--out: s.csv cannot be made a folder"),
    ],
)
def test_the_other_commands(refused, tmp_path, words, message):
    write(Hypergraph.from_edges([("a", "b")]), tmp_path / "h.json")
    write(Hypergraph.from_edges([("a", "c")]), tmp_path / "other.json")
    (tmp_path / "s.csv").write_text(GOOD)
    assert message in refused(*words)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "the following arguments are required: EXPERIMENT"),
        (["voltage", "--out", "new"], "invalid choice: 'voltage'"),
        (["overlap"], "the following arguments are required: --out"),
        (["overlap", "--out", "new", "--seeds", "0"], "--seeds must be at least 1, got 0."),
        (["overlap", "--out", "new", "--seeds", "few"], "--seeds: must be a whole number, got 'few'"),
        (["overlap", "--out", "new", "--jobs", "0", "--data", "."], "n_jobs must be a whole number other than 0"),
        (["overlap", "--out", "new", "--data", "none"], "data names none, which is no folder; name the one that holds"),
        (
            ["coauthorship", "--out", "new", "--data", "s.csv"],
            "data names s.csv, which is no folder; name the one that",
        ),
        (
            ["mortality", "--out", "new", "--data", "none"],
            "data names none, which is no folder; name the one that holds",
        ),
        (["mortality", "--out", "s.csv"], "s.csv cannot be made a folder: s.csv is no folder."),
        (["mortality", "--out", "s.csv/deeper"], "s.csv/deeper cannot be made a folder: "),
        (["all", "--out", "new", "--page", "."], ". cannot be written: it is a folder; add a file name."),
        (["all", "--out", "new", "--page", "s.csv/p.md"], "s.csv cannot be made a folder"),
        (["all", "--out", "new", "--data", "none"], "data names none, which is no folder; name the one that holds"),
    ],
)
def test_reproduce(refused, tmp_path, words, message):
    (tmp_path / "s.csv").write_text(GOOD)
    jobs = ["--jobs", "1"] if words and "--jobs" not in words else []
    assert message in refused("reproduce", *words, *jobs)


def test_reproduce_refuses_a_wrong_file_of_data(refused, tmp_path):
    (tmp_path / "coauthorship-dblp.pickle").write_bytes(b"something else")
    complaint = refused("reproduce", "overlap", "--out", "new", "--data", ".", "--jobs", "1")
    assert "coauthorship-dblp.pickle is not the file that is expected there (its SHA-256 begins " in complaint


@pytest.mark.parametrize("out", ["there", "there/new"])
def test_reproduce_into_a_folder_that_cannot_be_written(refused, tmp_path, monkeypatch, out):
    (tmp_path / "there").mkdir()
    monkeypatch.setattr("hsls.experiments._outputs.os.access", lambda path, mode: False)
    assert refused("reproduce", "mortality", "--out", out) == f"{out} cannot be written: permission denied."
