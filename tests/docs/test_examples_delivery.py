"""The examples of docs/how-to/delivery are run."""

from docs.examples import test_a_page_shows_what_happens

__all__ = ["test_a_page_shows_what_happens"]
