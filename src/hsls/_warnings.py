"""Warnings that callers may want to filter by class."""


class ConvergenceWarning(UserWarning):
    """A solver stopped before the wanted accuracy; the message names what was reached and what to try."""
