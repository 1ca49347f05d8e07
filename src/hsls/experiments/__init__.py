"""The experiments: thin scripts over the public API, each a room with `run`, which writes into a folder.

An experiment returns what it found as plain values and writes numbers (JSON and CSV), figures (PNG and PDF) and a
report in Markdown. They hold no mathematics of their own.
"""
