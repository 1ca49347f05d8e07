"""Pictures of hypergraphs, of how they change and of convergence, with matplotlib.

Drawings take `ax=` and return the Axes. Without `ax` they make a figure that pyplot does not know of: it needs
no display and nothing has to be closed.
"""

from __future__ import annotations

from hsls.drawing.comparison import draw_comparison
from hsls.drawing.convergence import draw_convergence
from hsls.drawing.hypergraph import draw
from hsls.drawing.layout import layout
from hsls.drawing.path import draw_path
from hsls.drawing.save import save
from hsls.drawing.timeline import draw_timeline

__all__ = ["draw", "draw_comparison", "draw_convergence", "draw_path", "draw_timeline", "layout", "save"]
