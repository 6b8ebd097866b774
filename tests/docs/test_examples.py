"""The examples of the documents are run; some folders have a file of their own beside this one."""

from docs.examples import test_a_page_shows_what_happens

__all__ = ["test_a_page_shows_what_happens"]
