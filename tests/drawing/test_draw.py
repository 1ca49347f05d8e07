"""Drawings of hypergraphs: what is on the axes, and what is left elsewhere (nothing)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

import hsls
from hsls import Hypergraph, draw, draw_comparison, random_hypergraph
from hsls.drawing import save
from hsls.drawing._colours import BLUE, GREEN, PALETTE, VERMILLION, colour_numbers
from hsls.drawing._labels import place

CHAIN = Hypergraph.from_edges([(0, 1, 2), (2, 3, 4), (4, 5), (5, 6, 7, 8)], weights=[1.0, 2.0, 3.0, 4.0], nodes=10)
AT = np.array([(0, 0), (0, 2), (1, 1), (2, 2), (3, 1), (4, 1), (5, 0), (5, 2), (6, 1), (3, -1)], dtype=float)


@pytest.fixture(autouse=True)
def no_figures_left_in_pyplot():
    before = pyplot.get_fignums()
    yield
    assert pyplot.get_fignums() == before


def hulls(ax):
    return [patch for patch in ax.patches if isinstance(patch, Polygon)]


def names(ax):
    return [text.get_text() for text in ax.texts]


# -- hulls -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_edges", [0, 1, 4])
def test_there_is_one_hull_for_each_hyperedge_and_one_dot_for_each_node(n_edges):
    ax = draw(CHAIN.top(n_edges), pos=AT)
    assert len(hulls(ax)) == n_edges
    np.testing.assert_array_equal(ax.lines[0].get_xydata(), AT)


def test_each_hull_holds_its_nodes_and_no_others():
    ax = draw(CHAIN, pos=AT)
    for edge, hull in zip(CHAIN.edges, hulls(ax), strict=True):
        inside = hull.get_path().contains_points(AT)
        assert tuple(np.flatnonzero(inside)) == edge


def test_hulls_that_share_a_node_have_different_colours():
    H = random_hypergraph(40, 25, 3, random_state=1)
    ax = draw(H, pos=hsls.drawing.layout(H))
    colours = [to_hex(hull.get_facecolor()) for hull in hulls(ax)]
    pairs = [(i, j) for i in range(25) for j in range(i) if set(H.edges[i]) & set(H.edges[j])]
    assert len(pairs) > 10
    assert all(colours[i] != colours[j] for i, j in pairs)


def test_outlines_that_meet_differ_as_far_as_the_palette_goes():
    squares = [np.array([(x, 0), (x + 1.5, 0), (x + 1.5, 1), (x, 1)]) for x in range(10)]
    numbers = colour_numbers(squares, PALETTE[:2])
    assert np.all(numbers[1:] != numbers[:-1])
    together = [squares[0] + 0.01 * i for i in range(len(PALETTE))]
    assert sorted(colour_numbers(together)) == list(range(len(PALETTE)))


def test_larger_hulls_lie_behind_smaller_ones():
    H = Hypergraph.from_edges([(0, 1), (0, 1, 2), (0, 1, 2, 3)])
    ax = draw(H, pos=[(0, 0), (1, 0), (1, 1), (0, 2)])
    orders = [hull.get_zorder() for hull in hulls(ax)]
    assert orders[0] > orders[1] > orders[2]
    assert ax.lines[0].get_zorder() > orders[0]  # nodes on top


def test_heavier_hyperedges_are_fuller_and_have_wider_outlines():
    shown = hulls(draw(CHAIN, pos=AT))
    opacities = [hull.get_facecolor()[3] for hull in shown]
    widths = [hull.get_linewidth() for hull in shown]
    by_weight = np.argsort(CHAIN.weights)
    assert np.all(np.diff(np.array(opacities)[by_weight]) > 0)
    assert np.all(np.diff(np.array(widths)[by_weight]) > 0)
    assert 0 < min(opacities) < max(opacities) < 0.7  # translucent


@pytest.mark.parametrize(("H", "weights"), [(CHAIN, False), (CHAIN.binary(), True)])
def test_without_weights_or_with_equal_ones_all_hulls_are_alike(H, weights):
    shown = hulls(draw(H, pos=AT, weights=weights))
    assert len({hull.get_facecolor()[3] for hull in shown}) == 1
    assert len({hull.get_linewidth() for hull in shown}) == 1


def test_weights_of_zero_and_coincident_nodes_are_drawn():
    H = Hypergraph.from_edges([(0, 1), (1, 2, 3)], weights=[0, 0])
    ax = draw(H, pos=np.zeros((4, 2)))
    ax.figure.draw_without_rendering()
    assert len(hulls(ax)) == 2


def test_the_pixels_inside_a_hull_have_its_colour_over_white():
    ax = draw(Hypergraph.from_edges([(0, 1, 2)]), pos=[(0, 0), (4, 0), (2, 3)], labels=False)
    ax.figure.canvas.draw()
    pixels = np.asarray(ax.figure.canvas.buffer_rgba())
    x, y = ax.transData.transform((2, 1)).astype(int)
    *colour, opacity = hulls(ax)[0].get_facecolor()
    wanted = 255 * (opacity * np.array(colour) + 1 - opacity)
    np.testing.assert_allclose(pixels[pixels.shape[0] - y, x, :3], wanted, atol=3)
    np.testing.assert_array_equal(pixels[2, 2, :3], 255)


def test_everything_drawn_is_within_the_axes_in_equal_scale():
    ax = draw(CHAIN, pos=AT)
    ax.figure.draw_without_rendering()
    frame = ax.get_window_extent()
    for artist in [*hulls(ax), *ax.texts]:
        box = artist.get_window_extent()
        assert frame.x0 - 1 <= box.x0 <= box.x1 <= frame.x1 + 1
        assert frame.y0 - 1 <= box.y0 <= box.y1 <= frame.y1 + 1
    one_right, one_up = ax.transData.transform([(1, 0), (0, 1)]) - ax.transData.transform((0, 0))
    assert one_right[0] == pytest.approx(one_up[1])


def test_lines_show_how_often_a_hyperedge_was_found():
    ax = draw(CHAIN.with_frequencies([1.0, 0.2, 0.9, 0.5]), pos=AT)
    assert [hull.get_linestyle() for hull in hulls(ax)] == ["solid", "dotted", "solid", "dashed"]
    legend = ax.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["90 % and more: 2", "50 to 90 %: 1", "less: 1"]
    assert legend.get_title().get_text() == "found again in resamples"
    ax.figure.draw_without_rendering()
    low = min(hull.get_window_extent().y0 for hull in hulls(ax))
    assert legend.get_window_extent().y1 <= low + 1  # it covers nothing
    assert draw(CHAIN, pos=AT).get_legend() is None
    assert draw(CHAIN.top(0).with_frequencies([]), pos=AT).get_legend() is None


# -- names -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["$x^2$", "_a", "\\frac{1}{2}", "$\\nosuch{$", "a$b", "%", "&<>", "{", "^_"])
def test_names_are_written_literally(name, tmp_path):
    ax = draw(Hypergraph.from_edges([(name, "other")]), pos=[(0, 0), (1, 0)])
    assert names(ax) == [name, "other"]
    assert not ax.texts[0].get_parse_math()
    assert not ax.texts[0].get_usetex()
    save(ax, tmp_path / "picture.svg")  # mathematics that does not parse would fail here


def test_no_name_is_read_as_mathematics_when_pixels_are_made():
    def pixels(name):
        ax = draw(Hypergraph.from_edges([(name, "b")]), pos=[(0, 0), (1, 0)])
        ax.figure.canvas.draw()
        return ax.texts[0].get_window_extent().width

    assert pixels("$xxxx$") > pixels("xxxx") + 5  # the dollars are there


def test_a_line_break_in_a_name_does_not_break_the_line():
    ax = draw(Hypergraph.from_edges([("a\nb\tc", "d")]), pos=[(0, 0), (1, 0)])
    assert names(ax) == ["a b c", "d"]


def test_auto_writes_up_to_60_names():
    for n, written in ((60, 60), (61, 0)):
        H = Hypergraph.from_edges([], nodes=n)
        assert len(names(draw(H))) == written
        assert len(names(draw(H, labels=True))) == n
        assert names(draw(H, labels=False)) == []


def test_auto_leaves_names_out_where_the_axes_are_too_small_for_them():
    figure = Figure(figsize=(0.8, 0.8))
    H = Hypergraph.from_edges([], nodes=60)
    assert names(draw(H, ax=figure.add_subplot())) == []


@pytest.mark.parametrize("width", [3.4, 6.8])
def test_names_cover_neither_their_nodes_nor_one_another(width):
    H = random_hypergraph(40, 22, 3, random_state=0)
    figure = Figure(figsize=(width, 0.75 * width))
    ax = draw(H, ax=figure.add_axes((0, 0, 1, 1)))
    figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.texts]
    at = ax.transData.transform(ax.lines[0].get_xydata())
    assert len(boxes) == 40
    for box in boxes:
        # The extent of a text includes empty room above and below its ink.
        ink = box.expanded(0.9, 0.6)
        assert not any(ink.contains(x, y) for x, y in at)
    overlaps = sum(a.expanded(0.9, 0.6).overlaps(b.expanded(0.9, 0.6)) for i, a in enumerate(boxes) for b in boxes[:i])
    assert overlaps == 0


def test_names_stand_clear_of_discs_where_there_is_room():
    nodes = np.array([(0.0, 0.0), (40.0, 0.0), (0.0, 40.0)])
    sizes = np.array([(10.0, 6.0), (20.0, 6.0), (5.0, 6.0)])
    centres = place(nodes, sizes, 3.0, nodes.mean(axis=0, keepdims=True) * np.ones((3, 1)))
    beyond = np.maximum(np.abs(centres[:, None] - nodes[None]) - sizes[:, None] / 2, 0)
    assert np.linalg.norm(beyond, axis=2).min() >= 3.0


# -- axes, positions, bad input ----------------------------------------------------------------------------


def test_the_users_axes_are_used_and_returned():
    figure, axes = pyplot.subplots(1, 2)
    try:
        assert draw(CHAIN, pos=AT, ax=axes[1]) is axes[1]
        assert draw_comparison(CHAIN, CHAIN, pos=AT, ax=axes[0]) is axes[0]
        assert len(hulls(axes[0])) == len(hulls(axes[1])) == 4
    finally:
        pyplot.close(figure)


def test_axes_of_a_subfigure_will_do(tmp_path):
    ax = Figure().subfigures(1, 2)[1].subplots()
    assert draw(CHAIN, pos=AT, ax=ax) is ax
    save(ax, tmp_path / "both.png")
    assert (tmp_path / "both.png").stat().st_size > 0


def test_drawing_and_saving_need_neither_pyplot_nor_a_display(tmp_path):
    code = """
import sys, hsls.drawing
assert "matplotlib" not in sys.modules
H = hsls.Hypergraph.from_edges([(0, 1)])
hsls.drawing.save(hsls.draw(H, pos=[(0, 0), (1, 0)]), sys.argv[1])
assert "matplotlib.pyplot" not in sys.modules
"""
    path = tmp_path / "picture.png"
    environment = {key: value for key, value in os.environ.items() if key != "DISPLAY"}
    subprocess.run([sys.executable, "-c", code, str(path)], check=True, env=environment)
    assert path.read_bytes().startswith(b"\x89PNG")


def test_positions_may_be_given_by_name():
    by_name = {name: tuple(at) for name, at in zip(CHAIN.nodes, AT, strict=True)}
    ax = draw(CHAIN, pos=by_name)
    np.testing.assert_array_equal(ax.lines[0].get_xydata(), AT)


@pytest.mark.parametrize(
    ("pos", "message"),
    [
        (AT[:5], r"pos must have shape \(10, 2\)"),
        (np.zeros((10, 3)), r"pos must have shape \(10, 2\)"),
        ([], r"pos must have shape \(10, 2\)"),
        ([("a", "b")] * 10, "two numbers"),
        (np.where(AT == 6, np.nan, AT), "that of node '8' is not"),
        ({"0": (0, 0)}, "no position for node '1'"),
    ],
)
def test_positions_that_do_not_fit_are_refused(pos, message):
    with pytest.raises(ValueError, match=message):
        draw(CHAIN, pos=pos)


def test_what_is_no_hypergraph_axes_or_labels_is_refused():
    with pytest.raises(TypeError, match="H must be a Hypergraph"):
        draw([(0, 1)])
    with pytest.raises(TypeError, match="ax must be matplotlib Axes"):
        draw(CHAIN, pos=AT, ax=Figure())
    with pytest.raises(ValueError, match="labels must be"):
        draw(CHAIN, pos=AT, labels="all")


def test_without_matplotlib_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for act in (lambda: draw(CHAIN), lambda: draw_comparison(CHAIN, CHAIN), lambda: save(None, "a.png")):
        with pytest.raises(ImportError, match=r'pip install "hsls\[draw\]"'):
            act()


@pytest.mark.parametrize("H", [Hypergraph.from_edges([], nodes=0), Hypergraph.from_edges([(0,)]), CHAIN.top(0)])
def test_degenerate_hypergraphs_are_drawn(H, tmp_path):
    for number, ax in enumerate((draw(H), draw_comparison(H, H))):
        save(ax, tmp_path / f"{number}.png")
        assert len(hulls(ax)) == H.n_edges
        assert names(ax) == list(H.nodes)


# -- comparison --------------------------------------------------------------------------------------------

TRUTH = Hypergraph.from_edges([("a", "b", "c"), ("c", "d"), ("d", "e", "f"), ("a", "f")])
FOUND = Hypergraph.from_edges([("c", "b", "a"), ("e", "d", "f"), ("a", "e")], nodes=["f", "e", "d", "c", "b", "a"])


def by_colour(ax):
    shown = [(to_hex(hull.get_edgecolor()).upper(), hull.get_linestyle()) for hull in hulls(ax)]
    return {key: shown.count(key) for key in shown}


def test_right_wrong_and_missed_differ_in_colour_and_line_style():
    ax = draw_comparison(FOUND, TRUTH)
    assert by_colour(ax) == {(GREEN, "solid"): 2, (VERMILLION, "dashed"): 1, (BLUE, "dotted"): 2}


def test_each_hyperedge_has_the_style_of_its_kind_at_its_nodes():
    at = dict(zip("abcdef", [(0, 0), (1, 0), (2, 0), (2, 2), (1, 3), (0, 2)], strict=True))
    ax = draw_comparison(FOUND, TRUTH, pos=at)
    wrong = next(hull for hull in hulls(ax) if hull.get_linestyle() == "dashed")
    assert [name for name in at if wrong.get_path().contains_point(at[name])] == ["a", "e"]


def test_the_legend_gives_counts_and_the_f1_of_the_metrics():
    legend = draw_comparison(FOUND, TRUTH).get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["right 2", "wrong 1", "missed 2"]
    assert legend.get_title().get_text() == f"F1 {hsls.compare(FOUND, TRUTH).f1:.2f}" == "F1 0.57"
    assert [to_hex(handle.get_edgecolor()).upper() for handle in legend.get_patches()] == [GREEN, VERMILLION, BLUE]


@pytest.mark.parametrize("width", [2.6, 3.4, 6.8])
def test_the_legend_covers_no_hull_and_stays_in_the_figure(width):
    figure = Figure(figsize=(width, 0.75 * width), dpi=150)
    ax = draw_comparison(FOUND, TRUTH, ax=figure.add_axes((0, 0, 1, 1)))
    figure.draw_without_rendering()
    box = ax.get_legend().get_window_extent()
    assert box.y1 <= min(hull.get_window_extent().y0 for hull in hulls(ax))
    assert 0 <= box.x0 < box.x1 <= figure.bbox.x1
    assert box.y0 + 1 >= 0


@pytest.mark.parametrize(
    ("found", "truth", "kinds"),
    [(TRUTH, TRUTH, (4, 0, 0)), (TRUTH.top(0), TRUTH, (0, 0, 4)), (TRUTH, TRUTH.top(0), (0, 4, 0))],
)
def test_all_right_all_missed_all_wrong(found, truth, kinds):
    legend = draw_comparison(found, truth).get_legend()
    assert tuple(int(text.get_text().split()[1]) for text in legend.get_texts()) == kinds


def test_hypergraphs_on_different_nodes_are_not_compared():
    with pytest.raises(ValueError, match="node"):
        draw_comparison(Hypergraph.from_edges([("a", "x")], nodes=["a", "b", "c", "d", "e", "x"]), TRUTH)


# -- files -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ending", "start"), [(".png", b"\x89PNG"), (".pdf", b"%PDF"), (".SVG", b"<?xml")])
def test_the_ending_chooses_the_format_and_the_bytes_repeat(ending, start, tmp_path):
    paths = [tmp_path / f"{name}{ending}" for name in "ab"]
    for path in paths:
        save(draw(CHAIN, pos=AT), path)
    assert paths[0].read_bytes().startswith(start)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_figures_are_saved_as_well_as_axes(tmp_path):
    ax = draw(CHAIN, pos=AT)
    save(ax, tmp_path / "a.png")
    save(ax.figure, str(tmp_path / "b.png"))
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


@pytest.mark.parametrize("name", ["picture.bmp", "picture", "picture.png.txt"])
def test_an_unknown_ending_is_refused_and_nothing_written(name, tmp_path):
    with pytest.raises(ValueError, match=r"one of \.png, \.pdf, \.svg"):
        save(draw(CHAIN, pos=AT), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_save_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "picture.png"
    path.write_bytes(b"old")

    def interrupted(self, file, **kwargs):
        Path(file).write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(matplotlib.figure.Figure, "savefig", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save(draw(CHAIN, pos=AT), path)
    assert [file.name for file in tmp_path.iterdir()] == ["picture.png"]
    assert path.read_bytes() == b"old"


def test_only_drawings_are_saved(tmp_path):
    with pytest.raises(TypeError, match="drawing must be matplotlib Axes or a Figure"):
        save(CHAIN, tmp_path / "a.png")
