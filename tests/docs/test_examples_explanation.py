"""The examples of docs/explanation are run."""

from docs.examples import test_a_page_shows_what_happens

__all__ = ["test_a_page_shows_what_happens"]
