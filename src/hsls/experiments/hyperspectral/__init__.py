"""Superpixels of a hyperspectral scene, classified by way of hypergraphs (the paper's section V-C)."""
