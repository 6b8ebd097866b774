"""The Python of this process, for processes that it starts."""

import sys


def python(code: str) -> tuple[str, ...]:
    """Return the command that runs some code; it does not search the working folder for modules."""
    return (sys.executable, "-c", f"import sys; sys.path[:] = filter(None, sys.path); {code}")
