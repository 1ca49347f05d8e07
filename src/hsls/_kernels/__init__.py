"""Compiled functions on flat arrays. They check nothing, know no classes and import nothing above them."""
